package mcem

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
	"missingscore/internal/trainers/optim"
)

type Root struct {
	Theta    []float64 // distribution of the last rows
	Rows     *Rows
	Form     *Form     // of Rows
	Next     []float64 // of least loss, P projected
	Turns    int
	Movement float64 // largest change of an element of P by the last iteration
	Bounded  bool    // P was projected in the last iteration

	on *Support
}

const (
	rootMemory   = 4  // memory of the acceleration, in iterations
	rootPatience = 10 // iterations without progress before the end, due to jumps of draws by rejection
)

// Root solves the complete-data equation U(θ) = 0 on a support
// (docs/theory/complete-data.md#eq-complete-data) from the model's parameters, until an iteration
// moves no element of P by tolerance. The model is then at Root.Next. ok is false if the loss has
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

func (s Setting) turn(r *Root, m *model.Gaussian, bounds *optim.PositiveDefinite) (ok bool, err error) {
	if r.Rows, err = s.Draw(m); err != nil {
		return false, err
	}
	if r.Form, err = r.Rows.Form(); err != nil {
		return false, err
	}
	to, _, _, ok := r.Form.minimum(r.on)
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

// Newton returns the step J⁻¹U at Theta, J = Γ + K; ok is false if J is singular.
func (r *Root) Newton() (step []float64, jacobian *mat.LU, e *Equation, ok bool, err error) {
	if e, err = r.Rows.Equation(r.Theta, r.on); err != nil {
		return nil, nil, nil, false, err
	}
	var sum mat.Dense
	sum.Add(e.Drift, r.Form.curvature(r.on))
	jacobian = new(mat.LU)
	if jacobian.Factorize(&sum); math.IsInf(jacobian.Cond(), 1) {
		return nil, nil, e, false, nil
	}
	var solved mat.VecDense
	_ = jacobian.SolveVecTo(&solved, false, mat.NewVecDense(len(e.Mean), e.Mean)) // the condition number was checked above
	return solved.RawVector().Data, jacobian, e, true, nil
}

// Remaining returns the root mean square movement of P on the support by a Newton step; +Inf if
// there is none.
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
