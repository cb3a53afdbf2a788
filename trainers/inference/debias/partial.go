package debias

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// contrast is a sum of three parameters, Σ_b w_b θ_{at_b}; the first of them is first in θ. It
// is the slope of a partial correlation by P_jj, P_jk and P_kk.
type contrast struct {
	at   [3]int
	w    [3]float64
	j, k int
	pair int // its place among all pairs
}

// variances are those of contrasts of θ̃: by the model wᵀH⁻¹VH⁻¹w/n or, where V is H,
// wᵀH⁻¹w/n; or by the rows, the variance over them of wᵀH⁻¹g_i, over n. With sampling weights n
// is the effective number of rows, and the rows' g_i are weighted
// (docs/theory/weights.md#eq-weighted-sandwich).
func (m *moments) variances(h *factor, contrasts []contrast, rows bool) (out []float64, err error) {
	n := float64(m.n)
	switch {
	case rows && m.outer != nil && m.outer.err != nil:
		return nil, m.outer.err
	case rows && m.outer != nil:
		return h.quadratic(contrasts, m.outer.sum, 1/n/n)
	case rows:
		return m.rowVariances(h, contrasts)
	}
	var v []float64
	if m.variance != nil {
		v = mat.DenseCopyOf(m.variance).RawMatrix().Data
	}
	return h.quadratic(contrasts, v, m.squares/m.total/m.total)
}

// quadratic is wᵀH⁻¹VH⁻¹w, times a number, of each contrast; V = H where v is nil.
func (h *factor) quadratic(contrasts []contrast, v []float64, times float64) (out []float64, err error) {
	size := h.n
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
			out[at+i%count] += value * y[i] * times
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

// contrasts fills in partial correlations, and gives their slopes
// (docs/theory/inference.md#eq-partial-correlation-se): with r = √(P_jj P_kk)
//
//	ρ = −P_jk/r,   ∂ρ/∂P_jk = −1/r,   ∂ρ/∂P_jj = −ρ/(2P_jj)
//
// ρ does not change with the units of the columns, so their scales bring no error of their own.
func (e *Estimate) contrasts() (out []contrast) {
	p := e.Precision
	d := p.SymmetricDim()
	for j := range d {
		for k := j + 1; k < d; k++ {
			pair := len(e.Partial)
			e.Partial, e.SE = append(e.Partial, math.NaN()), append(e.SE, math.NaN())
			jj, kk := p.At(j, j), p.At(k, k)
			if !(jj > 0 && kk > 0) {
				continue
			}
			r := math.Sqrt(jj) * math.Sqrt(kk)
			rho := 0 - p.At(j, k)/r // not −0
			e.Partial[pair] = rho
			out = append(out, contrast{
				at: [3]int{d + graph.PackedIndex(d, j, j), d + graph.PackedIndex(d, j, k), d + graph.PackedIndex(d, k, k)},
				w:  [3]float64{-rho / 2 / jj, -1 / r, -rho / 2 / kk}, j: j, k: k, pair: pair})
		}
	}
	return out
}

// errors fills in the standard errors of contrasts, which are of partial correlations.
func (e *Estimate) errors(contrasts []contrast, variances []float64) {
	for i, c := range contrasts {
		e.SE[c.pair] = math.Sqrt(variances[i])
	}
}

// partial fills in partial correlations and, by the delta method, their standard errors.
func (e *Estimate) partial(m *moments, h *factor, rows bool) error {
	contrasts := e.contrasts()
	variances, err := m.variances(h, contrasts, rows)
	if err == nil {
		e.errors(contrasts, variances)
	}
	return err
}
