package debias

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// moments are the sums over rows for one step at θ = (μ, packed P).
type moments struct {
	effective float64   // number of rows; with sampling weights the effective sample size
	gradient  []float64 // mean
	hessian   []float64 // expected under MCAR (parameters, parameters), the lower triangle
	own       []float64 // observed minus expected Hessian, likewise; nil unless Problem.Own
}

func parameters(d int) int { return d + d*(d+1)/2 }

// moments returns the moments of the problem's equation. The expected Hessian of the likelihood is
// also the model covariance of a gradient,
//
//	dμᵀPΣ̃P dμ + ½ tr(dP Σ̃ dP Σ̃)
//
// The expected Hessian of the marginal loss, under MCAR, is
//
//	2 dμᵀPBP dμ + 2 tr(dP Σ̃ dP B)
//
// The observed Hessian of the likelihood exceeds the expected one by
// (docs/theory/inference.md#eq-observed)
//
//	tr(dP C dP (Σ̃ − δ̂δ̂ᵀ)) − 2 dμᵀ(I − PC) dP δ̂
//
// with mean 0 under MCAR but not under MAR.
func (p Problem) moments(multiply graph.Product[float64], o *rows) *moments {
	d, size := o.d, parameters(o.d)
	m := &moments{effective: o.total, gradient: make([]float64, size)}
	if p.Table.Weights != nil {
		m.effective = o.total * o.total / floats.Dot(o.weight, o.weight)
	}
	gradients{o, p.Equation}.each(multiply, 0, len(o.of), func(i int, row []float64) { floats.AddScaled(m.gradient, o.weight[i]/o.total, row) })
	second := newForm(d, p.Workers)
	var own *form
	if p.Own {
		own = newForm(d, p.Workers)
	}
	location := mat.NewSymDense(d, nil) // mean of Σ̃, or of 2B
	for k := range o.patterns {
		q := &o.patterns[k]
		s := o.spread(q)
		var b mat.SymDense
		if p.Equation == Likelihood {
			b.ScaleSym(q.share, s)
			second.add(q.share/2, s, s)
		} else {
			_, w := o.residual(q)
			b.SymOuterK(2*q.share, w)
			second.add(1, s, &b)
		}
		if location.AddSym(location, &b); p.Own {
			o.addOwn(q, s, own)
		}
	}
	if m.hessian = second.finish(); p.Own {
		m.own = own.finish()
	}
	var around mat.Dense
	around.Product(mat.NewDense(d, d, o.p), location, mat.NewDense(d, d, o.p))
	for j := range d {
		for k := range j + 1 {
			m.hessian[j*size+k] = (around.At(j, k) + around.At(k, j)) / 2
		}
	}
	return m
}

// addOwn adds a pattern's observed minus expected Hessian.
func (o *rows) addOwn(q *pattern, s *mat.SymDense, own *form) {
	d := o.d
	sum, second := make([]float64, d), mat.NewSymDense(d, nil)
	second.CopySym(s)
	for i := q.first; i < q.last; i++ {
		by, delta := o.weight[i]/o.total, o.delta[i*d:(i+1)*d]
		floats.AddScaled(sum, by, delta)
		second.SymRankOne(second, -by/q.share, mat.NewVecDense(d, delta))
	}
	c, w := o.residual(q)
	own.add(q.share, c, second)
	for j := range d { // W = I − CP
		for k := j; k < d; k++ {
			row := own.sums[(d+graph.PackedIndex(d, j, k))*own.size:][:d]
			floats.AddScaled(row, -sum[k], w.RawRowView(j))
			if j != k {
				floats.AddScaled(row, -sum[j], w.RawRowView(k))
			}
		}
	}
}

// form is a quadratic form of symmetric matrices dP (d, d),
//
//	F(dP) = Σ_i w_i tr(dP X_i dP Y_i)
//
// stored as T[ab, ce] = ½ Σ_i w_i (X_i,ab Y_i,ce + Y_i,ab X_i,ce) over packed pairs.
type form struct {
	d, size, workers int
	sums             []float64 // (size, size): the lower triangle of T, then K, from row and column d on
	x, y             []float64 // pending X and Y by pairs (size, formTogether), the first d rows 0
	count            int
}

func newForm(d, workers int) *form {
	size := parameters(d)
	return &form{d: d, size: size, workers: workers, sums: make([]float64, size*size),
		x: make([]float64, size*formTogether), y: make([]float64, size*formTogether)}
}

func (f *form) at(i, j int) *float64 { return &f.sums[max(i, j)*f.size+min(i, j)] }

const formTogether = 256 // matrices per product

func (f *form) add(w float64, x, y *mat.SymDense) {
	if x != y {
		f.column(w/2, x, y)
		f.column(w/2, y, x)
		return
	}
	f.column(w, x, x)
}

func (f *form) column(w float64, x, y *mat.SymDense) {
	at := f.d*formTogether + f.count
	for j := range f.d {
		for k := j; k < f.d; k++ {
			f.x[at], f.y[at] = w*x.At(j, k), y.At(j, k)
			at += formTogether
		}
	}
	if f.count++; f.count == formTogether {
		f.flush()
	}
}

func (f *form) flush() {
	blocks(f.workers, f.size, func(multiply graph.Product[float64], at, count int) {
		end := at + count
		product := make([]float64, count*end)
		multiply(false, true, count, end, formTogether, f.x[at*formTogether:end*formTogether], f.y[:end*formTogether], product)
		for i := range count {
			floats.Add(f.sums[(at+i)*f.size:][:end], product[i*end:(i+1)*end])
		}
	})
	clear(f.x)
	f.count = 0
}

// finish returns K of F = pᵀKp, where p is packed dP, whose off-diagonal coordinates stand
// for two cells: with c_ab = 1 if a = b, else 2,
//
//	K[ab, ce] = ½ c_ab c_ce (T[ac, be] + T[ae, bc])
func (f *form) finish() []float64 {
	f.flush()
	d := f.d
	for a := range d {
		for b := a; b < d; b++ {
			ab := d + graph.PackedIndex(d, a, b)
			for c := b; c < d; c++ {
				ac, bc := d+graph.PackedIndex(d, a, c), d+graph.PackedIndex(d, b, c)
				for e := c; e < d; e++ {
					ae, be, ce := d+graph.PackedIndex(d, a, e), d+graph.PackedIndex(d, b, e), d+graph.PackedIndex(d, c, e)
					x, y, z := f.at(ab, ce), f.at(ac, be), f.at(ae, bc)
					byX, byY, byZ := *y+*z, *x+*z, *x+*y
					*x, *y, *z = both(a, b)*both(c, e)/2*byX, both(a, c)*both(b, e)/2*byY, both(a, e)*both(b, c)/2*byZ
				}
			}
		}
	}
	return f.sums
}

func both(a, b int) float64 {
	if a == b {
		return 1
	}
	return 2
}
