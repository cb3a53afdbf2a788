package power

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/internal/stream"
)

// Needed is how many rows the wanted sensitivity takes, with an interval: 0 stands for
// "the fewest rows that were tried, or fewer", +Inf for "more than were tried".
type Needed struct{ Rows, Low, High float64 }

// resamples are how often the tables of each size are drawn with replacement for the interval.
const resamples = 1000

// needed reads the wanted sensitivity off a curve that does not fall, fitted to the mean
// sensitivity of each size and linear in log n between them. The interval is of percentiles
// over curves of tables drawn again with replacement, size by size.
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

// rising is the weighted least-squares fit to y that does not fall, by pooling neighbours
// that do (Barlow, Bartholomew, Bremner and Brunk 1972).
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

// crossing is where the curve through (log rows, y), y not falling, first reaches a height:
// 0 where it begins there, +Inf where it never does.
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
