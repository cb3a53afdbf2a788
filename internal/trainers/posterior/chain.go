package posterior

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/data/truncnorm"
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
//	μ uniform,   Ψ diagonal, equal within a column, Ψ_jj ~ Gamma(½, rate ½) above 0.001
//
// A row z_i has one number for each column and L − 1 for a nominal one of L levels (column).
type chain struct {
	n, d     int // rows; numbers of a row
	rng      *stream.Stream
	columns  []column // of the table
	observed []bool   // (n, columns)
	level    []int    // (n, columns): of an observed cell its interval (few values) or its level (nominal)
	donors   int      // Config.Donors
	patterns []pattern
	z        []float64 // (n, d)
	of       []int     // (n): the component of each row
	every    []int     // 0, …, d − 1

	anchor     *anchor // nil: one normal
	nu         float64
	psi        []float64 // (d, d)
	delta, tau float64   // with an anchor
	mixture    Mixture
	components []component // of mixture

	weighted   []float64 // scratch, by component
	deviations []float64 // scratch, of a row's numbers
	products   []float64 // scratch: P times deviations
	missing    []float64 // scratch: the missing numbers of a row
	scores     []float64 // scratch: utilities of a row's levels
}

type column struct {
	first, width int
	incomplete   bool
	cuts         []float64 // Config.Cuts: the value is the interval that holds the number; nil for others

	// vertices (levels, width) of a nominal column are the corners c of a regular simplex around 0;
	// the level has the largest utility cᵀz, so the order of levels has no effect.
	vertices []float64
}

// simplex returns c_kᵀc_l = [k = l] − 1/levels, one corner a row.
func simplex(levels int) (vertices []float64) {
	for k := range levels {
		for j := 1; j < levels; j++ {
			v := 1 / math.Sqrt(float64(j*(j+1)))
			switch {
			case k == j:
				v *= -float64(j)
			case k > j:
				v = 0
			}
			vertices = append(vertices, v)
		}
	}
	return vertices
}

func (c *column) utilities(to, z []float64) []float64 {
	for vertex := range slices.Chunk(c.vertices, c.width) {
		to = append(to, floats.Dot(vertex, z[c.first:c.first+c.width]))
	}
	return to
}

type component struct {
	mean, precision []float64 // of Mixture

	root float64 // ½ log det P
	gaps factor  // factor of the precision of a pattern's missing numbers
}

// pattern is the rows that miss the same cells.
type pattern struct{ rows, missing []int }

// grid holds the values of ν − d − 1.
var grid = []float64{0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

const (
	concentration = 1.0 // prior rows of the weights, over all components
	anchorRows    = 2   // λ − d

	// Lower bounds keep components from collapsing onto frequent values, where the density is
	// unbounded.
	leastPsi   = 0.001
	leastShare = 1e-4 // of the anchor's conditional variances
)

// newChain fills missing cells with random observed cells of their columns.
func newChain(t *data.Table, c Config, a *anchor, rng *stream.Stream) *chain {
	d := c.width(t)
	s := &chain{n: t.N, d: d, rng: rng, observed: t.Observed, donors: c.Donors,
		level: make([]int, len(t.Values)), z: make([]float64, t.N*d), of: make([]int, t.N), anchor: a, nu: float64(d) + 2, psi: make([]float64, d*d), delta: 1, tau: 1,
		components: make([]component, c.Components), weighted: make([]float64, c.Components), deviations: make([]float64, d), products: make([]float64, d), missing: make([]float64, d)}
	for j := range t.D {
		s.columns = append(s.columns, s.start(t, c, j))
	}
	for _, rows := range t.Patterns(t.AllRows()) {
		p := pattern{rows: rows}
		for j, of := range s.columns {
			if !t.Observed[rows[0]*t.D+j] {
				p.missing = append(p.missing, s.every[of.first:of.first+of.width]...)
			}
		}
		s.patterns = append(s.patterns, p)
	}
	k := c.Components
	s.take(Mixture{make([]float64, k), make([]float64, k*d), make([]float64, k*d*d)})
	s.scatter()
	if a != nil {
		copy(s.psi, a.covariance)
	} else {
		for j := range s.d {
			s.psi[j*s.d+j] = 1
		}
	}
	return s
}

func (s *chain) take(m Mixture) {
	s.mixture = m
	for k := range s.components {
		c, d := &s.components[k], s.d
		c.mean, c.precision = m.Means[k*d:k*d+d], m.Precisions[k*d*d:(k+1)*d*d]
	}
}

func (s *chain) start(t *data.Table, c Config, j int) column {
	of := column{first: len(s.every), width: 1}
	if c.Cuts != nil {
		of.cuts = c.Cuts[j]
	}
	if c.Levels != nil && c.Levels[j] > 0 {
		of.vertices, of.width = simplex(c.Levels[j]), c.Levels[j]-1
	}
	for range of.width {
		s.every = append(s.every, len(s.every))
	}
	seen := t.Column(j)
	for i := range t.N {
		at := i*t.D + j
		v := t.Values[at]
		if !t.Observed[at] {
			if of.incomplete = true; len(seen) > 0 {
				v = seen[s.rng.IntN(len(seen))]
			}
		}
		into := s.z[i*s.d+of.first:]
		switch {
		case of.vertices != nil:
			s.level[at] = int(v)
			copy(into, of.vertices[int(v)*of.width:(int(v)+1)*of.width])
			continue
		case of.cuts != nil:
			s.level[at] = sort.SearchFloat64s(of.cuts, v)
		}
		into[0] = v
	}
	return of
}

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
	rows := make([]float64, len(s.components))
	for i, k := range s.of {
		rows[k]++
		mean := s.components[k].mean
		for j, v := range s.z[i*s.d : i*s.d+s.d] {
			mean[j] += (v - mean[j]) / rows[k]
		}
	}
}

