package completed

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Equation is the complete-data equation of ½ψ at θ, by the members of a support.
type Equation struct {
	Rows  *mat.Dense // U_i (rows of the table, members): each the mean over the row's draws
	Drift *mat.Dense // (members, members): see Rows.Equation
}

// Equation gives every row's part U_i in the equation at θ, whose distribution the rows have
// to be drawn from, and how their mean U moves with the distribution drawn from,
//
//	K = mean over rows of Cov( ∇½ψ, ∇ log q )
//
// over each row's draws, without bias: 0 where nothing is missing. U's Jacobian is Γ + K.
func (c *Rows) Equation(theta []float64, s *Support) (*Equation, error) {
	p := s.Size()
	e := &Equation{Rows: mat.NewDense(c.Count(), p, nil)}
	sum, err := c.summed(p*p, func(into []float64, from, to int) {
		u := c.gradients(s, theta, from, to)
		means := e.Rows.Slice(from, to, 0, p).(*mat.Dense)
		c.means(means, u, from, to)
		c.covariance(mat.NewDense(p, p, into), u, means, c.statistics(s, from, to), from, to)
	})
	e.Drift = mat.NewDense(p, p, sum)
	return e, err
}

// statistics are the gradients of log q by a support's members at the completed rows of the
// table's rows from … to − 1: x_j by η_j, −½x_j² by P_jj, −x_jx_k by P_jk.
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

// means fills in those over each row's draws of numbers u at the completed rows.
func (c *Rows) means(into, u *mat.Dense, from, to int) {
	for i := from; i < to; i++ {
		row := into.RawRowView(i - from)
		for k := c.first[i]; k < c.first[i+1]; k++ {
			floats.AddScaled(row, 1/float64(c.first[i+1]-c.first[i]), u.RawRowView(k-c.first[from]))
		}
	}
}

// covariance fills in the sum over the rows from … to − 1, divided by the number of all, of
// the covariance of u and t over each row's draws, without bias. It leaves u without its
// means.
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
