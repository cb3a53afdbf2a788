package path

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/losses"
	"missingscore/trainers/engine"
)

// Refine is the stage after the path: at the chosen λ the iterations go on from
// the path's point until P stops changing.
type Refine struct {
	Started     bool
	Index       int // of the chosen point
	Iterations  int
	Blocks      int         // finished
	Parts       [][]float64 // sums over the parts of the block under way
	Previous    []float64   // the last block's mean
	Movement    float64     // see movement; accelerated: Run.movement
	Projections int         // within the last block; accelerated: in all
	Loss        float64     // mean over the last block; accelerated: at the end
	Size        float64     // effective sample size, mean over the last block
	Converged   bool
	Done        bool
	Failure     string // why it was given up; the result is then the path's point
}

const (
	refineBlock  = 50 // iterations
	refineParts  = 5  // of a block, to see the noise of its mean
	refineBlocks = 40 // at most
)

// refine runs what is left of the stage. Iterations that diverge cost the stage,
// not the path: the model is then the chosen point again.
func (r *Run) refine(ctx context.Context, index int) error {
	f := &r.State.Refine
	if !f.Started {
		*f = Refine{Started: true, Index: index, Movement: math.Inf(1)}
		r.setPoint(index)
		r.State.Spectral = Spectral{Projected: r.State.Points[index].Projections > 0}
	}
	if r.accelerated() {
		return r.settle(ctx)
	}
	lambda := r.lambdas[f.Index]
	for !f.Done {
		s, err := r.advance(ctx, lambda)
		if numerical(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Iterations++
		made := f.Iterations
		if (made-1)%(refineBlock/refineParts) == 0 {
			f.Parts = append(f.Parts, make([]float64, len(r.packed())))
		}
		floats.Add(f.Parts[len(f.Parts)-1], r.packed())
		r.Report(engine.Progress{Stage: "refine", Unit: "iteration", Iteration: made, Total: refineBlock * refineBlocks, Lambda: lambda,
			Edges: r.edges(), Loss: s.Loss, EffectiveSize: s.EffectiveSize})
		if made%refineBlock != 0 {
			continue
		}
		point := r.closeBlock(lambda)
		f.Projections, f.Size, f.Loss = point.Projections, point.EffectiveSize, point.Loss
		mean, variance := blockMean(f.Parts)
		if !r.Estimator.Draws() { // without noise all of a block's variance is movement
			clear(variance)
		}
		f.Movement = movement(f.Previous, mean, variance)
		f.Previous, f.Parts = mean, nil
		f.Blocks++
		f.Converged = f.Movement < r.Config.Tolerance && f.Projections == 0
		f.Done = f.Converged || f.Blocks == refineBlocks
		if err := r.save(); err != nil {
			return err
		}
	}
	return nil
}

// setPoint puts the model to a point of the path.
func (r *Run) setPoint(index int) {
	copy(r.packed(), r.State.Points[index].Packed)
	copy(r.model.Location.Value, r.State.Points[index].Linear)
}

// giveUp ends the stage with the path's point.
func (r *Run) giveUp(why error) error {
	f := &r.State.Refine
	r.take(f.Index)
	f.Failure, f.Done = why.Error(), true
	return r.save()
}

// take makes a point of the path the result.
func (r *Run) take(index int) {
	r.setPoint(index)
	f, point := &r.State.Refine, r.State.Points[index]
	f.Index, f.Size, f.Loss = index, point.EffectiveSize, point.Loss
}

// numerical says whether a step failed for what P has become.
func numerical(err error) bool {
	var diverged *engine.DivergedError
	return errors.As(err, &diverged) || errors.Is(err, losses.ErrNotPositiveDefinite)
}

// settle is refine for the accelerated schedule: P stops changing when proximal gradient steps
// would hardly move it.
func (r *Run) settle(ctx context.Context) error {
	f := &r.State.Refine
	lambda := r.lambdas[f.Index]
	for !f.Done {
		err := r.open(lambda)
		if numerical(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Movement, f.Loss, f.Projections = r.movement(lambda), r.State.Spectral.Loss, r.State.Block.Projections
		f.Converged = r.stands(lambda, r.Config.Tolerance)
		if f.Done = f.Converged || f.Iterations == refineBlock*refineBlocks; f.Done {
			return r.save()
		}
		err = r.accelerate(ctx, lambda)
		if numerical(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Iterations++
		r.Report(engine.Progress{Stage: "refine", Unit: "iteration", Iteration: f.Iterations, Total: refineBlock * refineBlocks, Lambda: lambda,
			Edges: r.edges(), Loss: r.State.Spectral.Loss, EffectiveSize: math.NaN()})
		if f.Iterations%refineBlock == 0 {
			if err := r.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// blockMean is the mean of a block's iterates and the variance of that mean,
// judged from its parts, which unlike single iterates are hardly correlated.
// It turns the sums in parts into means.
func blockMean(parts [][]float64) (mean, variance []float64) {
	mean, variance = make([]float64, len(parts[0])), make([]float64, len(parts[0]))
	for _, p := range parts {
		floats.Scale(float64(refineParts)/refineBlock, p)
		floats.AddScaled(mean, 1./refineParts, p)
	}
	for _, p := range parts {
		for i, v := range p {
			variance[i] += (v - mean[i]) * (v - mean[i]) / (refineParts * (refineParts - 1))
		}
	}
	return mean, variance
}

// movement is how far P went from one block's mean to the next: the root mean
// square over entries that are not zero, with the part that the noise of the
// draws explains (the two means' variances) taken out. +Inf before the second block.
func movement(before, mean, variance []float64) float64 {
	if before == nil {
		return math.Inf(1)
	}
	sum, n := 0.0, 0
	for i, v := range mean {
		if v == 0 && before[i] == 0 {
			continue
		}
		sum += (v-before[i])*(v-before[i]) - 2*variance[i]
		n++
	}
	return math.Sqrt(math.Max(sum, 0) / float64(max(n, 1)))
}
