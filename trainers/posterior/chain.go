package posterior

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/truncnorm"
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
	cuts       [][]float64 // (d): Config.Cuts, nil for columns of continuous values
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
	if c.Cuts == nil {
		c.Cuts = make([][]float64, t.D)
	}
	s := &chain{n: t.N, d: t.D, rng: new(stream.Stream).At(c.Seed, stream.Sample, 2, uint64(k)), observed: t.Observed,
		z: slices.Clone(t.Values), of: make([]int, t.N), anchor: a, nu: float64(t.D) + 2, psi: make([]float64, t.D*t.D), delta: 1, tau: 1,
		components: make([]component, c.Components),
		incomplete: make([]bool, t.D), cuts: c.Cuts, level: make([]int, len(t.Values)), weighted: make([]float64, c.Components), deviations: make([]float64, t.D)}
	for _, rows := range t.Patterns(t.AllRows()) {
		p := pattern{rows: rows}
		for j, seen := range t.Observed[rows[0]*t.D : (rows[0]+1)*t.D] {
			if seen {
				p.observed = append(p.observed, j)
			} else {
				p.missing = append(p.missing, j)
			}
		}
		s.patterns = append(s.patterns, p)
	}
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
		if cuts := s.cuts[at%t.D]; t.Observed[at] && cuts != nil {
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

var errDependent = errors.New("the columns depend on each other so nearly that their precision has no draw: leave one of them out")

// steps makes iterations, and calls after when each is done: the law given the completed rows, then
// components and missing cells given the law, then the numbers behind the cells of few values.
func (s *chain) steps(ctx context.Context, iterations int, after func(i int)) error {
	for i := range iterations {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !s.law() || !s.cells() || !s.latent() {
			return errDependent
		}
		after(i)
	}
	return nil
}

// means are the columns' of completed cells, of a column of few values those of the numbers
// 0, 1, … of its values.
func (s *chain) means() []float64 {
	m := make([]float64, s.d)
	for at, v := range s.z {
		j := at % s.d
		if cuts := s.cuts[j]; cuts != nil {
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

// cells draws, row by row, the component given the observed cells, the missing ones
// integrated out, and the missing cells given component and observed ones, for given
// parameters:
//
//	p(k | z_o) ∝ w_k N(z_o; μ_k,o, Σ_k,oo),   Σ_k = P_k⁻¹
//	z_m | z_o, k ~ N(μ_m − P_mm⁻¹P_mo(z_o − μ_o), P_mm⁻¹)
//
// It is not ok where a matrix is not positive definite in float64.
func (s *chain) cells() (ok bool) {
	for _, p := range s.patterns {
		for k := range s.components {
			c := &s.components[k]
			c.drawing = false
			if len(s.components) > 1 && !c.given.of(c.covariance, s.d, p.observed) {
				return false
			}
		}
		for _, i := range p.rows {
			if len(s.components) > 1 {
				s.of[i] = s.component(p, i)
			}
			if len(p.missing) > 0 && !s.complete(p, i, &s.components[s.of[i]]) {
				return false
			}
		}
	}
	return true
}

// component draws that of row i.
func (s *chain) component(p pattern, i int) int {
	for k := range s.components {
		c := &s.components[k]
		v := s.deviations[:len(p.observed)]
		for a, j := range p.observed {
			v[a] = s.z[i*s.d+j] - c.mean[j]
		}
		c.given.forward(v)
		square := 0.0
		for _, x := range v {
			square += x * x
		}
		s.weighted[k] = c.log - square/2 - c.given.logDet
	}
	return s.pick(s.weighted)
}

// complete draws the missing cells of row i, of component c.
func (s *chain) complete(p pattern, i int, c *component) (ok bool) {
	if !c.drawing {
		if !c.gaps.of(c.precision, s.d, p.missing) {
			return false
		}
		c.drawing = true
	}
	row, v := s.z[i*s.d:i*s.d+s.d], s.deviations[:len(p.missing)]
	for a, j := range p.missing {
		v[a] = 0
		for _, l := range p.observed {
			v[a] -= c.precision[j*s.d+l] * (row[l] - c.mean[l])
		}
	}
	c.gaps.forward(v)
	for a := range v {
		v[a] += s.rng.NormFloat64()
	}
	c.gaps.backward(v)
	for a, j := range p.missing {
		row[j] = c.mean[j] + v[a]
	}
	return true
}

// latent draws the numbers behind the observed cells of columns of few values, cell by cell,
// each given the rest of its row and within the interval that its value stands for: the
// normal of mean μ_j − Σ_l≠j P_jl (z_l − μ_l)/P_jj and variance 1/P_jj of the row's component,
// truncated (Albert & Chib 1993, "Bayesian analysis of binary and polychotomous response
// data").
func (s *chain) latent() (ok bool) {
	for j := range s.d {
		cuts := s.cuts[j]
		if cuts == nil {
			continue
		}
		for i := range s.n {
			at := i*s.d + j
			if !s.observed[at] {
				continue
			}
			c, row := &s.components[s.of[i]], s.z[i*s.d:i*s.d+s.d]
			own, mean := c.precision[j*s.d+j], c.mean[j]
			for l, v := range row {
				if l != j {
					mean -= c.precision[j*s.d+l] / own * (v - c.mean[l])
				}
			}
			low, high := math.Inf(-1), math.Inf(1)
			if k := s.level[at]; k > 0 {
				low = cuts[k-1]
			}
			if k := s.level[at]; k < len(cuts) {
				high = cuts[k]
			}
			root := math.Sqrt(own)
			row[j] = mean + truncnorm.Transport(s.rng.NormFloat64(), (low-mean)*root, (high-mean)*root)/root
			if math.IsNaN(row[j]) {
				return false
			}
		}
	}
	return true
}

// factor is L of a symmetric positive definite matrix A = LLᵀ, lower triangular. It is used
// for matrices of a few rows, one for each pattern of gaps and component, where a call of
// LAPACK takes longer than the factor itself.
type factor struct {
	n      int
	l      []float64 // (n, n)
	logDet float64   // log det L
}

// of factors the rows and columns at of a matrix (d, d). It is not ok where these are not
// positive definite.
func (f *factor) of(a []float64, d int, at []int) (ok bool) {
	n := len(at)
	if cap(f.l) < n*n {
		f.l = make([]float64, d*d)
	}
	f.n, f.l, f.logDet = n, f.l[:n*n], 0
	product := 1.0
	for i, row := range at {
		own := f.l[i*n : i*n+n]
		for j := range i + 1 {
			above := f.l[j*n : j*n+n]
			sum := a[row*d+at[j]]
			for k, v := range above[:j] {
				sum -= own[k] * v
			}
			if j < i {
				own[j] = sum / above[j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			own[i] = math.Sqrt(sum)
			if product *= own[i]; i%8 == 7 || i == n-1 { // a logarithm takes longer than the row
				f.logDet += math.Log(product)
				product = 1
			}
		}
	}
	return true
}

// forward replaces v by L⁻¹v.
func (f *factor) forward(v []float64) {
	for i := range f.n {
		row := f.l[i*f.n : i*f.n+f.n]
		sum := v[i]
		for k, x := range v[:i] {
			sum -= row[k] * x
		}
		v[i] = sum / row[i]
	}
}

// backward replaces v by L⁻ᵀv.
func (f *factor) backward(v []float64) {
	for i := f.n - 1; i >= 0; i-- {
		v[i] /= f.l[i*f.n+i]
		for k := range i {
			v[k] -= f.l[i*f.n+k] * v[i]
		}
	}
}
