package path

import (
	"context"
	"math"

	"missingscore/graph"
	"missingscore/trainers/gaussian/em"
)

// Refine is the stage after the path: at the chosen λ the iterations go on from
// the path's point until P stops changing.
type Refine struct {
	Started     bool
	Refit       bool // without a penalty
	Index       int  // of the chosen point
	Iterations  int
	Blocks      int         // finished
	Parts       [][]float64 // sums over the parts of the block under way
	Previous    []float64   // the last block's mean
	Movement    float64     // of an element of P in 50 iterations: fixed, from block to block; else, what is to be expected
	Projections int         // within the last block; em: in all
	Loss        float64     // mean over the last block; accelerated and em: at the end
	Size        float64     // effective sample size, mean over the last block
	Shrunk      float64     // moments: the share that correlations were shrunk by
	Stuck       bool        // accelerated: no step leads down, for the loss falls towards a P that is not positive definite
	Converged   bool
	Done        bool
	Failure     string // why it was given up; the result is then the path's point
}

const (
	refineBlock = 50   // iterations
	refineParts = 5    // of a block, to see the noise of its mean
	refineIter  = 2000 // at most
)

// refine runs what is left of the stage. Iterations that diverge cost the stage,
// not the path: the model is then the chosen point again.
func (r *Run) refine(ctx context.Context) error {
	f, index := &r.State.Refine, r.choice.point
	started := f.Started
	if !started {
		*f = Refine{Started: true, Refit: *r.Config.Refit, Index: index, Movement: math.Inf(1)}
	}
	if r.Config.Schedule == Moments { // which goes on from the point itself
		return r.schedule.settle(ctx)
	}
	if !started {
		r.setPoint(index)
		r.State.Spectral, r.State.Turns = Spectral{}, em.State{}
	}
	if f.Refit {
		r.held = r.heldByChoice()
		for i, held := range r.held {
			if held {
				r.packed()[i] = 0
			}
		}
	}
	return r.schedule.settle(ctx)
}

// lambda is that of the stage.
func (r *Run) lambda() float64 {
	if f := r.State.Refine; !f.Refit {
		return r.lambdas[f.Index]
	}
	return 0
}

// heldByChoice says which elements of packed P are a pair's that is not chosen.
func (r *Run) heldByChoice() []bool {
	d := r.Table.D
	if r.choice.edges == nil {
		return r.without(r.State.Points[r.choice.point].Precision(d))
	}
	held := make([]bool, len(r.packed()))
	for j, i := 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			held[graph.PackedIndex(d, j, k)] = !r.choice.edges[i]
		}
	}
	return r.release(held)
}

// chosenEdges is their number.
func (r *Run) chosenEdges() int {
	if r.choice.edges == nil {
		return r.State.Points[r.State.Refine.Index].Edges
	}
	return count(r.choice.edges)
}

// Choice is what there is to say of the choice, "" for nothing.
func (r *Run) Choice() string { return r.choice.words }

// withoutEdge says which elements of a packed P are a pair's that is no edge.
func withoutEdge(packed []float64, d int, threshold float64) []bool {
	held := make([]bool, len(packed))
	for j := range d {
		for k := j + 1; k < d; k++ {
			held[graph.PackedIndex(d, j, k)] = math.Abs(packed[graph.PackedIndex(d, j, k)]) <= threshold
		}
	}
	return held
}

// setPoint puts the model to a point of the path.
func (r *Run) setPoint(index int) {
	if p := r.State.Points[index]; p.Sparse != nil {
		p.Sparse.ToPacked(r.packed())
	} else {
		copy(r.packed(), p.Packed)
	}
	copy(r.model.Location.Value, r.State.Points[index].Linear)
}

// giveUp ends the stage with the path's point.
func (r *Run) giveUp(why error) error {
	f := &r.State.Refine
	r.take(f.Index)
	f.Failure, f.Done = why.Error(), true
	if err := r.fillLoss(); err != nil {
		return err
	}
	return r.save()
}

// take makes a point of the path the result.
func (r *Run) take(index int) {
	if m := r.ofMatrix(); m != nil {
		m.release()
	}
	r.setPoint(index)
	f, point := &r.State.Refine, r.State.Points[index]
	f.Index, f.Size, f.Loss = index, point.EffectiveSize, point.Loss
}
