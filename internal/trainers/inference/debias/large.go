package debias

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/stream"
)

// errorDraws gives a relative Monte Carlo error of 5 %.
const errorDraws = 200

// largeStep is Step for many columns: conjugate gradients, and standard errors from the spread of
// H⁻¹ξ over draws of ξ, the mean gradient of rows with random signs (robust) or of simulated rows
// (model).
func (p Problem) largeStep(multiply graph.Product[float64], rows *rows) (*Estimate, error) {
	d, n := rows.d, len(rows.of)
	o, err := newOperator(rows)
	if err != nil {
		return nil, err
	}
	gradient, _ := o.gradient(multiply, o.delta, o.weight)
	x, err := o.solve(multiply, gradient)
	if err != nil {
		return nil, err
	}
	e := &Estimate{Precision: mat.NewSymDense(d, floats.SubTo(make([]float64, d*d), o.p, x))}
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(d, o.sigma)) {
		return nil, errSingular
	}
	var lower mat.TriDense
	c.LTo(&lower)
	l := mat.DenseCopyOf(&lower).RawMatrix().Data
	draws := make([][]float64, errorDraws)
	err = each(p.Workers, errorDraws, func(multiply graph.Product[float64], draw int) (err error) {
		rng := stream.New(p.Seed, stream.Replicate, uint64(draw))
		var xi []float64
		if p.Robust {
			signs, sum := make([]float64, n), 0.0
			for i := range signs {
				signs[i] = float64(2*rng.IntN(2)-1) * o.weight[i]
			}
			xi, sum = o.gradient(multiply, o.delta, signs)
			floats.AddScaled(xi, -sum, gradient)
		} else {
			noise, z := make([]float64, n*d), make([]float64, n*d)
			for i := range noise {
				noise[i] = rng.NormFloat64()
			}
			multiply(false, true, n, d, d, noise, l, z)
			o.fill(multiply, z, o.of)
			xi, _ = o.gradient(multiply, z, o.weight)
		}
		draws[draw], err = o.solve(multiply, xi)
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

// operator applies the expected Hessian of the likelihood in P without forming it
// (docs/theory/inference.md#eq-conjugate-gradients):
//
//	H[X] = ½ mean Σ̃XΣ̃ = ½ ( ΣXΣ − C̄XΣ − ΣXC̄ + mean CXC )
//
// Matrices are (d, d), row by row.
type operator struct {
	*rows
	mean    []float64 // S̄ = Σ − C̄
	meanC   []float64 // C̄
	inverse []float64 // S̄⁻¹
}

func newOperator(r *rows) (*operator, error) {
	d := r.d
	o := &operator{rows: r, meanC: make([]float64, d*d)}
	for k := range r.patterns {
		r.patterns[k].add(o.meanC, r.patterns[k].share, d)
	}
	o.mean = floats.SubTo(make([]float64, d*d), o.sigma, o.meanC)
	var c mat.Cholesky
	var inverse mat.SymDense
	if !c.Factorize(mat.NewSymDense(d, o.mean)) || c.InverseTo(&inverse) != nil {
		return nil, errSingular
	}
	o.inverse = mat.DenseCopyOf(&inverse).RawMatrix().Data
	return o, nil
}

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
	for _, q := range o.patterns {
		m := len(q.gaps)
		if m == 0 {
			continue
		}
		for i, j := range q.gaps {
			for k, l := range q.gaps {
				block[i*m+k] = x[j*d+l]
			}
		}
		multiply(false, false, m, m, m, q.c, block[:m*m], half[:m*m])
		multiply(false, false, m, m, m, half[:m*m], q.c, whole[:m*m])
		(&pattern{gaps: q.gaps, c: whole[:m*m]}).add(first, q.share, d)
	}
	floats.Scale(0.5, first)
	return first
}

const (
	solveTolerance  = 1e-6 // relative residual
	solveIterations = 500
)

// solve uses conjugate gradients with the preconditioner 2 S̄⁻¹gS̄⁻¹. It fails with ErrSingular.
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

// gradient returns ½ Σ_i s_i(δ̂_iδ̂_iᵀ − Σ̃_i)/n and Σ_i s_i/n, n the total weight.
func (o *operator) gradient(multiply graph.Product[float64], delta, factors []float64) (g []float64, sum float64) {
	d := o.d
	by, part := make([]float64, len(delta)), make([]float64, len(o.patterns))
	for i, s := range factors {
		floats.ScaleTo(by[i*d:(i+1)*d], s/o.total, delta[i*d:(i+1)*d])
		part[o.of[i]] += s / o.total
	}
	g = make([]float64, d*d)
	multiply(true, false, d, d, len(factors), delta, by, g)
	for k, share := range part {
		o.patterns[k].add(g, share, d)
		sum += share
	}
	floats.AddScaled(g, -sum, o.sigma)
	floats.Scale(0.5, g)
	return g, sum
}