var errDependent = errors.New("the columns nearly determine each other, so their precision has no draw: leave one of them out")

// steps runs iterations. An iteration draws the parameters given the completed rows; then
// components, means and missing cells; then latent numbers.
func (s *chain) steps(ctx context.Context, from, to int, after func(i int)) (err error) {
	defer definite(&err)
	for i := from; i < to; i++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.law()
		s.allocate()
		s.drawMeans()
		s.fill()
		s.latent()
		after(i)
	}
	return nil
}

// definite sets err if factor.must panicked.
func definite(err *error) {
	switch v := recover(); v {
	case nil:
	case errDependent:
		*err = errDependent
	default:
		panic(v)
	}
}

// judged appends the quantities of convergence diagnostics for cell (i, j): the value and its
// square, or indicators of levels.
func (s *chain) judged(to []float64, i, j int) []float64 {
	c := &s.columns[j]
	if c.vertices != nil {
		own := s.levelOf(i, j)
		for l := range len(c.vertices) / c.width {
			v := 0.0
			if l == own {
				v = 1
			}
			to = append(to, v)
		}
		return to
	}
	v := s.z[i*s.d+c.first]
	if c.cuts != nil {
		v = float64(s.levelOf(i, j))
	}
	return append(to, v, v*v)
}

func (s *chain) levelOf(i, j int) int {
	c := &s.columns[j]
	if at := i*len(s.columns) + j; s.observed[at] {
		return s.level[at]
	}
	if c.cuts != nil {
		return sort.SearchFloat64s(c.cuts, s.z[i*s.d+c.first])
	}
	return floats.MaxIdx(c.utilities(nil, s.z[i*s.d:i*s.d+s.d]))
}

// gaps are the missing cells, row by row; nominal cells as levels.
func (s *chain) gaps() (out []float64) {
	matched := s.match()
	for at, seen := range s.observed {
		if seen {
			continue
		}
		i, j := at/len(s.columns), at%len(s.columns)
		c := &s.columns[j]
		switch {
		case c.vertices != nil:
			out = append(out, float64(s.levelOf(i, j)))
		case matched[j] != nil:
			out = append(out, matched[j](i))
		default:
			out = append(out, s.z[i*s.d+c.first])
		}
	}
	return out
}

// match returns, per continuous column, draws from the observed cells of the s.donors rows with the
// nearest conditional mean; nil for other columns and without donors.
func (s *chain) match() []func(i int) float64 {
	matched := make([]func(int) float64, len(s.columns))
	for j, c := range s.columns {
		if s.donors == 0 || !c.incomplete || c.cuts != nil || c.vertices != nil {
			continue
		}
		var rows []int
		means := make([]float64, s.n)
		for i := range s.n {
			means[i], _ = s.given(i, s.seen(pattern{}, i, &s.components[s.of[i]]), c.first)
			if s.observed[i*len(s.columns)+j] {
				rows = append(rows, i)
			}
		}
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
		matched[j] = func(i int) float64 {
			from := sort.Search(len(rows), func(k int) bool { return means[rows[k]] >= means[i] })
			to := from // rows[from:to] are the nearest rows
			for to-from < min(s.donors, len(rows)) {
				if to == len(rows) || from > 0 && means[i]-means[rows[from-1]] < means[rows[to]]-means[i] {
					from--
				} else {
					to++
				}
			}
			return s.z[rows[from+s.rng.IntN(to-from)]*s.d+c.first]
		}
	}
	return matched
}

func dense(a []float64, d int) *mat.SymDense { return mat.NewSymDense(d, a) }

