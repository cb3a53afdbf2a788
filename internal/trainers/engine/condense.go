package engine

import (
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/moments"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// If the loss depends on the rows of a pattern of k observed cells only through their number, mean
// and covariances, k + 1 rows with the same moments replace them (moments.Representatives).

const (
	// leastCondensed is the minimum number of rows to condense, if that saves at least half of
	// them.
	leastCondensed = 1000
	// togetherCondensed is the number of rows multiplied at a time.
	togetherCondensed = 512
)

// Condensed caches condensed rows and sums over pairs of columns of one table, for all steps and
// all engines that share it.
type Condensed struct {
	mu    sync.Mutex
	made  map[rowsKey]*condensed
	pairs *data.Pairs
	of    *data.Table // the table of pairs
}

// NewCondensed returns an empty cache.
func NewCondensed() *Condensed { return &Condensed{made: map[rowsKey]*condensed{}} }

// PairSums returns the pair sums of the problem's table, cached in Condensed.
func (p Problem) PairSums() *data.Pairs {
	c := p.Condensed
	if c == nil {
		return p.Table.PairSums()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != p.Table {
		c.pairs, c.of = p.Table.PairSums(), p.Table
	}
	return c.pairs
}

// rowsKey identifies an unchanging slice of rows and the kind of their moments.
type rowsKey struct {
	first *int
	n     int
	by    momentsKind
}

// momentsKind is the kind of moments through which a loss depends on the rows.
type momentsKind int

const (
	noMoments       momentsKind = iota // the rows themselves
	patternMoments                     // by pattern of missing cells
	weightedMoments                    // by coordinate, weighted (condense_weighted.go)
)

// condensed holds representative rows or weighted moments.
type condensed struct {
	table    *data.Table
	rows     []int // all rows of table
	counts   []float64
	weighted *losses.WeightedMoments // replaces rows if not nil
}

// Condense replaces rows, which must not change later, by fewer rows in Gradient, Moments and Step.
// Results agree to rounding. It does nothing unless the loss depends on the rows through moments
// and at least half of the rows are saved. It uses Counts. Engines with the same Condensed share
// the result. If rows are a union of condensed parts, it reads the replacements of parts.
func (e *Engine) Condense(rows []int, parts ...[]int) {
	if len(rows) < leastCondensed || len(e.workers) == 0 || e.moments == noMoments {
		return
	}
	c, key := e.Condensed, rowsKey{&rows[0], len(rows), e.moments}
	c.mu.Lock()
	_, done := c.made[key]
	c.mu.Unlock()
	if done {
		return
	}
	var made *condensed
	switch {
	case e.moments == weightedMoments:
		made = condenseWeighted(e.Problem, rows, e.Counts, len(e.workers))
	case len(parts) == 0:
		made = condense(e.Table, rows, e.Counts)
	default:
		number := 0
		for _, part := range parts {
			number += len(e.instead(part).rows)
		}
		all := roomFor(e.Table, number)
		for _, part := range parts {
			in := e.instead(part)
			for _, i := range in.rows {
				all.add(in.table.Observed[i*in.table.D:(i+1)*in.table.D], in.table.Values[i*in.table.D:(i+1)*in.table.D], countOf(in.counts, i))
			}
		}
		made = condense(all.table, all.rows, all.counts)
	}
	if made != nil && 2*len(made.rows) > len(rows) {
		made = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[key] = made
}

// forget frees the cache of rows.
func (c *Condensed) forget(rows []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.made, func(k rowsKey, _ *condensed) bool { return len(rows) > 0 && k.first == &rows[0] && k.n == len(rows) })
}

// momentsOf returns the moments through which the loss depends on the rows: a normal model's score
// is linear in the row and its classical objective quadratic; an objective that weights coordinates
// has weighted moments.
func momentsOf(p Problem, e estimator.Estimator) momentsKind {
	_, err := source.NormalModel(p.Model, "it")
	if err != nil || p.Missingness != nil || e.Draws() {
		return noMoments
	}
	needs, complete := e.Loss.Needs(), e.NeedsCompleteRows()
	if classical := p.Objective == losses.Classical; classical && !p.Domain.Bounded() && (needs.Moments || needs.Normal || complete) {
		return patternMoments
	}
	_, weighted := p.Objective.(losses.RowWeighted)
	asTheyAre := e.Loss == losses.Complete
	if weighted && asTheyAre && (complete || e.Source.Name == source.Zeros.Name) {
		return weightedMoments
	}
	return noMoments
}

func (e *Engine) instead(rows []int) condensed {
	if len(rows) >= leastCondensed && e.moments != noMoments {
		e.Condensed.mu.Lock()
		defer e.Condensed.mu.Unlock()
		if c := e.Condensed.made[rowsKey{&rows[0], len(rows), e.moments}]; c != nil {
			return *c
		}
	}
	return condensed{table: e.Table, rows: rows, counts: e.Counts}
}

// CompleteMoments returns the mean (d) and the covariances (d, d), divisor Σ counts, of rows of t;
// nil counts are 1. ok is false if a row has a missing cell.
func CompleteMoments(t *data.Table, rows []int, counts []float64) (mean, cov []float64, ok bool) {
	sum, mean := 0.0, make([]float64, t.D)
	for _, i := range rows {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			return nil, nil, false
		}
		n := countOf(counts, i)
		sum += n
		floats.AddScaled(mean, n, t.Values[i*t.D:(i+1)*t.D])
	}
	if sum == 0 {
		return nil, nil, false
	}
	floats.Scale(1/sum, mean)
	columns := make([]int, t.D)
	for j := range columns {
		columns[j] = j
	}
	upper := covariances(t, rows, columns, mean, sum, counts)
	for j := range t.D {
		for k := range t.D {
			cov = append(cov, upper.At(j, k))
		}
	}
	return mean, cov, true
}

// condense returns rows with the same moments, pattern by pattern in the order of first rows.
func condense(t *data.Table, rows []int, counts []float64) *condensed {
	groups, number := t.Patterns(rows), 0
	for _, group := range groups {
		number += min(len(group), len(observedPlaces(t, group[0]))+1)
	}
	out := roomFor(t, number)
	for _, group := range groups {
		places := observedPlaces(t, group[0])
		if !out.condense(t, group, places, counts) {
			for _, i := range group {
				out.add(t.Observed[i*t.D:(i+1)*t.D], t.Values[i*t.D:(i+1)*t.D], countOf(counts, i))
			}
		}
	}
	return out
}

// roomFor returns an empty table with capacity for a number of rows.
func roomFor(t *data.Table, number int) *condensed {
	return &condensed{
		table: &data.Table{Names: t.Names, D: t.D, Values: make([]float64, 0, number*t.D), Observed: make([]bool, 0, number*t.D)},
		rows:  make([]int, 0, number), counts: make([]float64, 0, number),
	}
}

func observedPlaces(t *data.Table, row int) (places []int) {
	for j, seen := range t.Observed[row*t.D : (row+1)*t.D] {
		if seen {
			places = append(places, j)
		}
	}
	return places
}

func countOf(counts []float64, i int) float64 {
	if counts == nil {
		return 1
	}
	return counts[i]
}

func (c *condensed) add(observed []bool, values []float64, count float64) {
	t := c.table
	t.Observed, t.Values = append(t.Observed, observed...), append(t.Values, values...)
	c.rows, c.counts = append(c.rows, t.N), append(c.counts, count)
	t.N++
}

// condense appends rows with the moments of a group whose observed cells are at places. ok is false
// if that saves nothing.
func (c *condensed) condense(t *data.Table, group, places []int, counts []float64) (ok bool) {
	k := len(places)
	if len(group) <= k+1 {
		return false
	}
	sum, mean := 0.0, make([]float64, k)
	for _, i := range group {
		n := countOf(counts, i)
		sum += n
		for a, j := range places {
			mean[a] += n * t.Values[i*t.D+j]
		}
	}
	for a := range mean {
		mean[a] /= sum
	}
	observed, values := t.Observed[group[0]*t.D:(group[0]+1)*t.D], make([]float64, t.D)
	if k == 0 {
		c.add(observed, values, sum)
		return true
	}
	rows := moments.Representatives(mean, covariances(t, group, places, mean, sum, counts))
	n, _ := rows.Dims()
	for i := range n {
		for a, j := range places {
			values[j] = rows.At(i, a)
		}
		c.add(observed, values, sum/float64(n))
	}
	return true
}

// covariances returns the covariances of a group's observed cells, divisor sum.
func covariances(t *data.Table, group, places []int, mean []float64, sum float64, counts []float64) *mat.SymDense {
	k := len(places)
	c, part := mat.NewSymDense(k, nil), make([]float64, togetherCondensed*k)
	for from := 0; from < len(group); from += togetherCondensed {
		some := group[from:min(from+togetherCondensed, len(group))]
		for r, i := range some {
			root := math.Sqrt(countOf(counts, i))
			for a, j := range places {
				part[r*k+a] = root * (t.Values[i*t.D+j] - mean[a])
			}
		}
		blas64.Syrk(blas.Trans, 1/sum, blas64.General{Rows: len(some), Cols: k, Stride: k, Data: part}, 1, c.RawSymmetric())
	}
	return c
}
