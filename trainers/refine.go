package trainers

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Refine is the stage after the path: at the chosen λ the iterations go on from
// the path's point until P stands still. Means over blocks are compared, so
// that the noise of the draws does not hide a standstill.
type Refine struct {
	Started   bool
	Index     int // of the chosen point
	Blocks    int
	Sum       []float64 // over the block under way
	Previous  []float64 // the last block's mean
	Drift     float64   // largest difference of the last two blocks' means
	Lifts     int       // within the last block
	Loss      float64   // mean over the last block
	LossSum   float64
	Size      float64 // effective sample size, mean over the last block
	Converged bool
	Done      bool
}

const (
	refineBlock  = 50
	refineBlocks = 40
)

// refine runs what is left of the stage.
func (r *pathRun) refine(ctx context.Context, index int, tolerance float64) error {
	f := &r.state.Refine
	if !f.Started {
		*f = Refine{Started: true, Index: index, Drift: math.Inf(1), Sum: make([]float64, len(r.packed()))}
		copy(r.packed(), r.state.Points[index].Packed)
	}
	lambda := r.lambdas[f.Index]
	for !f.Done {
		s, err := r.advance(ctx, lambda)
		if err != nil {
			return err
		}
		floats.Add(f.Sum, r.packed())
		f.LossSum += s.Loss
		made := r.state.Iteration - r.iterations()
		r.observe(Progress{Stage: "refine", Iteration: made, Total: refineBlock * refineBlocks, Lambda: lambda,
			Edges: r.edges(), Loss: s.Loss, EffectiveSize: s.EffectiveSize})
		if made%refineBlock != 0 {
			continue
		}
		point := r.closeBlock(lambda, s.Loss)
		f.Lifts, f.Size = point.Lifts, point.EffectiveSize
		f.Loss, f.LossSum = f.LossSum/refineBlock, 0
		mean := slices.Clone(f.Sum)
		floats.Scale(1./refineBlock, mean)
		clear(f.Sum)
		if f.Previous != nil {
			f.Drift = floats.Distance(mean, f.Previous, math.Inf(1))
		}
		f.Previous = mean
		f.Blocks++
		f.Converged = f.Drift < tolerance && f.Lifts == 0
		f.Done = f.Converged || f.Blocks == refineBlocks
		if err := r.save(); err != nil {
			return err
		}
	}
	return nil
}
