package path

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/losses"
)

// Refine is the stage after the path: at the chosen λ the iterations go on from
// the path's point until P stands still.
type Refine struct {
	Started    bool
	Index      int // of the chosen point
	Iterations int
	Blocks     int         // finished
	Parts      [][]float64 // sums over the parts of the block under way
	Previous   []float64   // the last block's mean
	Movement   float64     // see movement; accelerated: pathRun.movement
	Lifts      int         // within the last block; accelerated: in all
	Loss       float64     // mean over the last block; accelerated: at the end
	Size       float64     // effective sample size, mean over the last block
	Converged  bool
	Done       bool
	Failure    string // why it was given up; the result is then the path's point
}

const (
	refineBlock  = 50 // iterations
	refineParts  = 5  // of a block, to see the noise of its mean
	refineBlocks = 40 // at most
)

// refine runs what is left of the stage. Iterations that run away cost the stage,
// not the path: the model is then the chosen point again.
func (r *pathRun) refine(ctx context.Context, index int, tolerance float64) error {
	f := &r.state.Refine
	if !f.Started {
		*f = Refine{Started: true, Index: index, Movement: math.Inf(1)}
		r.setPoint(index)
		r.state.Spectral = Spectral{Held: r.state.Points[index].Lifts > 0}
	}
	if r.accelerated() {
		return r.settle(ctx, tolerance)
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
		r.observe(Progress{Stage: "refine", Unit: "iteration", Iteration: made, Total: refineBlock * refineBlocks, Lambda: lambda,
			Edges: r.edges(), Loss: s.Loss, EffectiveSize: s.EffectiveSize})
		if made%refineBlock != 0 {
			continue
		}
		point := r.closeBlock(lambda)
		f.Lifts, f.Size, f.Loss = point.Lifts, point.EffectiveSize, point.Loss
		mean, variance := blockMean(f.Parts)
		if !r.method.Draws { // without noise all of a block's variance is movement
			clear(variance)
		}
		f.Movement = movement(f.Previous, mean, variance)
		f.Previous, f.Parts = mean, nil
		f.Blocks++
		f.Converged = f.Movement < tolerance && f.Lifts == 0
		f.Done = f.Converged || f.Blocks == refineBlocks
		if err := r.save(); err != nil {
			return err
		}
	}
	return nil
}

// setPoint puts the model to a point of the path.
func (r *pathRun) setPoint(index int) {
	copy(r.packed(), r.state.Points[index].Packed)
	copy(r.model.Location.Value, r.state.Points[index].Linear)
}

// giveUp ends the stage with the path's point.
func (r *pathRun) giveUp(why error) error {
	f := &r.state.Refine
	r.take(f.Index)
	f.Failure, f.Done = why.Error(), true
	return r.save()
}

// take makes a point of the path the result.
func (r *pathRun) take(index int) {
	r.setPoint(index)
	f, point := &r.state.Refine, r.state.Points[index]
	f.Index, f.Size, f.Loss = index, point.EffectiveSize, point.Loss
}

// numerical says whether a step failed for what P has become.
func numerical(err error) bool {
	var diverged *DivergedError
	return errors.As(err, &diverged) || errors.Is(err, losses.ErrNotPositiveDefinite)
}

// settle is refine for the accelerated schedule: P stands still when plain steps
// would hardly move it.
func (r *pathRun) settle(ctx context.Context, tolerance float64) error {
	f := &r.state.Refine
	lambda := r.lambdas[f.Index]
	for !f.Done {
		err := r.open(lambda)
		if numerical(err) {
			return r.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Movement, f.Loss, f.Lifts = r.movement(lambda), r.state.Spectral.Loss, r.state.Block.Lifts
		f.Converged = r.stands(lambda, tolerance)
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
		r.observe(Progress{Stage: "refine", Unit: "iteration", Iteration: f.Iterations, Total: refineBlock * refineBlocks, Lambda: lambda,
			Edges: r.edges(), Loss: r.state.Spectral.Loss, EffectiveSize: math.NaN()})
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
