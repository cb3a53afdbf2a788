package mcem

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Equation is the complete-data equation of ½ψ at θ by the members of a support; U_i is the mean
// over the draws of row i.
type Equation struct {
	Mean   []float64     // U, the mean of U_i; 0 at a root
	Spread *mat.SymDense // V, the second moments of U_i, including the noise of the draws
	Drift  *mat.Dense    // K: see Rows.Equation
}

// Equation returns the equation for rows drawn from the distribution of θ, with
//
//	K = mean over rows of Cov( ∇½ψ, ∇ log q )
//
// an unbiased covariance over each row's draws; 0 for complete rows. The Jacobian of U is Γ + K
// (docs/theory/truncated.md#eq-observed-jacobian).
func (c *Rows) Equation(theta []float64, s *Support) (*Equation, error) {
	p := s.Size()
	cut := func(sums []float64) (mean []float64, spread, drift *mat.Dense) {
		return sums[:p], mat.NewDense(p, p, sums[p:p+p*p]), mat.NewDense(p, p, sums[p+p*p:])
	}
	sums, err := c.summed(p+2*p*p, func(into []float64, from, to int) {
		mean, spread, drift := cut(into)
		u := c.gradients(s, theta, from, to)
		means := c.means(u, from, to)
		for i := range to - from {
			floats.AddScaled(mean, 1/float64(c.Count()), means.RawRowView(i))
		}
		spread.Mul(means.T(), means)
		c.covariance(drift, u, means, c.statistics(s, from, to), from, to)
	})
	mean, spread, drift := cut(sums)
	e := &Equation{Mean: mean, Spread: mat.NewSymDense(p, nil), Drift: drift}
	for a := range p {
		for b := a; b < p; b++ {
			e.Spread.SetSym(a, b, spread.At(a, b)/float64(c.Count()))
		}
	}
	return e, err
}

// statistics returns the gradients of log q: x_j by η_j, −½x_j² by P_jj, −x_jx_k by P_jk.
func (c *Rows) statistics(s *Support, from, to int) *mat.Dense {
	t := mat.NewDense(c.first[to]-c.first[from], s.Size(), nil)
	for k := c.first[from]; k < c.first[to]; k++ {
		x, row := c.x[k*c.d:(k+1)*c.d], t.RawRowView(k-c.first[from])
		for i, e := range s.pairs {
			switch e.k {
			case -1:
				row[i] = x[e.j]
			case e.j:
				row[i] = -0.5 * x[e.j] * x[e.j]
			default:
				row[i] = -x[e.j] * x[e.k]
			}
		}
	}
	return t
}

func (c *Rows) means(u *mat.Dense, from, to int) *mat.Dense {
	_, size := u.Dims()
	out := mat.NewDense(to-from, size, nil)
	for i := from; i < to; i++ {
		row := out.RawRowView(i - from)
		for k := c.first[i]; k < c.first[i+1]; k++ {
			floats.AddScaled(row, 1/float64(c.first[i+1]-c.first[i]), u.RawRowView(k-c.first[from]))
		}
	}
	return out
}

// covariance sums the unbiased covariances of u and t over each row's draws, divided by the number
// of all rows; it centres u in place.
func (c *Rows) covariance(into, u, means, t *mat.Dense, from, to int) {
	for i := from; i < to; i++ {
		r := c.first[i+1] - c.first[i]
		for k := c.first[i]; k < c.first[i+1]; k++ {
			row := u.RawRowView(k - c.first[from])
			if r == 1 {
				clear(row)
				continue
			}
			floats.Sub(row, means.RawRowView(i-from))
			floats.Scale(1/float64((r-1)*c.Count()), row)
		}
	}
	into.Mul(u.T(), t)
}
