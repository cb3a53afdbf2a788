package completed

import (
	"gonum.org/v1/gonum/mat"
)

// gradients are those of ½ψ at θ by a support's members, at the completed rows of the
// table's rows from … to − 1, each
//
//	Σ_j (g_j s_j + ∂_jg_j) z_j − g_j e_jj
func (c *Rows) gradients(s *Support, theta []float64, from, to int) *mat.Dense {
	d, first, n := c.d, c.first[from], c.first[to]-c.first[from]
	var px mat.Dense
	px.Mul(mat.NewDense(n, d, c.x[first*d:(first+n)*d]), precision(d, theta))
	u := mat.NewDense(n, s.Size(), nil)
	for k := range n {
		at := (first + k) * d
		x, g, slope := c.x[at:at+d], c.g[at:at+d], c.slope[at:at+d]
		c.addGradient(u.RawRowView(k), s, px.RawRowView(k), theta, x, g, slope)
	}
	return u
}

// addGradient adds that of one completed row, px being Px.
func (c *Rows) addGradient(into []float64, s *Support, px, theta, x, g, slope []float64) {
	for j, members := range s.columns {
		v := g[j]*(theta[j]-px[j]) + slope[j]
		for _, m := range members {
			switch m.k {
			case -1:
				into[m.number] += v
			case j:
				into[m.number] -= v*x[j] + g[j]
			default:
				into[m.number] -= v * x[m.k]
			}
		}
	}
}
