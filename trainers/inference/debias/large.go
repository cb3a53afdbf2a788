package debias

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
	"missingscore/internal/memory"
	"missingscore/internal/stream"
)

// DirectColumns is up to how many columns second derivatives are factorised.
const DirectColumns = 150

// errorDraws is from how many draws standard errors of more columns are: each is within 5 %
// (one standard error) of what all would say.
const errorDraws = 200

// largeStep is Step of the likelihood for more columns than a factorisation is for: H⁻¹ by
// conjugate gradients, and the spread of H⁻¹ξ over draws of ξ, the mean gradient
// (docs/theory/inference.md#eq-conjugate-gradients): by the rows, that of rows with random
// signs; by the model, that of rows drawn from it under the table's gaps.
func (p Problem) largeStep() (*Estimate, error) {
	n, err := newNormal(p.Mean, p.Precision)
	if err != nil {
		return nil, err
	}
	multiply, err := graph.NewProduct()
	if err != nil {
		return nil, err
	}
	o, err := newOperator(p.Table, n)
	if err != nil {
		return nil, err
	}
	z := make([]float64, o.rows*o.d)
	for a, i := range o.tableRows {
		floats.SubTo(z[a*o.d:(a+1)*o.d], p.Table.Values[i*o.d:(i+1)*o.d], n.mu)
	}
	delta := o.completed(multiply, z)
	gradient := o.gradient(multiply, delta)
	x, err := o.solve(multiply, gradient)
	if err != nil {
		return nil, err
	}
	e := &Estimate{Precision: mat.NewSymDense(o.d, floats.SubTo(make([]float64, o.d*o.d), o.p, x))}
	if e.Mean, err = o.meanStep(multiply, n, delta); err != nil {
		return nil, err
	}
	draws, err := p.draws(o, n, delta, gradient)
	if err != nil {
		return nil, err
	}
	contrasts := e.contrasts()
	variances := make([]float64, len(contrasts))
	err = each(p.Workers, len(contrasts), func(_ graph.Product[float64], i int) error {
		c := contrasts[i]
		for _, u := range draws {
			v := c.w[0]*u[c.j] + c.w[1]*u[o.d+c.pair] + c.w[2]*u[c.k]
			variances[i] += v * v / errorDraws
		}
		return nil
	})
	e.errors(contrasts, variances)
	return e, err
}

// draws are H⁻¹ξ of each draw: its diagonal (d), then its pairs.
func (p Problem) draws(o *operator, n *normal, delta, gradient []float64) ([][]float64, error) {
	l, err := lower(n)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, errorDraws)
	return out, each(p.Workers, errorDraws, func(multiply graph.Product[float64], draw int) error {
		rng := stream.New(p.Seed, stream.Replicate, uint64(draw))
		var xi []float64
		if p.Robust {
			signs := make([]float64, o.rows)
			for i := range signs {
				signs[i] = float64(2*rng.IntN(2) - 1)
			}
			xi = o.signed(multiply, delta, gradient, signs)
		} else {
			xi = o.gradient(multiply, o.completed(multiply, o.draw(multiply, l, rng.NormFloat64)))
		}
		u, err := o.solve(multiply, xi)
		if err != nil {
			return err
		}
		for j := range o.d {
			out[draw] = append(out[draw], u[j*o.d+j])
		}
		for j := range o.d {
			out[draw] = append(out[draw], u[j*o.d+j+1:(j+1)*o.d]...)
		}
		return nil
	})
}

// gradient is the mean of the rows' ½(δ̂δ̂ᵀ − Σ̃).
func (o *operator) gradient(multiply graph.Product[float64], delta []float64) []float64 {
	g := make([]float64, o.d*o.d)
	multiply(true, false, o.d, o.d, o.rows, delta, delta, g)
	floats.Scale(0.5/float64(o.rows), g)
	floats.AddScaled(g, -0.5, o.mean)
	return g
}

// signed is the mean of the rows' gradients less their mean, each times its sign.
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

// draw are rows (rows, d) of N(0, Σ), Σ = LLᵀ.
func (o *operator) draw(multiply graph.Product[float64], l []float64, normal func() float64) []float64 {
	noise, rows := make([]float64, o.rows*o.d), make([]float64, o.rows*o.d)
	for i := range noise {
		noise[i] = normal()
	}
	multiply(false, true, o.rows, o.d, o.d, noise, l, rows)
	return rows
}

// lower is L of Σ = LLᵀ.
func lower(n *normal) ([]float64, error) {
	var c mat.Cholesky
	if !c.Factorize(n.sigma) {
		return nil, ErrSingular
	}
	var l mat.TriDense
	c.LTo(&l)
	return mat.DenseCopyOf(&l).RawMatrix().Data, nil
}

// meanStep is the step of the mean, whose expected Hessian mean PΣ̃P = PS̄P has no part with P's.
func (o *operator) meanStep(multiply graph.Product[float64], n *normal, delta []float64) ([]float64, error) {
	sum := make([]float64, o.d)
	for i := range o.rows {
		floats.AddScaled(sum, 1/float64(o.rows), delta[i*o.d:(i+1)*o.d])
	}
	half, step := make([]float64, o.d), make([]float64, o.d) // (PS̄P)⁻¹ P sum = Σ S̄⁻¹ sum
	multiply(false, false, o.d, 1, o.d, o.inverse, sum, half)
	multiply(false, false, o.d, 1, o.d, o.sigma, half, step)
	return floats.AddTo(step, step, n.mu), nil
}

// largeRoom asks for the memory of the largest matrices: those of patterns, and a few of each
// worker's.
func (p Problem) largeRoom() error {
	d := float64(p.Table.D)
	all, rows := groups(p.Table)
	bytes := 0.0
	for _, g := range all {
		m := 0.
		for _, seen := range p.Table.Observed[g[0]*p.Table.D : (g[0]+1)*p.Table.D] {
			if !seen {
				m++
			}
		}
		bytes += m * m
	}
	bytes += float64(max(1, p.Workers)+1) * (12*d*d + 3*float64(rows)*d)
	bytes += errorDraws * d * d / 2
	return memory.Check(8*math.Ceil(bytes), "use --inference bootstrap=N", "one step for %.0f columns", d)
}