// allocate draws the components of rows given means and precisions, with the missing cells
// integrated out:
//
//	p(k | z_o) ∝ w_k N(z_o; μ_k,o, (P_k⁻¹)_oo)
func (s *chain) allocate() {
	if len(s.components) == 1 {
		return
	}
	for k := range s.components {
		c := &s.components[k]
		c.gaps.must(c.precision, s.d, s.every)
		c.root = c.gaps.logDet
	}
	for _, p := range s.patterns {
		for k := range s.components {
			c := &s.components[k]
			c.gaps.must(c.precision, s.d, p.missing)
		}
		for _, i := range p.rows {
			s.of[i] = s.component(p, i)
		}
	}
}

// fill draws the missing cells given components, means and precisions:
//
//	z_m | z_o, k ~ N(μ_m − P_mm⁻¹P_mo(z_o − μ_o), P_mm⁻¹)
func (s *chain) fill() {
	for _, p := range s.patterns {
		last := -1
		for _, i := range p.rows {
			c := &s.components[s.of[i]]
			if s.of[i] != last {
				c.gaps.must(c.precision, s.d, p.missing)
			}
			last = s.of[i]
			s.complete(p, i, c)
		}
	}
}

// drawMeans draws the means given components and precisions, with the missing cells integrated out:
//
//	μ_k | z_o ~ N(V(Σ_i S_i z_i,o + Σ̂⁻¹μ̂/τ), V),   V = (Σ_i S_i + Σ̂⁻¹/τ)⁻¹
//	S_i = (P_k⁻¹)_oo⁻¹ = P − WᵀW, 0 in gaps,   W = L⁻¹P_m·,   P_mm = LLᵀ
//
// Conditioning on completed rows instead would mix slowly for columns that a component rarely
// observes.
func (s *chain) drawMeans() {
	d := s.d
	inverse, weighted := make([]float64, len(s.components)*d*d), make([]float64, len(s.components)*d)
	sums, rows := make([]float64, len(s.components)*d), make([]float64, len(s.components))
	for _, p := range s.patterns {
		clear(sums)
		clear(rows)
		for _, i := range p.rows {
			k := s.of[i]
			floats.Add(sums[k*d:k*d+d], s.z[i*d:i*d+d])
			rows[k]++
		}
		for k, n := range rows {
			if n > 0 {
				s.tellMean(p, k, n, sums[k*d:k*d+d], inverse[k*d*d:k*d*d+d*d], weighted[k*d:k*d+d])
			}
		}
	}
	for k := range s.components {
		s.drawMean(&s.components[k], inverse[k*d*d:k*d*d+d*d], weighted[k*d:k*d+d])
	}
}

// tellMean adds n S to inverse (d, d; upper triangle) and S·sum to weighted (d); it overwrites sum.
func (s *chain) tellMean(p pattern, k int, n float64, sum, inverse, weighted []float64) {
	c, d := &s.components[k], s.d
	c.gaps.must(c.precision, d, p.missing)
	for _, j := range p.missing {
		sum[j] = 0
	}
	s.product(c.precision, sum)
	floats.Add(weighted, s.products)
	floats.AddScaled(inverse, n, c.precision)
	w := make([]float64, len(p.missing)*d)
	for a, j := range p.missing { // row a of W
		row := w[a*d : a*d+d]
		copy(row, c.precision[j*d:j*d+d])
		for b := range a {
			floats.AddScaled(row, -c.gaps.l[a*c.gaps.n+b], w[b*d:b*d+d])
		}
		floats.Scale(1/c.gaps.l[a*c.gaps.n+a], row)
		floats.AddScaled(weighted, -floats.Dot(row, sum), row)
		for l, v := range row {
			floats.AddScaled(inverse[l*d+l:l*d+d], -n*v, row[l:])
		}
	}
}

// product sets products to P v.
func (s *chain) product(p, v []float64) {
	a := blas64.General{Rows: s.d, Cols: s.d, Stride: s.d, Data: p}
	blas64.Gemv(blas.NoTrans, 1, a, blas64.Vector{N: s.d, Inc: 1, Data: v}, 0, blas64.Vector{N: s.d, Inc: 1, Data: s.products})
}

// component draws the component of row i, with (P⁻¹)_oo⁻¹ = P_oo − P_om P_mm⁻¹ P_mo and v = z − μ,
// 0 in gaps:
//
//	log N(z_o; μ_o, (P⁻¹)_oo) = ½ log(det P/det P_mm) − ½ (vᵀPv − |L⁻¹P_mo v_o|²) + constant,   P_mm = LLᵀ
func (s *chain) component(p pattern, i int) int {
	of := s.missing[:len(p.missing)]
	for k := range s.components {
		c := &s.components[k]
		v := s.seen(p, i, c)
		s.product(c.precision, v)
		for a, j := range p.missing {
			of[a] = s.products[j]
		}
		c.gaps.forward(of)
		s.weighted[k] = s.mixture.LogWeights[k] + c.root - c.gaps.logDet - (floats.Dot(v, s.products)-floats.Dot(of, of))/2
	}
	return pick(s.rng.Rand, s.weighted)
}

