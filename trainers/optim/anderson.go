package optim

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Anderson accelerates an iteration x ← G(x) (Anderson 1965; Walker & Ni 2011): with
// f = G(x) − x and differences Δ between the last Memory + 1 iterates,
//
//	x⁺ = G(x) − ΔG γ,   γ = argmin ‖f − ΔF γ‖
//
// It is a plain value: a copy goes on as it does. The zero value remembers nothing and
// returns G(x).
type Anderson struct {
	Memory int         // iterates beside the present one
	X, G   [][]float64 // the last ones, oldest first
}

// Next is the iterate after x with g = G(x). It keeps copies.
func (a *Anderson) Next(x, g []float64) []float64 {
	if a.Memory == 0 {
		return slices.Clone(g)
	}
	a.Remember(x, g)
	return a.Ahead()
}

// Remember keeps copies of x and g = G(x), for an iteration that goes ahead now and then only.
func (a *Anderson) Remember(x, g []float64) {
	if len(a.X) > a.Memory {
		a.X, a.G = slices.Clone(a.X[1:]), slices.Clone(a.G[1:])
	}
	a.X, a.G = append(a.X, slices.Clone(x)), append(a.G, slices.Clone(g))
}

// Ahead is the iterate after the last pair that is remembered; there is one at least.
func (a *Anderson) Ahead() []float64 {
	m := len(a.X) - 1
	x, g := a.X[m], a.G[m]
	next := slices.Clone(g)
	if m == 0 {
		return next
	}
	df, f := make([][]float64, m), floats.SubTo(make([]float64, len(x)), g, x)
	for k := range df {
		df[k] = make([]float64, len(x))
		for i := range x {
			df[k][i] = a.G[k+1][i] - a.X[k+1][i] - a.G[k][i] + a.X[k][i]
		}
	}
	gamma, ok := leastSquares(df, f)
	if !ok {
		return next
	}
	for k, v := range gamma {
		floats.AddScaled(next, -v, a.G[k+1])
		floats.AddScaled(next, v, a.G[k])
	}
	return next
}

// Forget drops what is remembered: for the start of another iteration, or where a step
// led nowhere.
func (a *Anderson) Forget() { a.X, a.G = nil, nil }

// leastSquares solves min ‖f − Aγ‖ by the singular values above 1e-10 of the largest: those
// of R, A = QR by Gram and Schmidt's method, made twice for Q to be orthogonal to rounding
// (Björck 1996, §2.4.5). It is not ok where there is none. The columns of a become Q's.
func leastSquares(a [][]float64, f []float64) (gamma []float64, ok bool) {
	m := len(a)
	r, qf := mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
	for k, q := range a {
		size := floats.Norm(q, 2)
		for range 2 {
			for l := range k {
				by := floats.Dot(a[l], q)
				r.Set(l, k, r.At(l, k)+by)
				floats.AddScaled(q, -by, a[l])
			}
		}
		left := floats.Norm(q, 2)
		if !(left > 1e-14*size) { // rounding only
			clear(q)
			continue
		}
		r.Set(k, k, left)
		floats.Scale(1/left, q)
		qf.SetVec(k, floats.Dot(q, f))
	}
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDThin) {
		return nil, false
	}
	rank := svd.Rank(1e-10)
	if rank == 0 {
		return nil, false
	}
	var out mat.Dense
	svd.SolveTo(&out, qf, rank)
	return mat.Col(nil, 0, &out), true
}
