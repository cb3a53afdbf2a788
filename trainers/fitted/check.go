package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/mcmc"
)

// Check compares rows drawn from a model with the rows of a table, in the table's units. Missing
// cells of the table are drawn from the model's conditional (if it has a density), so the
// comparison holds under MAR (docs/theory/checks.md#drawn-rows).
type Check struct {
	Rows     int             `json:"rows"` // of the table
	Drawn    int             `json:"drawn"`
	Columns  []CheckedColumn `json:"columns"`            // of numbers
	Pairs    []CheckedPair   `json:"pairs,omitempty"`    // at most checkedPairs
	Modes    []TableDrawn    `json:"modes,omitempty"`    // component shares of a mixture of the table
	Distance *EnergyDistance `json:"distance,omitempty"` // nil without numeric columns, or for another sample
	Off      []string        `json:"off"`                // messages on large differences
}

// TableDrawn is a statistic of the table and of the drawn rows.
type TableDrawn struct {
	Table float64 `json:"table"`
	Drawn float64 `json:"drawn"`
}

// CheckedColumn has the mean, the standard deviation and the 5, 25, 50, 75 and 95 % quantiles of a column.
type CheckedColumn struct {
	Name      string        `json:"name"`
	Mean      TableDrawn    `json:"mean"`
	SD        TableDrawn    `json:"sd"`
	Quantiles [5]TableDrawn `json:"quantiles"`
}

// CheckedPair is the correlation of two columns of numbers.
type CheckedPair struct {
	A           int        `json:"a"` // of Columns, from 0
	B           int        `json:"b"`
	Correlation TableDrawn `json:"correlation"`
}

// EnergyDistance is 2 E|X−Y| − E|X−X'| − E|Y−Y'| of standardised rows of the table X and drawn rows Y.
type EnergyDistance struct {
	Drawn  float64 `json:"drawn"`
	Chance float64 `json:"chance"` // 99 % quantile under the null, by 200 permutations
	Normal float64 `json:"normal"` // distance of normal rows with the table's means and covariances
	room   float64 // tolerance
}

// A feature is off if it differs by more than checkedErrors standard errors and by more than
// checkedRoom. Features are means of standardised numbers, of squares and products, and shares
// below quantiles, of levels and of modes.
const (
	checkedErrors = 4.
	checkedRoom   = 0.1
	checkedPairs  = 50  // columns
	distanceRows  = 400 // of each sample
	permutations  = 200
	distanceRoom  = 0.005 // in units of 2 E|X−Y|
)

// leastAgain is the minimum sample size that Again judges.
const leastAgain = 100

// CheckedRows is the sample size of a Check with independent draws.
const CheckedRows = 2000

var checkedQuantiles = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// feature is a statistic of a row whose means are compared.
type feature struct {
	name     string
	of       func(row []float64) float64
	expected float64                    // mean over the table's rows
	show     func(mean float64) float64 // converts a mean to the units of a message
}

// CheckRows compares drawn rows (m, d) with completed rows (n, d) of t. It also compares levels,
// and component shares if mixture is not nil.
func CheckRows(t *data.Table, completed, drawn []float64, mixture *model.Mixed, seed uint64) *Check {
	d := t.D
	c := &Check{Rows: len(completed) / d, Drawn: len(drawn) / d, Off: []string{}}
	var numbers []int
	for j, name := range t.Names {
		if data.Coded(t, j) != nil {
			continue
		}
		numbers = append(numbers, j)
		x := slices.Sorted(slices.Values(columnOf(completed, j, d)))
		k := CheckedColumn{Name: name}
		k.Mean.Table, k.SD.Table = stat.PopMeanStdDev(x, nil)
		for i, p := range checkedQuantiles {
			k.Quantiles[i].Table = stat.Quantile(p, stat.Empirical, x, nil)
		}
		c.Columns = append(c.Columns, k)
	}
	if len(numbers) <= checkedPairs {
		for a := range numbers {
			for b := range a {
				r := correlation(columnOf(completed, numbers[a], d), columnOf(completed, numbers[b], d))
				c.Pairs = append(c.Pairs, CheckedPair{A: a, B: b, Correlation: TableDrawn{Table: r}})
			}
		}
	}
	features := c.features(numbers, drawn, d)
	if mixture != nil && len(mixture.Weights) > 1 {
		features = append(features, c.modes(mixture, completed)...)
	}
	means := compare(&c.Off, features, completed, drawn, d, "")
	if len(c.Modes) > 0 {
		for k, mean := range means[len(means)-len(c.Modes):] {
			c.Modes[k].Drawn = mean
		}
	}
	c.levels(t, numbers, completed, drawn)
	if len(numbers) > 0 {
		c.distance(numbers, completed, drawn, d, stream.New(seed, stream.Sample, 4))
	}
	return c
}

