package fitted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/internal/data/mixture"
	"missingscore/internal/stream"
)

// Check compares rows drawn from a model with a table, in the table's units. Missing cells are
// drawn from the model's conditional if it has a density (docs/theory/checks.md#drawn-rows).
type Check struct {
	Rows     int             `json:"rows"` // of the table
	Drawn    int             `json:"drawn"`
	Columns  []CheckedColumn `json:"columns"`            // of numbers
	Pairs    []CheckedPair   `json:"pairs,omitempty"`    // at most checkedPairs
	Modes    []TableDrawn    `json:"modes,omitempty"`    // component shares of a mixture of the table
	Distance *EnergyDistance `json:"distance,omitempty"` // nil without numeric columns, or for another sample
	Off      []string        `json:"off"`                // messages on large differences
	Sample   []float64       `json:"-"`                  // the drawn rows (Drawn, d)
}

// TableDrawn is a statistic of the table and of the drawn rows.
type TableDrawn struct {
	Table float64 `json:"table"`
	Drawn float64 `json:"drawn"`
}

// CheckedColumn has the mean, the standard deviation and the 5, 25, 50, 75 and 95 % quantiles of a
// column.
type CheckedColumn struct {
	Name      string        `json:"name"`
	Mean      TableDrawn    `json:"mean"`
	SD        TableDrawn    `json:"sd"`
	Quantiles [5]TableDrawn `json:"quantiles"`
}

func (k CheckedColumn) unit() float64 { return max(k.SD.Table, math.SmallestNonzeroFloat64) }

// CheckedPair is the correlation of two columns of numbers.
type CheckedPair struct {
	A           int        `json:"a"` // of Columns, from 0
	B           int        `json:"b"`
	Correlation TableDrawn `json:"correlation"`
}

// EnergyDistance is 2 E|X−Y| − E|X−X'| − E|Y−Y'| of standardised rows of the table X and drawn rows
// Y.
type EnergyDistance struct {
	Drawn  float64 `json:"drawn"`
	Chance float64 `json:"chance"` // 99 % quantile under the null, by 400 permutations
	Normal float64 `json:"normal"` // distance of normal rows with the table's means and covariances
}

// A statistic is off by more than errors standard errors plus room. Means are in standard
// deviations, variances in their squares.
const (
	statisticErrors = 2.
	levelErrors     = 4. // of statistics in the rows of one level
	statisticRoom   = 0.1
	againRoom       = 0.15 // of Again, so that draws of a model that passed pass again
	checkedPairs    = 50   // columns of a table with correlations
	distanceRows    = 400  // of each sample
	permutations    = 400
	distanceRoom    = 0.005 // in units of 2 E|X−Y|
)

// leastAgain is the minimum sample size that Again judges.
const leastAgain = 100

var checkedQuantiles = [5]float64{0.05, 0.25, 0.5, 0.75, 0.95}

type judge struct {
	off          *[]string
	table, drawn int // rows
	errors, room float64
	where        string
}

// differ reports v whose values differ by apart in units where one row has this variance.
func (j judge) differ(name string, v TableDrawn, apart, variance float64) {
	se := math.Sqrt(variance * (1/float64(j.table) + 1/float64(j.drawn)))
	if j.table > 1 && j.drawn > 1 && !(math.Abs(apart) <= j.errors*se+j.room) {
		*j.off = append(*j.off, fmt.Sprintf("%s%s is %.3g, drawn %.3g", name, j.where, v.Table, v.Drawn))
	}
}

func (j judge) share(name string, v TableDrawn) {
	j.differ(name, v, v.Drawn-v.Table, max(v.Table*(1-v.Table), v.Drawn*(1-v.Drawn)))
}

