package debias

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// contrast is a sum of three parameters, Σ_b w_b θ_{at_b}; the first of them is first in θ.
type contrast struct {
	at [3]int
	w  [3]float64
}

// variances are those of contrasts of θ̃: by the model wᵀH⁻¹VH⁻¹w/n or, where V is H,
// wᵀH⁻¹w/n; or by the rows, the variance over them of wᵀH⁻¹g_i, over n.
func (m *moments) variances(h *factor, contrasts []contrast, rows bool) (out []float64, err error) {
	if rows {
		return m.rowVariances(h, contrasts)
	}
	size := len(m.gradient)
	var v []float64
	if m.variance != nil {
		v = mat.DenseCopyOf(m.variance).RawMatrix().Data
	}
	out = make([]float64, len(contrasts))
	err = blocks(h.workers, len(contrasts), func(multiply graph.Product[float64], at, count int) {
		x, from := make([]float64, size*count), size
		for a, c := range contrasts[at : at+count] {
			from = min(from, c.at[0])
			for b, i := range c.at {
				x[i*count+a] += c.w[b]
			}
		}
		h.forward(multiply, x, count, from)
		y := x
		if v != nil {
			h.backward(multiply, x, count)
			y = make([]float64, size*count)
			multiply(false, false, size, count, size, v, x, y)
		}
		for i, value := range x {
			out[at+i%count] += value * y[i] / float64(m.n)
		}
	})
	return out, err
}

// rowVariances are those by the rows.
func (m *moments) rowVariances(h *factor, contrasts []contrast) ([]float64, error) {
	size, n := len(m.gradient), float64(m.n)
	sum, squares := make([]float64, len(contrasts)), make([]float64, len(contrasts))
	influence := mat.NewDense(m.n, size, nil)
	err := blocks(h.workers, m.n, func(multiply graph.Product[float64], at, count int) {
		u := make([]float64, size*count)
		for a := range count {
			for i, v := range m.rows.RawRowView(at + a) {
				u[i*count+a] = v
			}
		}
		h.forward(multiply, u, count, 0)
		h.backward(multiply, u, count)
		for a := range count {
			to := influence.RawRowView(at + a)
			for i := range to {
				to[i] = u[i*count+a]
			}
		}
	})
	for i := range m.n {
		u := influence.RawRowView(i)
		for k, c := range contrasts {
			v := c.w[0]*u[c.at[0]] + c.w[1]*u[c.at[1]] + c.w[2]*u[c.at[2]]
			sum[k] += v
			squares[k] += v * v
		}
	}
	for k := range squares {
		squares[k] = (squares[k] - sum[k]*sum[k]/n) / n / n
	}
	return squares, err
}

// partial fills in partial correlations and, by the delta method, their standard errors
// (docs/theory/inference.md#eq-partial-correlation-se): with r = √(P_jj P_kk)
//
//	ρ = −P_jk/r,   ∂ρ/∂P_jk = −1/r,   ∂ρ/∂P_jj = −ρ/(2P_jj)
//
// ρ does not change with the units of the columns, so their scales bring no error of their own.
func (e *Estimate) partial(m *moments, h *factor, rows bool) error {
	p := e.Precision
	d := p.SymmetricDim()
	var contrasts []contrast
	var places []int
	for j := range d {
		for k := j + 1; k < d; k++ {
			e.SE = append(e.SE, math.NaN())
			jj, kk := p.At(j, j), p.At(k, k)
			if !(jj > 0 && kk > 0) {
				e.Partial = append(e.Partial, math.NaN())
				continue
			}
			r := math.Sqrt(jj) * math.Sqrt(kk)
			rho := 0 - p.At(j, k)/r // not −0
			places = append(places, len(e.Partial))
			contrasts = append(contrasts, contrast{
				[3]int{d + graph.PackedIndex(d, j, j), d + graph.PackedIndex(d, j, k), d + graph.PackedIndex(d, k, k)},
				[3]float64{-rho / 2 / jj, -1 / r, -rho / 2 / kk}})
			e.Partial = append(e.Partial, rho)
		}
	}
	variances, err := m.variances(h, contrasts, rows)
	for i, v := range variances {
		e.SE[places[i]] = math.Sqrt(v)
	}
	return err
}
