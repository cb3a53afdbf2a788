package completed

import (
	"context"
	"math"

	"missingscore/graph/model"
	"missingscore/trainers/optim"
)

// Root is where turns of drawing and minimising came to.
type Root struct {
	Rows     *Rows     // drawn from Theta's distribution
	Theta    []float64 // that of the last minimisation
	Form     *Form     // of Rows
	Turns    int
	Movement float64 // by how much the last turn moved an element of P, at most
	Bounded  bool    // P had to be kept positive definite in the last turn
}

const rootMemory = 4 // turns that the acceleration remembers

// Root solves the complete-data equation U(θ) = 0 on a support: in turns, rows are completed
// by the distribution of the present θ, which is then put to the least loss of these rows
// (docs/theory/complete-data.md#eq-complete-data), accelerated by Anderson's method. It
// starts from the model's parameters off the support's zeros, keeps P within bounds, and
// ends when a turn moves no element of P by tolerance, or after so many turns. It is not ok
// where the loss has no minimum. The model is then put to Theta.
func (s Setting) Root(ctx context.Context, m *model.Gaussian, on *Support, bounds *optim.PositiveDefinite, tolerance float64, turns int) (r *Root, ok bool, err error) {
	theta := on.spread(on.of(Parameters(m)))
	Put(m, theta)
	bounds.Project(m)
	theta = Parameters(m)
	r = &Root{Movement: math.Inf(1)}
	next := optim.Anderson{Memory: rootMemory}
	for {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if r.Rows, err = s.Draw(m); err != nil {
			return nil, false, err
		}
		if r.Form, err = r.Rows.Form(); err != nil {
			return nil, false, err
		}
		to, _, _, ok := r.Form.Minimum(on)
		if !ok {
			return nil, false, nil
		}
		Put(m, to)
		r.Bounded = bounds.Project(m)
		to = append(to[:m.Dim():m.Dim()], m.Packed.Value...)
		before := r.Movement
		if r.Movement = moved(theta, to, m.Dim()); r.Movement > 2*before {
			next.Forget()
		}
		r.Turns++
		if s.Observe != nil {
			s.Observe(r.Turns)
		}
		if r.Movement < tolerance || r.Turns == turns {
			r.Theta = to
			return r, true, nil
		}
		theta = next.Next(theta, to)
		if Put(m, theta); !bounds.Inside(m) {
			next.Forget()
			theta = to
			Put(m, theta)
		}
	}
}

// moved is the largest movement of P.
func moved(from, to []float64, d int) (most float64) {
	for i := d; i < len(from); i++ {
		most = max(most, math.Abs(to[i]-from[i]))
	}
	return most
}
