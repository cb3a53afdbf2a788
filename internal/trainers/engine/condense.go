package engine

import (
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

const (
	// Minimum number of rows to condense, if half of them are saved.
	leastCondensed = 1000
	// Rows multiplied at a time.
	togetherCondensed = 512
)

// Condensed caches condensed rows and pair sums of one table for all engines that share it.
type Condensed struct {
	mu    sync.Mutex
	made  map[rowsKey]*condensed
	pairs *data.Pairs
	of    *data.Table // the table of pairs
}

type rowsKey struct {
	first *int
	n     int
}

type condensed struct {
	table  *data.Table
	rows   []int
	counts []float64 // nil: all 1
}

func NewCondensed() *Condensed { return &Condensed{made: map[rowsKey]*condensed{}} }

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

// Condense replaces rows, which must not change later, in Gradient, Moments and Step: k + 1 rows
// with the same moments replace the rows of a pattern of k observed cells
// (moments.Representatives). It does nothing unless the loss depends on a pattern's rows through
// their number, mean and covariances, and half of the rows are saved.
func (e *Engine) Condense(rows []int) {
	if len(rows) < leastCondensed || len(e.workers) == 0 || !e.condenses {
		return
	}
	c, key := e.Condensed, rowsKey{&rows[0], len(rows)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, done := c.made[key]; done {
		return
	}
	made := condense(e.Table, rows, e.Counts)
	if 2*len(made.rows) > len(rows) {
		made = nil
	}
	c.made[key] = made
}

// A normal model's score is linear in the row, and its classical objective quadratic.
func byMoments(p Problem, e estimator.Estimator) bool {
	_, err := source.NormalModel(p.Model, "it")
	classical := p.Objective == losses.Classical
	needs := e.Loss.Needs()
	return err == nil && classical && p.Missingness == nil && !e.Draws() && !p.Domain.Bounded() && (needs.Moments || needs.Normal || e.NeedsCompleteRows())
}

func (e *Engine) instead(rows []int) condensed {
	if len(rows) >= leastCondensed && e.condenses {
		e.Condensed.mu.Lock()
		defer e.Condensed.mu.Unlock()
		if c := e.Condensed.made[rowsKey{&rows[0], len(rows)}]; c != nil {
			return *c
		}
	}
	return condensed{table: e.Table, rows: rows, counts: e.Counts}
}

func condense(t *data.Table, rows []int, counts []float64) *condensed {
	out := &condensed{table: &data.Table{Names: t.Names, D: t.D}}
	add := func(observed []bool, values []float64, count float64) {
		to := out.table
		to.Observed, to.Values = append(to.Observed, observed...), append(to.Values, values...)
		out.rows, out.counts = append(out.rows, to.N), append(out.counts, count)
		to.N++
	}
	for _, group := range t.Patterns(rows) {
		observed := t.Observed[group[0]*t.D : (group[0]+1)*t.D]
		var places []int
		for j, seen := range observed {
			if seen {
				places = append(places, j)
			}
		}
		in := condensed{t, group, counts}
		if len(group) <= len(places)+1 || len(places) == 0 {
			for _, i := range group {
				add(observed, t.Values[i*t.D:(i+1)*t.D], in.count(i))
			}
			continue
		}
		values := make([]float64, t.D)
		sum, mean, cov := patternMoments(in, places)
		made := moments.Representatives(mean, cov)
		n, _ := made.Dims()
		for i := range n {
			for a, j := range places {
				values[j] = made.At(i, a)
			}
			add(observed, values, sum/float64(n))
		}
	}
	return out
}

func (c condensed) count(i int) float64 {
	if c.counts == nil {
		return 1
	}
	return c.counts[i]
}

// patternMoments returns number, mean and covariances of rows at observed places.
func patternMoments(in condensed, places []int) (sum float64, mean []float64, cov *mat.SymDense) {
	t, k := in.table, len(places)
	mean = make([]float64, k)
	for _, i := range in.rows {
		n := in.count(i)
		sum += n
		for a, j := range places {
			mean[a] += n * t.Values[i*t.D+j]
		}
	}
	for a := range mean {
		mean[a] /= sum
	}
	cov = mat.NewSymDense(k, nil)
	part := make([]float64, togetherCondensed*k)
	for some := range slices.Chunk(in.rows, togetherCondensed) {
		for r, i := range some {
			for a, j := range places {
				part[r*k+a] = t.Values[i*t.D+j] - mean[a]
			}
			floats.Scale(math.Sqrt(in.count(i)), part[r*k:(r+1)*k])
		}
		blas64.Syrk(blas.Trans, 1/sum, blas64.General{Rows: len(some), Cols: k, Stride: k, Data: part}, 1, cov.RawSymmetric())
	}
	return sum, mean, cov
}