// seen returns z − μ, 0 in gaps, in a reused buffer.
func (s *chain) seen(p pattern, i int, c *component) []float64 {
	v := floats.SubTo(s.deviations, s.z[i*s.d:i*s.d+s.d], c.mean)
	for _, j := range p.missing {
		v[j] = 0
	}
	return v
}

func (s *chain) complete(p pattern, i int, c *component) {
	v, of := s.seen(p, i, c), s.missing[:len(p.missing)]
	for a, j := range p.missing {
		of[a] = -floats.Dot(c.precision[j*s.d:j*s.d+s.d], v)
	}
	c.gaps.forward(of)
	for a := range of {
		of[a] += s.rng.NormFloat64()
	}
	c.gaps.backward(of)
	for a, j := range p.missing {
		s.z[i*s.d+j] = c.mean[j] + of[a]
	}
}

// latent draws the numbers of cells with few values or levels, each given the rest of its row and
// within its interval (Albert & Chib 1993); for level k of a nominal column c_kᵀz ≥ c_lᵀz for all l
// (McCulloch & Rossi 1994).
func (s *chain) latent() {
	var latent []int
	for j, c := range s.columns {
		if c.cuts != nil || c.vertices != nil {
			latent = append(latent, j)
		}
	}
	for i := range s.n {
		v := s.seen(pattern{}, i, &s.components[s.of[i]])
		for _, j := range latent {
			at := i*len(s.columns) + j
			if !s.observed[at] {
				continue
			}
			c, level := &s.columns[j], s.level[at]
			if c.vertices != nil {
				s.cone(i, v, c, level)
			} else {
				low, high := Interval(c.cuts, level)
				s.within(i, v, c.first, low, high)
			}
		}
	}
}

// Interval returns the ends of an interval between cuts, counted from below.
func Interval(cuts []float64, level int) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if level > 0 {
		low = cuts[level-1]
	}
	if level < len(cuts) {
		high = cuts[level]
	}
	return low, high
}

// v is the row's deviation.
func (s *chain) cone(i int, v []float64, c *column, level int) {
	row := s.z[i*s.d : i*s.d+s.d]
	scores := c.utilities(s.scores[:0], row)
	s.scores = scores
	for k := range c.width {
		was := row[c.first+k]
		low, high := math.Inf(-1), math.Inf(1)
		own := c.vertices[level*c.width+k]
		for l, score := range scores {
			switch slope := own - c.vertices[l*c.width+k]; {
			case slope > 0:
				low = max(low, was-(scores[level]-score)/slope)
			case slope < 0:
				high = min(high, was-(scores[level]-score)/slope)
			}
		}
		s.within(i, v, c.first+k, min(low, was), max(high, was)) // rounding
		for l := range k + 2 {                                   // corners with this number
			scores[l] += c.vertices[l*c.width+k] * (row[c.first+k] - was)
		}
	}
}

// given returns the mean z_j − (Pv)_j/P_jj and √P_jj of number j given the others; v is the row's
// deviation.
func (s *chain) given(i int, v []float64, j int) (mean, root float64) {
	p := s.components[s.of[i]].precision[j*s.d : j*s.d+s.d]
	return s.z[i*s.d+j] - floats.Dot(p, v)/p[j], math.Sqrt(p[j])
}

func (s *chain) within(i int, v []float64, j int, low, high float64) {
	mean, root := s.given(i, v, j)
	z := mean + truncnorm.Draw(s.rng.Rand, (low-mean)*root, (high-mean)*root)/root
	if math.IsNaN(z) {
		panic(errDependent)
	}
	s.z[i*s.d+j], v[j] = z, z-s.components[s.of[i]].mean[j]
}

// factor is the lower Cholesky factor; for a few rows it is faster than LAPACK.
type factor struct {
	n      int
	l      []float64 // (n, n)
	logDet float64   // log det L
}

// of factors rows and columns at (increasing) of a (d, d), upper triangle; ok is false if not
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
			sum := a[at[j]*d+row]
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
			if product *= own[i]; i%8 == 7 || i == n-1 { // one logarithm per eight rows
				f.logDet += math.Log(product)
				product = 1
			}
		}
	}
	return true
}

// must panics with errDependent where of fails.
func (f *factor) must(a []float64, d int, at []int) {
	if !f.of(a, d, at) {
		panic(errDependent)
	}
}

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

func (f *factor) backward(v []float64) {
	for i := f.n - 1; i >= 0; i-- {
		v[i] /= f.l[i*f.n+i]
		for k := range i {
			v[k] -= f.l[i*f.n+k] * v[i]
		}
	}
}
