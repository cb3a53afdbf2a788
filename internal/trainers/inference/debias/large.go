package debias

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// errorDraws is the number of draws for standard errors with more than DirectColumns columns: their
// relative Monte Carlo error is 5 %.
const errorDraws = 200

// largeStep is Step of the likelihood for many columns: H⁻¹ by conjugate gradients, and standard
// errors from the spread of H⁻¹ξ over draws of ξ, the mean gradient of rows with random signs
// (robust) or of simulated rows with the table's gaps (model).
func (p Problem) largeStep() (*Estimate, error) {
	if err := p.largeRoom(); err != nil {
		return nil, err
	}
	n, err := newNormal(p.Mean, p.Precision)
	if err != nil {
		return nil, err
	}
	multiply, err := graph.NewProduct()
	if err != nil {
		return nil, err
	}
	o, z, err := newOperator(p.Table, n)
	if err != nil {
		return nil, err
	}
	delta := o.completed(multiply, z)
	gradient := o.gradient(multiply, delta)
	x, err := o.solve(multiply, gradient)
	if err != nil {
		return nil, err
	}
	d := o.d
	e := &Estimate{Precision: mat.NewSymDense(d, floats.SubTo(make([]float64, d*d), o.p, x))}
	var c mat.Cholesky
	if !c.Factorize(n.sigma) {
		return nil, errSingular
	}
	var lower mat.TriDense
	c.LTo(&lower)
	l := mat.DenseCopyOf(&lower).RawMatrix().Data
	draws := make([][]float64, errorDraws)
	err = each(p.Workers, errorDraws, func(w *worker, draw int) (err error) {
		multiply := w.multiply
		rng := stream.New(p.Seed, stream.Replicate, uint64(draw))
		if p.Robust {
			signs := make([]float64, o.rows)
			for i := range signs {
				signs[i] = float64(2*rng.IntN(2) - 1)
			}
			draws[draw], err = o.solve(multiply, o.signed(multiply, delta, gradient, signs))
			return err
		}
		noise, rows := make([]float64, o.rows*d), make([]float64, o.rows*d)
		for i := range noise {
			noise[i] = rng.NormFloat64()
		}
		multiply(false, true, o.rows, d, d, noise, l, rows)
		draws[draw], err = o.solve(multiply, o.gradient(multiply, o.completed(multiply, rows)))
		return err
	})
	if err != nil {
		return nil, err
	}
	contrasts := e.contrasts()
	variances := make([]float64, len(contrasts))
	for i, c := range contrasts {
		for _, u := range draws {
			v := c.w[0]*u[c.j*d+c.j] + c.w[1]*u[c.j*d+c.k] + c.w[2]*u[c.k*d+c.k]
			variances[i] += v * v / errorDraws
		}
	}
	e.errors(contrasts, variances)
	return e, nil
}

// largeRoom reserves the memory of the largest matrices.
func (p Problem) largeRoom() error {
	d := float64(p.Table.D)
	all, rows := groups(p.Table)
	numbers := float64(max(1, p.Workers)+1)*(12*d*d+3*rows*d) + errorDraws*d*d
	for _, g := range all {
		m := float64(len(gapsOf(p.Table, g[0])))
		numbers += m * m
	}
	return memory.Check(8*numbers, "use Spec.Inference bootstrap=N", "one step for %.0f columns", d)
}

// operator applies the expected Hessian of the likelihood in P without forming it
// (docs/theory/inference.md#eq-conjugate-gradients):
//
//	H[X] = ½ mean Σ̃XΣ̃ = ½ ( ΣXΣ − C̄XΣ − ΣXC̄ + mean CXC )
//
// A pattern with m gaps costs m³; all else is done once. Matrices are (d, d), row by row.
type operator struct {
	d            int
	p, sigma     []float64 // P and Σ
	mean         []float64 // S̄ = Σ − C̄
	meanC        []float64 // C̄
	inverse      []float64 // S̄⁻¹
	gaps         []gapBlock
	rows         int    // rows with a value
	observed     []bool // of these rows, (rows, d)
	patternOfRow []int  // index in gaps; −1: complete
}

// gapBlock is C of a pattern, on its gaps.
type gapBlock struct {
	at    []int
	c     []float64 // (m, m)
	share float64
}

