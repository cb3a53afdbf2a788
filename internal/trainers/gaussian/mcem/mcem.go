// Package mcem solves the complete-data equation of a normal distribution on a domain by Monte
// Carlo EM (docs/theory/truncated.md#eq-completed-form).
package mcem

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/trainers/source"
)

type Setting struct {
	Table   *data.Table
	Rows    []int          // of the table; fastest if sorted by pattern
	Domain  *domain.Domain // support; nil: all of R^d
	Weight  domain.Weight  // g on the domain
	Draws   int            // per row with missing cells, at least 2; 0: by the number of rows, see LeastDraws
	Seed    uint64
	Workers int            // 0 is 1; results do not depend on it
	Observe func(turn int) // called after each iteration of Root; may be nil
}

const (
	enoughRows = 20000
	mostDraws  = 100
	leastDraws = 20
	mostRows   = 100000
)

func (s Setting) draws() int {
	n := max(1, len(s.Rows))
	if s.Draws > 0 {
		return s.Draws
	}
	return max(2, min(leastDraws, mostRows/n), min(mostDraws, enoughRows/n))
}

func (s Setting) ByPattern() Setting {
	s.Rows = slices.Concat(s.Table.Patterns(s.Table.AllRows())...)
	return s
}

// Rows are completed rows. Table row i has the completed rows first[i] to first[i+1] − 1: r if it
// has missing cells, else one.
type Rows struct {
	d, workers  int
	first       []int
	x, g, slope []float64 // (completed rows, d)
}

const parts = 16

// Draw completes the rows from the conditionals of a normal distribution restricted to the domain.
// Each draw has its own random stream, so draws are continuous in the distribution. It fails with
// losses.ErrNotPositiveDefinite if the precision is not positive definite on a row's missing cells.
func (s Setting) Draw(m *model.Gaussian) (*Rows, error) {
	d, n := s.Table.D, len(s.Rows)
	c := &Rows{d: d, workers: max(1, s.Workers), first: make([]int, n+1)}
	for i, row := range s.Rows {
		c.first[i+1] = c.first[i] + 1
		if slices.Contains(s.Table.Observed[row*d:(row+1)*d], false) {
			c.first[i+1] = c.first[i] + s.draws()
		}
	}
	size := c.first[n] * d
	c.x, c.g, c.slope = make([]float64, size), make([]float64, size), make([]float64, size)
	mean, precision := m.Mean(), m.Precision()
	whole := s.whole()
	err := c.share(0, parts, func(_, from, to int) error {
		given := source.Conditional{Mean: mean, Precision: precision, Domain: s.Domain}
		return s.complete(c, &given, whole, from, to)
	})
	return c, err
}

func (s Setting) complete(c *Rows, given *source.Conditional, whole *domain.Domain, from, to int) error {
	d := c.d
	b, all := data.NewBatch(1, d), slices.Repeat([]float64{1}, d)
	var rng stream.Stream
	var tangent domain.Tangent
	for i := from; i < to; i++ {
		b.Fill(s.Table, s.Rows[i:i+1], 1)
		if err := given.Condition(b.Mask); err != nil {
			return err
		}
		given.Given(b.X)
		for k := c.first[i]; k < c.first[i+1]; k++ {
			x, g, slope := c.x[k*d:(k+1)*d], c.g[k*d:(k+1)*d], c.slope[k*d:(k+1)*d]
			copy(x, b.X)
			rng.At(s.Seed, stream.Complete, uint64(s.Rows[i]), uint64(k-c.first[i]))
			if _, err := given.Draw(x, &rng); err != nil {
				return err
			}
			if !whole.Bounded() {
				copy(g, all)
				continue
			}
			s.Weight.At(whole, x, all, g, slope, &tangent)
		}
	}
	return nil
}