// CheckRows compares drawn rows (m, d) with completed rows (n, d) of t, and component shares if
// mixture is not nil.
func CheckRows(t *data.Table, completed, drawn []float64, mixture *mixture.Mixture, seed uint64) *Check {
	d := t.D
	c := &Check{Rows: len(completed) / d, Drawn: len(drawn) / d, Off: []string{}, Sample: drawn}
	var numbers []int
	for j, name := range t.Names {
		if data.Coded(t, j) != nil {
			continue
		}
		x, k := slices.Sorted(slices.Values(columnOf(completed, j, d))), CheckedColumn{Name: name}
		k.Mean.Table, k.SD.Table = stat.PopMeanStdDev(x, nil)
		for i, p := range checkedQuantiles {
			k.Quantiles[i].Table = stat.Quantile(p, stat.Empirical, x, nil)
		}
		for a := 0; a < len(numbers) && t.D <= checkedPairs; a++ {
			r := correlation(columnOf(completed, j, d), columnOf(completed, numbers[a], d))
			c.Pairs = append(c.Pairs, CheckedPair{A: len(numbers), B: a, Correlation: TableDrawn{Table: r}})
		}
		numbers, c.Columns = append(numbers, j), append(c.Columns, k)
	}
	j := judge{&c.Off, c.Rows, c.Drawn, statisticErrors, statisticRoom, ""}
	c.numbers(numbers, drawn, d, j)
	if mixture != nil && len(mixture.Weights) > 1 {
		table, own := modes(mixture, completed), modes(mixture, drawn)
		for k := range table {
			c.Modes = append(c.Modes, TableDrawn{table[k], own[k]})
			j.share(fmt.Sprintf("the share of mode %d", k+1), c.Modes[k])
		}
	}
	c.levels(t, numbers, completed, drawn, j)
	c.distance(numbers, completed, drawn, d, stream.New(seed, stream.Sample, 4))
	return c
}

