package posterior

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/stream"
)

// chain is the state of one chain: rows completed, their components, and the law.
//
//	z_i ~ Σ_k w_k N(μ_k, P_k⁻¹),    w ~ Dirichlet(1/K, …, 1/K)
//	μ_k ~ N(μ̂, τΣ̂),                 1/τ ~ Gamma(1, rate 1)
//	P_k ~ Wishart(ν, (νΨ)⁻¹),       ν uniform on a grid above d + 1
//	Ψ   ~ Wishart(λ, δΣ̂/λ), λ = d + 2, where 1/(Ψ⁻¹)_jj > 10⁻⁴/(Σ̂⁻¹)_jj;   1/δ ~ Gamma(½, rate ½)
//
// with the anchor N(μ̂, Σ̂). One normal (K = 1) has none:
//
//	μ uniform,   Ψ diagonal, Ψ_jj ~ Gamma(½, rate ½) above 0.001
type chain struct {
	n, d     int
	rng      *stream.Stream
	observed []bool
	patterns []pattern
	z        []float64 // (n, d)
	of       []int     // (n): the component of each row
	every    []int     // column

	incomplete []bool      // (d): columns with gaps
	cuts       [][]float64 // (d): Config.Cuts
	level      []int       // (n, d): the interval of a cut column's observed cell

	anchor     *Anchor // nil: one normal
	nu         float64
	psi        []float64 // (d, d)
	delta, tau float64   // with an anchor
	components []component

	weighted   []float64 // of a row, by component
	deviations []float64 // of a row's cells
}

// component is one normal of the mixture.
type component struct {
	log        float64 // log w_k
	mean       []float64
	precision  []float64 // (d, d)
	covariance []float64 // (d, d)

	given   factor // of the covariance of the cells that a pattern observes
	gaps    factor // of the precision of those that it misses
	drawing bool   // gaps is of the present pattern
}

// pattern are the rows that miss the same cells.
type pattern struct{ rows, observed, missing []int }

// grid of ν − d − 1.
var grid = []float64{0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

const (
	concentration = 1.0 // rows that the prior of the weights counts for, over all components
	anchorRows    = 2   // λ − d

	// leastPsi, and with an anchor leastShare, keep components from shrinking onto values that
	// occur often, where the density has no bound.
	leastPsi   = 0.001
	leastShare = 1e-4 // of the anchor's conditional variances
)

// newChain starts with observed cells of the same columns, drawn at random, in the gaps, and
// rows at the nearest of as many of them, drawn at random, as there are components.
func newChain(t *data.Table, c Config, a *Anchor, k int) *chain {
	components := c.Components
	s := &chain{n: t.N, d: t.D, rng: new(stream.Stream).At(c.Seed, stream.Sample, 2, uint64(k)), observed: t.Observed,
		z: slices.Clone(t.Values), of: make([]int, t.N), anchor: a, nu: float64(t.D) + 2, psi: make([]float64, t.D*t.D), delta: 1, tau: 1,
		patterns: patternsOf(t), components: make([]component, components),
		incomplete: make([]bool, t.D), cuts: c.Cuts, level: make([]int, len(t.Values)), weighted: make([]float64, components), deviations: make([]float64, t.D)}
	for j := range t.D {
		s.every = append(s.every, j)
		seen := t.Column(j)
		for i := j; i < len(s.z); i += t.D {
			if !t.Observed[i] {
				s.z[i], s.incomplete[j] = seen[s.rng.IntN(len(seen))], true
			}
		}
	}
	for k := range s.components {
		c := &s.components[k]
		c.mean, c.precision, c.covariance = make([]float64, t.D), make([]float64, t.D*t.D), make([]float64, t.D*t.D)
	}
	for at, v := range t.Values {
		if cuts := s.cutsOf(at % t.D); t.Observed[at] && cuts != nil {
			s.level[at] = sort.SearchFloat64s(cuts, v)
		}
	}
	s.scatter()
	for k, m := range s.moments() {
		copy(s.components[k].mean, m.mean)
	}
	if a != nil {
		copy(s.psi, a.Covariance)
	} else {
		for j := range s.d {
			s.psi[j*s.d+j] = 1
		}
	}
	return s
}

// cutsOf are those of column j, nil for one of continuous values.
func (s *chain) cutsOf(j int) []float64 {
	if s.cuts == nil {
		return nil
	}
	return s.cuts[j]
}

// scatter puts rows to the nearest of some.
func (s *chain) scatter() {
	centres := s.rng.Perm(s.n)[:min(len(s.components), s.n)]
	for i := range s.n {
		least := math.Inf(1)
		for k, centre := range centres {
			far := 0.0
			for j := range s.d {
				far += math.Pow(s.z[i*s.d+j]-s.z[centre*s.d+j], 2)
			}
			if far < least {
				least, s.of[i] = far, k
			}
		}
	}
}

// patternsOf are a table's, in the order of their first rows.
func patternsOf(t *data.Table) (patterns []pattern) {
	for _, rows := range t.Patterns(t.AllRows()) {
		p := pattern{rows: rows}
		for j, seen := range t.Observed[rows[0]*t.D : (rows[0]+1)*t.D] {
			if seen {
				p.observed = append(p.observed, j)
			} else {
				p.missing = append(p.missing, j)
			}
		}
		patterns = append(patterns, p)
	}
	return patterns
}

var errDependent = errors.New("the columns depend on each other so nearly that their precision has no draw: leave one of them out")

// step draws the law given the completed rows, then components and missing cells given the
// law, then what stands behind the cells of few values.
func (s *chain) step(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !s.law() || !s.cells() || !s.latent() {
		return errDependent
	}
	return nil
}

// means are the columns' of completed cells, of a column of few values those of the numbers
// 0, 1, … of its values.
func (s *chain) means() []float64 {
	m := make([]float64, s.d)
	for at, v := range s.z {
		j := at % s.d
		if cuts := s.cutsOf(j); cuts != nil {
			v = float64(sort.SearchFloat64s(cuts, v))
		}
		m[j] += v / float64(s.n)
	}
	return m
}

// inUse is the number of components that have rows.
func (s *chain) inUse() int {
	of := slices.Clone(s.of)
	slices.Sort(of)
	return len(slices.Compact(of))
}

// gaps are the missing cells, row by row.
func (s *chain) gaps() (out []float64) {
	for i, seen := range s.observed {
		if !seen {
			out = append(out, s.z[i])
		}
	}
	return out
}

// dense is a square matrix as gonum has it.
func dense(a []float64, d int) *mat.SymDense { return mat.NewSymDense(d, a) }