// Completed rows may lie on both sides of censoring thresholds.
func (s Setting) whole() *domain.Domain {
	if !s.Domain.Censored() {
		return s.Domain
	}
	low, high := s.Domain.GapBounds()
	u := domain.All(s.Table.D)
	u.Half = s.Domain.Half
	for j := range low {
		u.Lower[j], u.Upper[j] = min(low[j], s.Domain.Lower[j]), max(high[j], s.Domain.Upper[j])
	}
	return u
}

func (c *Rows) share(first, after int, visit func(part, from, to int) error) error {
	pool := panics.NewGroup()
	pool.SetLimit(c.workers)
	for k := first; k < min(after, parts); k++ {
		from, to := k*c.Count()/parts, (k+1)*c.Count()/parts
		if from == to {
			continue
		}
		pool.Go(func() error {
			return visit(k, from, to)
		})
	}
	return pool.Wait()
}

func (c *Rows) Count() int { return len(c.first) - 1 }

func (c *Rows) summed(size int, visit func(into []float64, from, to int)) ([]float64, error) {
	total, sums := make([]float64, size), make([][]float64, min(c.workers, parts))
	for first := 0; first < parts; first += len(sums) {
		err := c.share(first, first+len(sums), func(k, from, to int) error {
			sums[k-first] = make([]float64, size)
			visit(sums[k-first], from, to)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, sum := range sums {
			if sum != nil {
				floats.Add(total, sum)
			}
			sums[i] = nil
		}
	}
	return total, nil
}

// Parameters returns θ = (η, P), P in the order of graph.PackedIndex.
func Parameters(m *model.Gaussian) []float64 {
	var eta mat.VecDense
	p := m.Precision()
	eta.MulVec(p, mat.NewVecDense(m.Dim(), m.Mean()))
	return append(eta.RawVector().Data, graph.Pack(p)...)
}

func Put(m *model.Gaussian, theta []float64) {
	copy(m.Location.Value, theta)
	copy(m.Packed.Value, theta[m.Dim():])
}

func place(d, j, k int) int { return d + graph.PackedIndex(d, min(j, k), max(j, k)) }

func precision(d int, theta []float64) *mat.SymDense { return graph.Unpack(d, theta[d:]) }

// Support holds the free elements of θ of a network: η, the diagonal of P, and P_jk of its edges.
type Support struct {
	Places []int // indices of its members in θ, increasing
	own    []int // members of every network: η and the diagonal

	d       int
	columns [][]member // members in the score of each column
	pairs   []pair     // members
}

// pair is P_jk, or η_j if k = −1.
type pair struct{ j, k int }

// member is a term z θ of a column's score: z is 1 for η_j, −x_k for P_jk.
type member struct {
	number int // index in Support.Places
	k      int // −1 for η_j
}

func NewSupport(a network.Adjacency) *Support {
	d := a.D
	s := &Support{d: d, columns: make([][]member, d)}
	add := func(j, k, at int) {
		number := len(s.Places)
		s.Places, s.pairs = append(s.Places, at), append(s.pairs, pair{j, k})
		s.columns[j] = append(s.columns[j], member{number, k})
		if k >= 0 && k != j {
			s.columns[k] = append(s.columns[k], member{number, j})
		} else {
			s.own = append(s.own, number)
		}
	}
	for j := range d {
		add(j, -1, j)
	}
	for j, i := 0, 0; j < d; j++ {
		add(j, j, place(d, j, j))
		for k := j + 1; k < d; k, i = k+1, i+1 {
			if a.Edge[i] {
				add(j, k, place(d, j, k))
			}
		}
	}
	return s
}

func Everything(d int) *Support {
	return NewSupport(network.Adjacency{D: d, Edge: slices.Repeat([]bool{true}, d*(d-1)/2)})
}

func (s *Support) Size() int { return len(s.Places) }

func (s *Support) of(theta []float64) []float64 {
	out := make([]float64, 0, s.Size())
	for _, at := range s.Places {
		out = append(out, theta[at])
	}
	return out
}

func (s *Support) spread(members []float64) []float64 {
	theta := make([]float64, s.d*(s.d+3)/2)
	for i, at := range s.Places {
		theta[at] = members[i]
	}
	return theta
}
