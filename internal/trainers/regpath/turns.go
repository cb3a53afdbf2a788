package regpath

import (
	"context"
	"math"
	"slices"

	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/gaussian/sparse"
)

type turns struct {
	*problem
	em    em.Turns
	lasso sparse.Lasso
	many  int // manyColumns
}

const (
	manyColumns = 100  // number of columns from which the sparse descent and extrapolated starts are used
	manyTol     = 0.1  // Config.StopTol from there on: networks are as good, in half the iterations
	fewPairs    = 0.15 // share of the pairs up to which the sparse descent is faster

	// EM converges at about the rate of the share of rows with both columns, for which n/n̄
	// compensates; up to twice as much is tried.
	firstGain      = 1.5
	aheadTolerance = 3e-5 // of a minimisation that EM starts from
)

func newTurns(p *problem, many int) *turns {
	t := &turns{problem: p, em: em.Turns{Engine: p.Engine, Model: p.model, Rows: p.rows, Bounds: &p.posdef}, many: many}
	t.lasso = sparse.Lasso{D: p.Table.D, Workers: p.Engine.Config.Workers, Weights: p.weights}
	if p.Table.D >= many || p.again {
		t.em.MostGain = 2*float64(p.Table.RowCount())/meanPairCount(p.Problem) - 1
	}
	return t
}

func (t *turns) iterate(ctx context.Context, k int) (Point, error) {
	s := &t.State.Turns
	if t.State.Block.Start == nil {
		if err := t.begin(ctx, k); err != nil {
			return Point{}, err
		}
	}
	observe := func(done int) {
		t.report("path", "λ", done, len(t.lambdas), t.lambdas[k], s.Loss/float64(t.Table.D), math.NaN())
	}
	for s.Count == 0 || s.Count < t.Config.MaxIter && !t.stands(t.Config.StopTol) {
		err := t.next(ctx, k)
		if engine.Diverged(err) && k > 0 {
			t.runaway(k)
			break
		}
		if err != nil {
			return Point{}, err
		}
		observe(k)
	}
	if s.Solved != nil {
		t.em.Settle(s)
	}
	observe(k + 1)
	p := t.closeBlock(t.lambdas[k])
	p.Loss, p.Iterations, p.Projections = s.Loss/float64(t.Table.D), s.Count, s.Projections
	p.Unfinished, p.Stuck = !t.stands(t.Config.StopTol), math.IsInf(s.Movement, 1)
	t.State.Iteration += s.Count
	return p, nil
}

func (t *turns) next(ctx context.Context, k int) error {
	if t.State.Turns.Lead.Gain > 0 {
		lambda := t.lambdas[k] * t.scale()
		t.lasso.Tolerance = t.within(t.Config.StopTol)
		return t.em.Onward(ctx, &t.State.Turns, func(packed, s []float64) bool { return t.minimise(ctx, packed, s, lambda, lambda) })
	}
	screen := t.lambdas[k]
	if t.State.Turns.Count == 0 && k > 0 {
		screen = 2*screen - t.lambdas[k-1]
	}
	return t.turn(ctx, t.lambdas[k], screen, t.Config.StopTol)
}

// With many columns and for Run.Again iterations start at extrapolated moments. If ctx is done
// nothing changes.
func (t *turns) begin(ctx context.Context, k int) error {
	start, next := slices.Clone(t.packed()), t.State.Turns.Next()
	next.Anderson.Memory = em.Memory
	if t.em.MostGain != 0 && k > 0 {
		t.lasso.Tolerance = aheadTolerance
		by := 0.0
		if k > 1 {
			by = math.Log(t.lambdas[k]/t.lambdas[k-1]) / math.Log(t.lambdas[k-1]/t.lambdas[k-2])
		}
		begun := t.em.Begin(&next, by, func(packed, s []float64) bool {
			return t.minimise(ctx, packed, s, t.lambdas[k]*t.scale(), (2*t.lambdas[k]-t.lambdas[k-1])*t.scale())
		})
		if ctx.Err() != nil {
			copy(t.packed(), start)
			return ctx.Err()
		}
		if t.Table.D < t.many {
			next.Lead.Rate = 0 // of the last λ: too uncertain
		}
		switch {
		case !begun:
			next.Lead.Gain = 0
		case next.Lead.Gain == 0:
			next.Lead.Gain = min(firstGain, t.em.MostGain)
		}
	}
	t.State.Block.Start, t.State.Turns = start, next
	return nil
}

// scale converts from ψ/2 to the path's ψ/d.
func (t *turns) scale() float64 { return float64(t.Table.D) / 2 }

// runaway ends a path below which there is no minimum, as with collinear columns, and returns to
// the previous point.
func (t *turns) runaway(k int) {
	t.setPoint(k - 1)
	t.State.Turns = em.State{Count: t.State.Turns.Count, Loss: t.State.Points[k-1].Loss * float64(t.Table.D), Movement: math.Inf(1)}
}

// tolerance is the final tolerance of P.
func (t *turns) turn(ctx context.Context, lambda, screen, tolerance float64) error {
	t.lasso.Tolerance = t.within(tolerance)
	return t.em.Turn(ctx, &t.State.Turns, func(packed, s []float64) bool {
		return t.minimise(ctx, packed, s, lambda*t.scale(), screen*t.scale())
	})
}

// within returns the tolerance of a minimisation for a movement of P below tolerance in 50
// iterations.
func (t *turns) within(tolerance float64) float64 {
	most := 1e-6
	if t.Table.D >= t.many {
		most = 3e-6
	}
	return min(most, max(1e-9, 0.01*tolerance/refineBlock))
}

func (t *turns) minimise(ctx context.Context, packed, s []float64, lambda, screen float64) (ok bool) {
	t.lasso.S, t.lasso.Dense = s, !t.few(packed)
	p := sparse.FromPacked(packed, t.Table.D)
	o, err := t.lasso.Minimise(ctx, p, lambda, screen)
	if err != nil || !o.Done {
		return false
	}
	p.ToPacked(packed)
	return true
}

func (t *turns) few(packed []float64) bool {
	if t.Table.D < t.many {
		return false
	}
	most := int(fewPairs * float64(len(packed)))
	for _, v := range packed {
		if v != 0 {
			most--
		}
	}
	return most >= 0
}

func (t *turns) stands(tolerance float64) bool {
	return refineBlock*t.State.Turns.Movement < tolerance
}

func (t *turns) settle(ctx context.Context, lambda float64) error {
	f, s := &t.State.Refine, &t.State.Turns
	s.Anderson.Memory = em.Memory
	for !f.Done {
		if err := t.turn(ctx, lambda, lambda, t.Config.Tolerance); err != nil {
			return err
		}
		f.Iterations, f.Movement, f.Loss, f.Projections = s.Count, refineBlock*s.Movement, s.Loss/float64(t.Table.D), s.Projections
		f.Converged = t.stands(t.Config.Tolerance)
		f.Done = f.Converged || f.Iterations >= t.Config.RefineIter
		t.report("refine", "EM iteration", f.Iterations, t.Config.RefineIter, lambda, f.Loss, math.NaN())
		if f.Done {
			t.em.Settle(s)
		}
		if f.Done || f.Iterations%refineBlock == 0 {
			if err := t.save(); err != nil {
				return err
			}
		}
	}
	return nil
}