// newOperator also returns z = x − μ of the rows with a value.
func newOperator(t *data.Table, n *normal) (o *operator, z []float64, err error) {
	d := n.d
	square := func(a *mat.SymDense) []float64 { return mat.DenseCopyOf(a).RawMatrix().Data }
	o = &operator{d: d, p: square(n.p), sigma: square(n.sigma), meanC: make([]float64, d*d)}
	all, rows := groups(t)
	o.rows = int(rows)
	for _, g := range all {
		pattern := -1
		if at := gapsOf(t, g[0]); len(at) > 0 {
			c, ok := n.conditional(at)
			if !ok {
				return nil, nil, errSingular
			}
			b := gapBlock{at, c, float64(len(g)) / rows}
			pattern = len(o.gaps)
			o.gaps = append(o.gaps, b)
			b.add(o.meanC, b.share, d)
		}
		for _, i := range g {
			o.patternOfRow = append(o.patternOfRow, pattern)
			o.observed = append(o.observed, t.Observed[i*d:(i+1)*d]...)
			z = append(z, floats.SubTo(make([]float64, d), t.Values[i*d:(i+1)*d], n.mu)...)
		}
	}
	o.mean = floats.SubTo(make([]float64, d*d), o.sigma, o.meanC)
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(mat.NewSymDense(d, append([]float64{}, o.mean...))) || c.InverseTo(&inverse) != nil {
		return nil, nil, errSingular
	}
	o.inverse = square(&inverse)
	return o, z, nil
}

// add adds w times C to a (d, d).
func (b gapBlock) add(a []float64, w float64, d int) {
	m := len(b.at)
	for i, j := range b.at {
		for k, l := range b.at {
			a[j*d+l] += w * b.c[i*m+k]
		}
	}
}

// apply returns H[x].
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

const (
	solveTolerance  = 1e-6 // relative residual
	solveIterations = 500
)

// solve returns X with H[X] = g, by conjugate gradients with the preconditioner 2 S̄⁻¹gS̄⁻¹, the
// inverse of H for a single pattern. It fails with ErrSingular if the residual does not become
// small.
func (o *operator) solve(multiply graph.Product[float64], g []float64) ([]float64, error) {
	half := make([]float64, len(g))
	precondition := func(g []float64) []float64 {
		z := make([]float64, len(g))
		multiply(false, false, o.d, o.d, o.d, o.inverse, g, half)
		multiply(false, false, o.d, o.d, o.d, half, o.inverse, z)
		floats.Scale(2, z)
		return z
	}
	x, left := make([]float64, len(g)), append([]float64{}, g...)
	z := precondition(left)
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
			return nil, errSingular
		}
		floats.AddScaled(x, step, along)
		floats.AddScaled(left, -step, h)
		z = precondition(left)
		before := size
		size = floats.Dot(left, z)
		floats.AddScaledTo(along, z, size/before, along)
	}
	return nil, errSingular
}

// completed returns δ̂ of rows z = x − μ (rows, d), after setting gaps to 0.
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

// gradient returns the mean of ½(δ̂δ̂ᵀ − Σ̃) over rows.
func (o *operator) gradient(multiply graph.Product[float64], delta []float64) []float64 {
	g := make([]float64, o.d*o.d)
	multiply(true, false, o.d, o.d, o.rows, delta, delta, g)
	floats.Scale(0.5/float64(o.rows), g)
	floats.AddScaled(g, -0.5, o.mean)
	return g
}

// signed returns the mean of the rows' centred gradients times signs.
func (o *operator) signed(multiply graph.Product[float64], delta, gradient, signs []float64) []float64 {
	d, n := o.d, float64(o.rows)
	by, sum := make([]float64, len(delta)), 0.0
	g, c := make([]float64, d*d), make([]float64, d*d)
	perPattern := make([]float64, len(o.gaps))
	for i, s := range signs {
		sum += s / n
		floats.ScaleTo(by[i*d:(i+1)*d], s/n, delta[i*d:(i+1)*d])
		if k := o.patternOfRow[i]; k >= 0 {
			perPattern[k] += s / n
		}
	}
	multiply(true, false, d, d, o.rows, delta, by, g)
	for k, b := range o.gaps {
		b.add(c, perPattern[k], d)
	}
	floats.Add(g, c)
	floats.AddScaled(g, -sum, o.sigma)
	floats.Scale(0.5, g)
	floats.AddScaled(g, -sum, gradient)
	return g
}