// Again compares another sample (m, d) with c; names are the names of all columns.
func (c *Check) Again(names []string, drawn []float64) *Check {
	again := &Check{Rows: c.Rows, Drawn: len(drawn) / len(names), Columns: slices.Clone(c.Columns), Pairs: slices.Clone(c.Pairs), Off: []string{}}
	var numbers []int
	for _, k := range c.Columns {
		numbers = append(numbers, slices.Index(names, k.Name))
	}
	again.numbers(numbers, drawn, len(names), judge{&again.Off, c.Rows, again.Drawn, statisticErrors, againRoom, ""})
	if again.Drawn < leastAgain {
		again.Off = []string{}
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

// correlation is 0 if a sample is constant.
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

func (c *Check) numbers(numbers []int, drawn []float64, d int, j judge) {
	for a := range c.Columns {
		k := &c.Columns[a]
		x := slices.Sorted(slices.Values(columnOf(drawn, numbers[a], d)))
		k.Mean.Drawn, k.SD.Drawn = stat.PopMeanStdDev(x, nil)
		ratio, fourth := math.Pow(k.SD.Drawn/k.unit(), 2), 0.0
		if ratio > 0 {
			fourth = ratio * ratio * (stat.ExKurtosis(x, nil) + 2)
		}
		j.differ("the mean of "+k.Name, k.Mean, (k.Mean.Drawn-k.Mean.Table)/k.unit(), max(1, ratio))
		j.differ("the standard deviation of "+k.Name, k.SD, ratio-1, fourth)
		for i, p := range checkedQuantiles {
			q := &k.Quantiles[i]
			q.Drawn = stat.Quantile(p, stat.Empirical, x, nil)
			up := stat.CDF(q.Table, stat.Empirical, x, nil)
			j.share(fmt.Sprintf("the share of %s up to %.3g", k.Name, q.Table), TableDrawn{p, up})
		}
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		a, b := c.Columns[p.A], c.Columns[p.B]
		x, y := columnOf(drawn, numbers[p.A], d), columnOf(drawn, numbers[p.B], d)
		p.Correlation.Drawn = correlation(x, y)
		for i := range x {
			x[i] = (x[i] - a.Mean.Drawn) / a.SD.Drawn * (y[i] - b.Mean.Drawn) / b.SD.Drawn
		}
		if variance := stat.PopVariance(x, nil); a.SD.Drawn > 0 && b.SD.Drawn > 0 { // constants are off already
			j.differ(fmt.Sprintf("the correlation of %s and %s", b.Name, a.Name), p.Correlation, p.Correlation.Drawn-p.Correlation.Table, variance)
		}
	}
}

// modes returns the mean posterior probability of each component.
func modes(m *mixture.Mixture, rows []float64) []float64 {
	given := m.Given(slices.Repeat([]bool{true}, m.Dim()))
	part, mean := make([]float64, len(m.Weights)), make([]float64, len(m.Weights))
	for row := range slices.Chunk(rows, m.Dim()) {
		given.Posterior(row, part)
		floats.AddScaled(mean, float64(m.Dim())/float64(len(rows)), part)
	}
	return mean
}

// levels judges shares of levels, and within each level the means of numbers and the shares of
// other levels.
func (c *Check) levels(t *data.Table, numbers []int, completed, drawn []float64, j judge) {
	shares := func(from int, completed, drawn []float64, j judge) {
		for col := from; col < t.D; col++ {
			names := data.Coded(t, col)
			for level, name := range names {
				share := func(rows []float64) float64 { return float64(len(with(rows, col, level, t.D))) / float64(len(rows)) }
				if level > 0 || len(names) > 2 { // the share of the second level is redundant
					j.share(fmt.Sprintf("the share of %s = %s", t.Names[col], name), TableDrawn{share(completed), share(drawn)})
				}
			}
		}
	}
	shares(0, completed, drawn, j)
	for col := range t.D {
		for level, name := range data.Coded(t, col) {
			table, own := with(completed, col, level, t.D), with(drawn, col, level, t.D)
			in := judge{j.off, len(table) / t.D, len(own) / t.D, levelErrors, j.room, fmt.Sprintf(" where %s = %s", t.Names[col], name)}
			shares(col+1, table, own, in) // earlier columns are compared in the other direction
			for a, k := range c.Columns {
				m, s := stat.PopMeanStdDev(columnOf(table, numbers[a], t.D), nil)
				other, spread := stat.PopMeanStdDev(columnOf(own, numbers[a], t.D), nil)
				in.differ("the mean of "+k.Name, TableDrawn{m, other}, (other-m)/k.unit(), math.Pow(max(s, spread)/k.unit(), 2))
			}
		}
	}
}

func with(rows []float64, j, level, d int) (of []float64) {
	for row := range slices.Chunk(rows, d) {
		if int(row[j]) == level {
			of = append(of, row...)
		}
	}
	return of
}

// distance sets the energy distance of the numeric columns and its permutation quantile.
func (c *Check) distance(numbers []int, completed, drawn []float64, d int, rng *rand.Rand) {
	rows := func(from []float64) (z [][]float64) {
		order := rng.Perm(len(from) / d)
		for _, i := range order[:min(len(order), distanceRows)] {
			var row []float64
			for a, j := range numbers {
				row = append(row, (from[i*d+j]-c.Columns[a].Mean.Table)/c.Columns[a].unit())
			}
			z = append(z, row)
		}
		return z
	}
	x, y := rows(completed), rows(drawn)
	if len(numbers) == 0 || len(x) < 2 || len(y) < 2 {
		return
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, mat.NewDense(len(x), len(numbers), slices.Concat(x...)), nil)
	middle := make([]float64, len(numbers))
	for _, row := range x {
		floats.AddScaled(middle, 1/float64(len(x)), row)
	}
	law, ok := distmv.NewNormal(middle, &covariance, rng)
	if !ok {
		return
	}
	normal := make([][]float64, len(y))
	for i := range normal {
		normal[i] = law.Rand(nil)
	}
	e := &EnergyDistance{}
	e.Normal, _, _ = energyDistance(x, normal, 0, nil)
	var chance []float64
	var across float64
	e.Drawn, across, chance = energyDistance(x, y, permutations, rng)
	slices.Sort(chance)
	e.Chance = stat.Quantile(0.99, stat.Empirical, chance, nil)
	if c.Distance = e; e.Drawn > 2*e.Chance+distanceRoom*across && !(e.Drawn < e.Normal) {
		c.Off = append(c.Off, fmt.Sprintf("the energy distance of drawn rows is %.3g, of normal rows %.3g", e.Drawn, e.Normal))
	}
}

// energyDistance returns the energy distance, its term 2 E|X−Y|, and the distances of permuted
// samples.
func energyDistance(x, y [][]float64, permutations int, rng *rand.Rand) (distance, across float64, permuted []float64) {
	both, n, m := slices.Concat(x, y), float64(len(x)), float64(len(y))
	apart, sums := mat.NewSymDense(len(both), nil), make([]float64, len(both))
	for i := range both {
		for j := range i {
			v := floats.Distance(both[i], both[j], 2)
			apart.SetSym(i, j, v)
			sums[i], sums[j] = sums[i]+v, sums[j]+v
		}
	}
	first := mat.NewVecDense(len(both), slices.Concat(slices.Repeat([]float64{1}, len(x)), make([]float64, len(y)))) // 1 for rows of the first sample
	for k := range permutations + 1 {
		within := mat.Inner(first, apart, first)
		between := floats.Dot(first.RawVector().Data, sums) - within
		v := 2*between/(n*m) - within/(n*(n-1)) - (floats.Sum(sums)-within-2*between)/(m*(m-1))
		if k == 0 {
			distance, across = v, 2*between/(n*m)
		} else {
			permuted = append(permuted, v)
		}
		if rng != nil {
			of := first.RawVector().Data
			rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		}
	}
	return distance, across, permuted
}
