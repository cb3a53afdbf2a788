package path

import (
	"context"
	"fmt"
	"math"

	"missingscore/data/network"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/mcem"
)

// solveTurns is how many turns of drawing and minimising a refit on a domain makes, at most.
const solveTurns = 200

// solves tells whether a refit is the root of the complete-data equation on a domain, by
// turns of drawing and minimising: that is what the estimator's own noisy steps lead to.
func (r *Run) solves() bool {
	return r.Domain.Bounded() && r.Missingness == nil && r.Estimator.Source.Normal && r.Estimator.Loss.Needs().Equation
}

// solveChosen makes the refit of the chosen point the result. It is made in one go: cut, it
// starts again from the point, and comes to the same.
func (r *Run) solveChosen(ctx context.Context) error {
	f, d, index := &r.State.Refine, r.Table.D, r.choice.point
	if f.Done {
		return nil
	}
	p := r.State.Points[index]
	*f = Refine{Started: true, Index: index, Refit: true, Movement: math.Inf(1)}
	m, bounds := r.at(index), r.posdef
	by := r.completing()
	by.Observe = func(turn int) {
		r.Report(engine.Progress{Stage: "refit", Unit: "iteration", Iteration: turn, Total: solveTurns, Lambda: p.Lambda,
			Edges: r.chosenEdges(), Loss: math.NaN(), EffectiveSize: math.NaN()})
	}
	root, ok, err := by.Root(ctx, m, r.chosenSupport(), &bounds, r.Config.Tolerance/10, min(solveTurns, r.Config.RefineIter))
	if err != nil {
		return err
	}
	if f.Done = true; !ok || root.Bounded {
		r.take(index)
		f.Failure = "the refit failed, for the loss of this network has no minimum at a positive definite matrix"
		if err := r.fillLoss(); err != nil {
			return err
		}
		return r.save()
	}
	mcem.Put(r.model, root.Next)
	if f.Movement, err = root.Remaining(); err != nil {
		return err
	}
	f.Iterations, f.Loss, f.Size = root.Turns, root.Form.Loss(root.Next)/float64(d), p.EffectiveSize
	f.Converged = f.Movement < r.Config.Tolerance
	return r.save()
}

// moves says how the entries of P move where the iterations at the chosen λ ended.
func (r *Run) moves() string {
	if f := r.State.Refine; f.Refit && r.solves() {
		return fmt.Sprintf("would move by %.2g in a Newton step (root mean square)", f.Movement)
	}
	return r.schedule.moved()
}

// chosenSupport is that of the chosen edges.
func (r *Run) chosenSupport() *mcem.Support {
	if r.choice.edges == nil {
		return r.support(r.choice.point)
	}
	return mcem.NewSupport(network.Adjacency{D: r.Table.D, Edge: r.choice.edges})
}
