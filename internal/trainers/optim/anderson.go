package optim

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Anderson accelerates an iteration x ← G(x) (Anderson 1965; Walker & Ni 2011): with f = G(x) − x
// and differences Δ between the last Memory + 1 iterates,
//
//	x⁺ = G(x) − ΔG γ,   γ = argmin ‖f − ΔF γ‖
//
// The zero value returns G(x).
type Anderson struct {
	Memory int         // number of earlier iterates
	X, G   [][]float64 // oldest first
}

// Next returns the iterate after x, with g = G(x), and keeps copies.
func (a *Anderson) Next(x, g []float64) []float64 {
	if a.Memory == 0 {
		return slices.Clone(g)
	}
	a.Remember(x, g)
	return a.Ahead()
}

// Remember stores copies without an extrapolation.
func (a *Anderson) Remember(x, g []float64) {
	if len(a.X) > a.Memory {
		a.X, a.G = slices.Clone(a.X[1:]), slices.Clone(a.G[1:])
	}
	a.X, a.G = append(a.X, slices.Clone(x)), append(a.G, slices.Clone(g))
}

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

func (a *Anderson) Forget() { a.X, a.G = nil, nil }

// leastSquares solves min ‖f − Aγ‖ by Gram–Schmidt, applied twice (Björck 1996, §2.4.5), with
// singular values above 1e-10 of the largest; it overwrites a.
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
