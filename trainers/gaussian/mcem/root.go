package mcem

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
	"missingscore/trainers/optim"
)

// Root is where turns of drawing and minimising came to.
type Root struct {
	Theta    []float64 // that the last rows were drawn from
	Rows     *Rows
	Form     *Form     // of Rows
	Next     []float64 // of least loss, its P kept positive definite
	Turns    int
	Movement float64 // by how much the last turn moved an element of P, at most
	Bounded  bool    // P had to be kept positive definite in the last turn

	on *Support
}

const (
	rootMemory   = 4  // turns that the acceleration remembers
	rootPatience = 10 // turns in a row that come no nearer: what is left is the jumps of draws by rejection
)

// Root solves the complete-data equation U(θ) = 0 on a support: in turns, rows are completed
// by the distribution of the present θ, which is then put to the least loss of these rows
// (docs/theory/complete-data.md#eq-complete-data), accelerated by Anderson's method. It
// starts from the model's parameters without those off the support, keeps P within bounds,
// and ends when a turn moves no element of P by tolerance, when turns come no nearer, or
// after so many of them. The model is then put to Root.Next. It is not ok where the loss has
// no minimum.
func (s Setting) Root(ctx context.Context, m *model.Gaussian, on *Support, bounds *optim.PositiveDefinite, tolerance float64, turns int) (r *Root, ok bool, err error) {
	Put(m, on.spread(on.of(Parameters(m))))
	bounds.Project(m)
	r = &Root{Theta: Parameters(m), Movement: math.Inf(1), on: on}
	next := optim.Anderson{Memory: rootMemory}
	for least, nearest := math.Inf(1), 0; ; {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		before := r.Movement
		if ok, err = s.turn(r, m, bounds); err != nil || !ok {
			return nil, false, err
		}
		if r.Movement > 2*before {
			next.Forget()
		}
		if r.Movement < least {
			least, nearest = r.Movement, r.Turns
		}
		if r.Movement < tolerance || r.Turns == turns || r.Turns == nearest+rootPatience {
			return r, true, nil
		}
		r.Theta = next.Next(r.Theta, r.Next)
		if Put(m, r.Theta); !bounds.Inside(m) {
			next.Forget()
			r.Theta = r.Next
			Put(m, r.Theta)
		}
	}
}

// turn draws from the model, which is at Theta, and puts it to Next.
func (s Setting) turn(r *Root, m *model.Gaussian, bounds *optim.PositiveDefinite) (ok bool, err error) {
	if r.Rows, err = s.Draw(m); err != nil {
		return false, err
	}
	if r.Form, err = r.Rows.Form(); err != nil {
		return false, err
	}
	to, _, _, ok := r.Form.Minimum(r.on)
	if !ok {
		return false, nil
	}
	Put(m, to)
	r.Bounded = bounds.Project(m)
	d := m.Dim()
	r.Next = append(to[:d:d], m.Packed.Value...)
	r.Movement = 0
	for i := d; i < len(to); i++ {
		r.Movement = max(r.Movement, math.Abs(r.Next[i]-r.Theta[i]))
	}
	if r.Turns++; s.Observe != nil {
		s.Observe(r.Turns)
	}
	return true, nil
}

// Newton is the step J⁻¹U from Theta against the equation, J the observed Jacobian Γ + K,
// by the support's members, with the equation. It is not ok where J is singular.
func (r *Root) Newton() (step []float64, jacobian *mat.LU, e *Equation, ok bool, err error) {
	if e, err = r.Rows.Equation(r.Theta, r.on); err != nil {
		return nil, nil, nil, false, err
	}
	var sum mat.Dense
	sum.Add(e.Drift, r.Form.Curvature(r.on))
	jacobian = new(mat.LU)
	if jacobian.Factorize(&sum); math.IsInf(jacobian.Cond(), 1) {
		return nil, nil, e, false, nil
	}
	var solved mat.VecDense
	_ = jacobian.SolveVecTo(&solved, false, mat.NewVecDense(len(e.Mean), e.Mean)) // of the condition above
	return solved.RawVector().Data, jacobian, e, true, nil
}

// Remaining is by how much a Newton step would move an element of P on the support, root
// mean square; +Inf where there is no such step.
func (r *Root) Remaining() (float64, error) {
	step, _, _, ok, err := r.Newton()
	if err != nil || !ok {
		return math.Inf(1), err
	}
	sum, n := 0.0, 0.0
	for i, p := range r.on.pairs {
		if p.k >= 0 {
			sum, n = sum+step[i]*step[i], n+1
		}
	}
	return math.Sqrt(sum / n), nil
}