// Again compares another sample (m, d) with the statistics of the table in c; names are the names
// of all columns.
func (c *Check) Again(names []string, drawn []float64) *Check {
	again := &Check{Rows: c.Rows, Drawn: len(drawn) / len(names), Columns: slices.Clone(c.Columns), Pairs: slices.Clone(c.Pairs), Off: []string{}}
	var numbers []int
	for _, k := range c.Columns {
		numbers = append(numbers, slices.Index(names, k.Name))
	}
	features := again.features(numbers, drawn, len(names))
	if again.Drawn >= leastAgain {
		compare(&again.Off, features, nil, drawn, len(names), "")
	}
	return again
}

// check refuses files that Encode cannot have written.
func (c *Check) check(names []string) error {
	if c == nil {
		return nil
	}
	for _, k := range c.Columns {
		if !slices.Contains(names, k.Name) {
			return fmt.Errorf("check: the model has no column %q", k.Name)
		}
	}
	for _, p := range c.Pairs {
		if p.A < 0 || p.B < 0 || p.A >= len(c.Columns) || p.B >= len(c.Columns) {
			return fmt.Errorf("check: it has a pair of columns %d and %d, but there are %d columns", p.A, p.B, len(c.Columns))
		}
	}
	return nil
}

// correlation returns 0 if a sample is constant.
func correlation(x, y []float64) float64 {
	r := stat.Correlation(x, y, nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

func columnOf(rows []float64, j, d int) (x []float64) {
	for at := j; at < len(rows); at += d {
		x = append(x, rows[at])
	}
	return x
}

// features sets the drawn statistics of numeric columns and returns their features.
func (c *Check) features(numbers []int, drawn []float64, d int) (features []feature) {
	same := func(v float64) float64 { return v }
	var z []func(row []float64) float64 // centred at the drawn mean
	for a := range c.Columns {
		k, j := &c.Columns[a], numbers[a]
		x := slices.Sorted(slices.Values(columnOf(drawn, j, d)))
		k.Mean.Drawn, k.SD.Drawn = stat.PopMeanStdDev(x, nil)
		sd := max(k.SD.Table, math.SmallestNonzeroFloat64)
		z = append(z, func(row []float64) float64 { return (row[j] - k.Mean.Drawn) / sd })
		features = append(features, feature{"the mean of " + k.Name, func(row []float64) float64 { return (row[j] - k.Mean.Table) / sd }, 0,
			func(v float64) float64 { return k.Mean.Table + sd*v }})
		features = append(features, feature{"the standard deviation of " + k.Name, func(row []float64) float64 { return z[a](row) * z[a](row) }, 1,
			func(v float64) float64 { return sd * math.Sqrt(v) }})
		for i, p := range checkedQuantiles {
			k.Quantiles[i].Drawn = stat.Quantile(p, stat.Empirical, x, nil)
			at := k.Quantiles[i].Table
			features = append(features, feature{fmt.Sprintf("the share of %s up to %.3g", k.Name, at), func(row []float64) float64 {
				if row[j] <= at {
					return 1
				}
				return 0
			}, p, same})
		}
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		p.Correlation.Drawn = correlation(columnOf(drawn, numbers[p.A], d), columnOf(drawn, numbers[p.B], d))
		features = append(features, feature{fmt.Sprintf("the covariance (standardised) of %s and %s", c.Columns[p.B].Name, c.Columns[p.A].Name),
			func(row []float64) float64 { return z[p.A](row) * z[p.B](row) }, p.Correlation.Table, same})
	}
	return features
}

// modes returns one feature per component of a mixture: the component's posterior probability given
// the row.
func (c *Check) modes(m *model.Mixed, completed []float64) (features []feature) {
	given := m.Given(slices.Repeat([]bool{true}, m.Dim()))
	part := make([]float64, len(m.Weights))
	for k := range m.Weights {
		of := func(row []float64) float64 { given.Posterior(row, part); return part[k] }
		mean := 0.0
		for row := range slices.Chunk(completed, m.Dim()) {
			mean += of(row) / float64(c.Rows)
		}
		c.Modes = append(c.Modes, TableDrawn{Table: mean})
		features = append(features, feature{fmt.Sprintf("the share of mode %d", k+1), of, mean, func(v float64) float64 { return v }})
	}
	return features
}

// levels compares the shares of levels, and within each level the means of numbers and shares of
// other levels.
func (c *Check) levels(t *data.Table, numbers []int, completed, drawn []float64) {
	share := func(j, level int) feature {
		return feature{fmt.Sprintf("the share of %s = %s", t.Names[j], data.Coded(t, j)[level]), func(row []float64) float64 {
			if int(row[j]) == level {
				return 1
			}
			return 0
		}, math.NaN(), func(v float64) float64 { return v }}
	}
	var all []feature
	first := make([]int, t.D+1) // first level of each column
	for j := range t.D {
		names := data.Coded(t, j)
		for level := range names {
			if level > 0 || len(names) > 2 { // the share of the second level is redundant
				all = append(all, share(j, level))
			}
		}
		first[j+1] = len(all)
	}
	compare(&c.Off, all, completed, drawn, t.D, "")
	var means []feature
	for a, k := range c.Columns {
		j, sd := numbers[a], max(k.SD.Table, math.SmallestNonzeroFloat64)
		means = append(means, feature{"the mean of " + k.Name, func(row []float64) float64 { return (row[j] - k.Mean.Table) / sd }, math.NaN(),
			func(v float64) float64 { return k.Mean.Table + sd*v }})
	}
	for j := range t.D {
		for level, name := range data.Coded(t, j) {
			with := func(rows []float64) (of []float64) {
				for row := range slices.Chunk(rows, t.D) {
					if int(row[j]) == level {
						of = append(of, row...)
					}
				}
				return of
			}
			others := slices.Concat(all[first[j+1]:], means) // earlier columns are compared in the other direction
			compare(&c.Off, others, with(completed), with(drawn), t.D, fmt.Sprintf(" where %s = %s", t.Names[j], name))
		}
	}
}

// compare reports the features that are off and returns the drawn means. Without completed rows it
// uses the expected means.
func compare(off *[]string, features []feature, completed, drawn []float64, d int, where string) (means []float64) {
	evaluate := func(f feature, rows []float64) (mean, variance, n float64) {
		var x []float64
		for row := range slices.Chunk(rows, d) {
			x = append(x, f.of(row))
		}
		mean, variance = stat.PopMeanVariance(x, nil)
		return mean, variance, float64(len(x))
	}
	for _, f := range features {
		a, av, an := evaluate(f, drawn)
		b, bv, bn := evaluate(f, completed)
		if completed == nil {
			b, bv, bn = f.expected, av, an
		}
		means = append(means, a)
		if !math.IsNaN(f.expected) && where == "" { // centred at the table's mean
			b = f.expected
		}
		if an < 2 || bn < 2 || math.Abs(a-b) <= checkedErrors*math.Sqrt(max(av, bv)*(1/an+1/bn))+checkedRoom {
			continue
		}
		*off = append(*off, fmt.Sprintf("%s%s is %.3g, drawn %.3g", f.name, where, f.show(b), f.show(a)))
	}
	return means
}

// distance sets the energy distance of the numeric columns and its permutation quantile.
func (c *Check) distance(numbers []int, completed, drawn []float64, d int, rng *rand.Rand) {
	k := len(numbers)
	rows := func(from []float64) (z [][]float64) {
		order := rng.Perm(len(from) / d)
		for _, i := range order[:min(len(order), distanceRows)] {
			row := make([]float64, k)
			for a, j := range numbers {
				row[a] = (from[i*d+j] - c.Columns[a].Mean.Table) / max(c.Columns[a].SD.Table, math.SmallestNonzeroFloat64)
			}
			z = append(z, row)
		}
		return z
	}
	x, y := rows(completed), rows(drawn)
	if len(x) < 2 || len(y) < 2 {
		return
	}
	flat := mat.NewDense(len(x), k, slices.Concat(x...))
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, flat, nil)
	middle := make([]float64, k)
	for a := range k {
		middle[a] = stat.Mean(mat.Col(nil, a, flat), nil)
	}
	law, ok := distmv.NewNormal(middle, &covariance, rng)
	if !ok {
		return
	}
	var normal [][]float64
	for range y {
		normal = append(normal, law.Rand(nil))
	}
	c.Distance = &EnergyDistance{}
	c.Distance.Normal, _ = energyDistance(x, normal, 0, nil)
	var chance []float64
	c.Distance.Drawn, chance = energyDistance(x, y, permutations, rng)
	slices.Sort(chance)
	c.Distance.Chance = stat.Quantile(0.99, stat.Empirical, chance, nil)
	across := 0.0
	for i, row := range x {
		across += floats.Distance(row, y[i%len(y)], 2) / float64(len(x))
	}
	c.Distance.room = distanceRoom * 2 * across
	if e := c.Distance; e.Drawn > 2*e.Chance+e.room && !(e.Drawn < e.Normal) {
		c.Off = append(c.Off, fmt.Sprintf("the energy distance of drawn rows is %.3g, of normal rows %.3g", e.Drawn, e.Normal))
	}
}

// energyDistance returns the energy distance of x and y, and of permuted samples.
func energyDistance(x, y [][]float64, permutations int, rng *rand.Rand) (distance float64, permuted []float64) {
	both := slices.Concat(x, y)
	n, total := len(x), len(both)
	apart := make([]float64, total*total)
	for i := range both {
		for j := range i {
			v := floats.Distance(both[i], both[j], 2)
			apart[i*total+j], apart[j*total+i] = v, v
		}
	}
	of := func(order []int) float64 {
		first := make([]float64, total) // 1 for rows of the first sample
		for _, i := range order[:n] {
			first[i] = 1
		}
		within, across, all := 0.0, 0.0, 0.0
		for i := range both {
			row := apart[i*total : (i+1)*total]
			near, sum := floats.Dot(row, first), floats.Sum(row)
			all += sum
			if first[i] == 1 {
				within += near
				across += sum - near
			}
		}
		m := float64(total - n)
		a := float64(n)
		return 2*across/(a*m) - within/(a*(a-1)) - (all-within-2*across)/(m*(m-1))
	}
	order := make([]int, total)
	for i := range order {
		order[i] = i
	}
	distance = of(order)
	for range permutations {
		permuted = append(permuted, of(rng.Perm(total)))
	}
	return distance, permuted
}

// ErrUnchecked means that the model's rows cannot be compared with a table.
var ErrUnchecked = errors.New("the model describes rows with added noise, not the rows of the table")

// CheckDraws draws the rows for a Check in the units after Transform: exactly if possible,
// otherwise along noise levels or by Monte Carlo from weighted draws of a mixture.
func CheckDraws(ctx context.Context, f *Model, mixture *model.Mixed, seed uint64) ([]float64, error) {
	if f.Noise != nil && f.Noise.Single() {
		return nil, ErrUnchecked
	}
	c, err := SampleConfig{N: CheckedRows, Seed: seed}.For(f)
	if err != nil {
		return nil, err
	}
	rng := stream.New(seed, stream.Sample, 5)
	var z []float64
	switch c.Sampler {
	case "exact":
		z, err = model.SampleRows(f.Model, c.N, f.support(), rng)
	case "hmc":
		own := model.NewMixed(len(mixture.Weights), make([]int, mixture.Dim()))
		if err := own.SetQuantities(mixture.Quantities()); err != nil {
			return nil, err
		}
		shift, inverse := make([]float64, len(f.Names)), make([]float64, len(f.Names))
		for j, v := range f.Scale.Deviation {
			shift[j], inverse[j] = -f.Scale.Mean[j]/v, 1/v
		}
		if err := own.Rescale(shift, inverse); err != nil {
			return nil, err
		}
		var r *Rows
		if r, err = rowsFrom(ctx, f.density(), f.support(), own, mostChains/2, mcmc.Options{Keep: 1}, 1, rng); err == nil {
			z = r.Values
		}
	default:
		c.N, c.Diffusion.Corrections = noiseRows, 10
		if c.Sampler == "sde" {
			c.Sampler, c.Diffusion.Corrections = "ode", 0
		}
		var r *Rows
		if r, err = rowSamplers[slices.Index(RowSamplers, c.Sampler)-1].draw(ctx, f, c); err == nil {
			z = r.Values
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range z {
		j := i % len(f.Names)
		z[i] = f.Scale.Mean[j] + f.Scale.Deviation[j]*z[i]
	}
	return z, nil
}
