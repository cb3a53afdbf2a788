package debias

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// spread gives the variance of Σ_b w_b θ̃_{at_b}.
type spread func(at [3]int, w [3]float64) float64

// spread is that by the model, cov = H⁻¹VH⁻¹/n or, where V is H, H⁻¹/n; or by the rows, the
// variance of u_i = H⁻¹ g_i over n.
func (m *moments) spread(h *mat.Cholesky, rows bool) (spread, error) {
	n := float64(m.n)
	if rows {
		var u mat.Dense
		if h.SolveTo(&u, m.rows.Slice(0, m.n, 0, len(m.gradient)).T()) != nil {
			return nil, ErrSingular
		}
		return func(at [3]int, w [3]float64) float64 {
			x, y, z := u.RawRowView(at[0]), u.RawRowView(at[1]), u.RawRowView(at[2])
			sum, squares := 0.0, 0.0
			for i := range x {
				v := w[0]*x[i] + w[1]*y[i] + w[2]*z[i]
				sum += v
				squares += v * v
			}
			return (squares - sum*sum/n) / n / n
		}, nil
	}
	var cov mat.SymDense
	if m.variance == nil {
		if h.InverseTo(&cov) != nil {
			return nil, ErrSingular
		}
	} else {
		var half, whole mat.Dense
		if h.SolveTo(&half, m.variance) != nil || h.SolveTo(&whole, half.T()) != nil {
			return nil, ErrSingular
		}
		cov = *symmetric(&whole)
	}
	return func(at [3]int, w [3]float64) (v float64) {
		for a, i := range at {
			for b, j := range at {
				v += w[a] * w[b] * cov.At(i, j)
			}
		}
		return v / n
	}, nil
}

// partial fills in partial correlations and, by the delta method, their standard errors
// (docs/theory/inference.md#eq-partial-correlation-se): with r = √(P_jj P_kk)
//
//	ρ = −P_jk/r,   ∂ρ/∂P_jk = −1/r,   ∂ρ/∂P_jj = −ρ/(2P_jj)
//
// ρ does not change with the units of the columns, so their scales bring no error of their own.
func (e *Estimate) partial(variance spread) {
	p := e.Precision
	d := p.SymmetricDim()
	for j := range d {
		for k := j + 1; k < d; k++ {
			jj, kk := p.At(j, j), p.At(k, k)
			if !(jj > 0 && kk > 0) {
				e.Partial, e.SE = append(e.Partial, math.NaN()), append(e.SE, math.NaN())
				continue
			}
			r := math.Sqrt(jj) * math.Sqrt(kk)
			rho := 0 - p.At(j, k)/r // not −0
			v := variance([3]int{d + graph.PackedIndex(d, j, k), d + graph.PackedIndex(d, j, j), d + graph.PackedIndex(d, k, k)},
				[3]float64{-1 / r, -rho / 2 / jj, -rho / 2 / kk})
			e.Partial, e.SE = append(e.Partial, rho), append(e.SE, math.Sqrt(v))
		}
	}
}
