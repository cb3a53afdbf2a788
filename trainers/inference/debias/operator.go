package debias

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
)

// operator is the expected Hessian of the likelihood by P as a map of symmetric matrices,
// without being formed (docs/theory/inference.md#eq-conjugate-gradients):
//
//	H[X] = ½ mean Σ̃XΣ̃ = ½ ( ΣXΣ − C̄XΣ − ΣXC̄ + mean CXC )
//
// A pattern's own part is of the size of its gaps, m³; all else is done once. Matrices are
// (d, d), row by row.
type operator struct {
	d            int
	p, sigma     []float64 // P and Σ
	mean         []float64 // S̄ = Σ − C̄
	meanC        []float64 // C̄
	inverse      []float64 // S̄⁻¹
	gaps         []gapBlock
	observed     []bool // of the rows that have a value, (rows, d)
	rows         int
	tableRows    []int // which they are
	patternOfRow []int // in gaps, −1: without gaps
}

// gapBlock is C of a pattern, on its gaps.
type gapBlock struct {
	at    []int
	c     []float64 // (m, m)
	share float64
}

func newOperator(t *data.Table, n *normal) (*operator, error) {
	d := n.d
	o := &operator{d: d, p: square(n.p), sigma: square(n.sigma), meanC: make([]float64, d*d)}
	all, rows := groups(t)
	o.rows = int(rows)
	for _, g := range all {
		pattern := -1
		var at []int
		for j, seen := range t.Observed[g[0]*d : g[0]*d+d] {
			if !seen {
				at = append(at, j)
			}
		}
		if len(at) > 0 {
			c, ok := n.conditional(at)
			if !ok {
				return nil, ErrSingular
			}
			b := gapBlock{at, c, float64(len(g)) / rows}
			pattern = len(o.gaps)
			o.gaps = append(o.gaps, b)
			b.add(o.meanC, b.share, d)
		}
		for _, i := range g {
			o.tableRows, o.patternOfRow = append(o.tableRows, i), append(o.patternOfRow, pattern)
			o.observed = append(o.observed, t.Observed[i*d:i*d+d]...)
		}
	}
	o.mean = floats.SubTo(make([]float64, d*d), o.sigma, o.meanC)
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(mat.NewSymDense(d, append([]float64{}, o.mean...))) || c.InverseTo(&inverse) != nil {
		return nil, ErrSingular
	}
	o.inverse = square(&inverse)
	return o, nil
}

// square is a (d, d), row by row.
func square(a *mat.SymDense) []float64 { return mat.DenseCopyOf(a).RawMatrix().Data }

// add adds w times C to a (d, d).
func (b gapBlock) add(a []float64, w float64, d int) {
	m := len(b.at)
	for i, j := range b.at {
		for k, l := range b.at {
			a[j*d+l] += w * b.c[i*m+k]
		}
	}
}

// apply is H[x].
func (o *operator) apply(multiply graph.Product[float64], x []float64) []float64 {
	d := o.d
	xs, first, second := make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
	multiply(false, false, d, d, d, x, o.sigma, xs)
	multiply(false, false, d, d, d, o.mean, xs, first)
	multiply(false, false, d, d, d, o.meanC, xs, second)
	for j := range d {
		for k := range d {
			first[j*d+k] -= second[k*d+j]
		}
	}
	block, half, whole := xs, second, make([]float64, d*d)
	for _, b := range o.gaps {
		m := len(b.at)
		for i, j := range b.at {
			for k, l := range b.at {
				block[i*m+k] = x[j*d+l]
			}
		}
		multiply(false, false, m, m, m, b.c, block[:m*m], half[:m*m])
		multiply(false, false, m, m, m, half[:m*m], b.c, whole[:m*m])
		gapBlock{b.at, whole[:m*m], 0}.add(first, b.share, d)
	}
	floats.Scale(0.5, first)
	return first
}

// precondition is 2 S̄⁻¹gS̄⁻¹, the inverse of H where all patterns are alike.
func (o *operator) precondition(multiply graph.Product[float64], g []float64) []float64 {
	d := o.d
	half, whole := make([]float64, d*d), make([]float64, d*d)
	multiply(false, false, d, d, d, o.inverse, g, half)
	multiply(false, false, d, d, d, half, o.inverse, whole)
	floats.Scale(2, whole)
	return whole
}

const (
	solveTolerance  = 1e-6 // of the residual, in units of where it begins
	solveIterations = 500
)

// solve is X with H[X] = g, by conjugate gradients. It fails by ErrSingular where the residual
// does not become small.
func (o *operator) solve(multiply graph.Product[float64], g []float64) ([]float64, error) {
	x, left := make([]float64, len(g)), append([]float64{}, g...)
	z := o.precondition(multiply, left)
	along := append([]float64{}, z...)
	size := floats.Dot(left, z)
	enough := solveTolerance * solveTolerance * size
	for range solveIterations {
		if size <= enough {
			return x, nil
		}
		h := o.apply(multiply, along)
		step := size / floats.Dot(along, h)
		if !(step > 0) {
			return nil, ErrSingular
		}
		floats.AddScaled(x, step, along)
		floats.AddScaled(left, -step, h)
		z = o.precondition(multiply, left)
		before := size
		size = floats.Dot(left, z)
		floats.AddScaledTo(along, z, size/before, along)
	}
	return nil, ErrSingular
}

// completed are δ̂ of rows z = x − μ (rows, d), whose gaps are set to 0 first.
func (o *operator) completed(multiply graph.Product[float64], z []float64) []float64 {
	d := o.d
	for i, seen := range o.observed {
		if !seen {
			z[i] = 0
		}
	}
	pz := make([]float64, len(z))
	multiply(false, false, o.rows, d, d, z, o.p, pz)
	for i, pattern := range o.patternOfRow {
		if pattern < 0 {
			continue
		}
		b := o.gaps[pattern]
		m := len(b.at)
		for a, j := range b.at {
			sum := 0.0
			for k, l := range b.at {
				sum -= b.c[a*m+k] * pz[i*d+l]
			}
			z[i*d+j] = sum
		}
	}
	return z
}
