package power

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Result summarises the study.
type Result struct {
	Config   Config
	Points   []Point
	Needed   Needed
	Warnings []string
}

// Point is one sample size.
type Point struct {
	Rows        int
	Tables      int // with a network
	Failed      int
	Unconverged int
	Means       [measures]Mean
}

// Mean is the mean of a measure over tables with a t interval, NaN if undefined.
type Mean struct{ Value, Low, High float64 }

// unfinishedShare is the largest share of networks that may not converge without a warning.
const unfinishedShare = 0.1

// Converged reports that at every size at least nine of ten networks converged.
func (r *Result) Converged() bool {
	for _, p := range r.Points {
		if float64(p.Unconverged) > unfinishedShare*float64(p.Tables) {
			return false
		}
	}
	return true
}

func summarise(bySize [][]Found, c Config) (*Result, error) {
	r := &Result{Config: c}
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	var sensitivities [][]float64
	for i, all := range bySize {
		p, reason := Point{Rows: c.Rows[i]}, ""
		var values [measures][]float64
		for _, f := range all {
			if f.Failure != "" {
				p.Failed++
				reason = cmp.Or(reason, f.Failure)
				continue
			}
			if p.Tables++; !f.Converged {
				p.Unconverged++
			}
			for m, v := range f.Measures {
				if !math.IsNaN(v) {
					values[m] = append(values[m], v)
				}
			}
		}
		if p.Tables == 0 {
			return nil, fmt.Errorf("none of %d tables of %d rows gave a network; the first failure: %s", len(all), p.Rows, reason)
		}
		if p.Failed > 0 {
			warn("%d of %d tables of %d rows gave no network and are left out; the first failure: %s", p.Failed, len(all), p.Rows, reason)
		}
		if float64(p.Unconverged) > unfinishedShare*float64(p.Tables) {
			warn("of %d tables of %d rows, the network of %d did not converge; it is used as it is", p.Tables, p.Rows, p.Unconverged)
		}
		for m, v := range values {
			p.Means[m] = meanOf(v, c.Level, m == correlation)
		}
		r.Points, sensitivities = append(r.Points, p), append(sensitivities, values[Sensitivity])
	}
	r.Needed = needed(c, sensitivities)
	return r, nil
}

// meanOf: the interval is clipped to [0, 1], or [−1, 1] if signed.
func meanOf(x []float64, level float64, signed bool) Mean {
	nan := math.NaN()
	if len(x) == 0 {
		return Mean{nan, nan, nan}
	}
	mean, sd := stat.MeanStdDev(x, nil)
	out := Mean{mean, nan, nan}
	if len(x) > 1 {
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) - 1)}.Quantile((1+level)/2) * stat.StdErr(sd, float64(len(x)))
		least := 0.0
		if signed {
			least = -1
		}
		out.Low, out.High = max(least, mean-half), min(1, mean+half)
	}
	return out
}

// Write writes power.csv: a line per sample size; missing values are empty.
func (r *Result) Write(w io.Writer) error {
	lines := [][]string{{"rows", "tables", "failed", "unconverged"}}
	for _, name := range Names {
		lines[0] = append(lines[0], name, name+"_low", name+"_high")
	}
	for _, p := range r.Points {
		line := []string{strconv.Itoa(p.Rows), strconv.Itoa(p.Tables), strconv.Itoa(p.Failed), strconv.Itoa(p.Unconverged)}
		for _, m := range p.Means {
			line = append(line, data.FormatNumber(m.Value), data.FormatNumber(m.Low), data.FormatNumber(m.High))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// Needed is the number of rows for the target sensitivity: 0 means at most the smallest size tried,
// +Inf more than the largest.
type Needed struct{ Rows, Low, High float64 }

// Bootstrap resamples of the tables of each size.
const resamples = 1000

// needed reads the target off a nondecreasing curve fitted to the mean sensitivities, linear in log
// n; the interval is by bootstrap of tables within sizes.
func needed(c Config, sensitivities [][]float64) Needed {
	at := func(pick func(size, table int) float64) float64 {
		means, weights := make([]float64, len(c.Rows)), make([]float64, len(c.Rows))
		for i, x := range sensitivities {
			for j := range x {
				means[i] += pick(i, j) / float64(len(x))
			}
			weights[i] = float64(len(x))
		}
		return crossing(c.Rows, rising(means, weights), c.Sensitivity)
	}
	out := Needed{Rows: at(func(i, j int) float64 { return sensitivities[i][j] })}
	rng := stream.New(c.Seed, stream.Replicate)
	again := make([]float64, resamples)
	for k := range again {
		again[k] = at(func(i, _ int) float64 { return sensitivities[i][rng.IntN(len(sensitivities[i]))] })
	}
	slices.Sort(again)
	tail := (1 - c.Level) / 2
	out.Low, out.High = stat.Quantile(tail, stat.Empirical, again, nil), stat.Quantile(1-tail, stat.Empirical, again, nil)
	return out
}

// rising is weighted isotonic least squares by pooling adjacent violators (Barlow, Bartholomew,
// Bremner and Brunk 1972).
func rising(y, weights []float64) []float64 {
	type block struct {
		mean, weight float64
		size         int
	}
	var blocks []block
	for i, v := range y {
		b := block{v, weights[i], 1}
		for n := len(blocks) - 1; n >= 0 && blocks[n].mean >= b.mean; n-- {
			last := blocks[n]
			all := last.weight + b.weight
			b = block{(last.mean*last.weight + b.mean*b.weight) / all, all, last.size + b.size}
			blocks = blocks[:n]
		}
		blocks = append(blocks, b)
	}
	var out []float64
	for _, b := range blocks {
		out = append(out, slices.Repeat([]float64{b.mean}, b.size)...)
	}
	return out
}

// crossing returns where the curve through (log rows, y) first reaches a height: 0 if at its start,
// +Inf if never.
func crossing(rows []int, y []float64, height float64) float64 {
	if y[0] >= height {
		return 0
	}
	for i := 1; i < len(y); i++ {
		if y[i] >= height {
			share := (height - y[i-1]) / (y[i] - y[i-1])
			low, high := math.Log(float64(rows[i-1])), math.Log(float64(rows[i]))
			return math.Exp(low + share*(high-low))
		}
	}
	return math.Inf(1)
}
