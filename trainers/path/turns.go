package path

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/gaussian/pairwise"
)

// turns is the schedule of expectation and minimisation by turns.
type turns struct {
	*Run
	em     em.Turns
	lasso  *em.Lasso
	sparse pairwise.Lasso // in its place while few of many pairs are not zero
	many   int            // columns, manyColumns
	looked bool           // whether the rows of many columns have no gap: em.Known
}

func newTurns(r *Run) *turns {
	t := &turns{Run: r, em: em.Turns{Engine: r.Engine, Model: r.model, Rows: r.rows, Bounds: &r.posdef}, lasso: em.NewLasso(r.Table.D), many: manyColumns}
	t.lasso.Workers = r.Engine.Config.Workers
	if r.Table.D >= t.many {
		t.em.MostGain = 2*float64(r.Table.RowCount())/r.meanPairs() - 1
	}
	return t
}

// iterate makes turns at λ_k until P moves no more, or MaxIter.
func (t *turns) iterate(ctx context.Context, k int) error {
	s := &t.State.Turns
	if t.State.Block.Start == nil {
		if err := t.begin(ctx, k); err != nil {
			return err
		}
	}
	observe := func(done int) {
		t.Report(engine.Progress{Stage: "path", Unit: "λ", Iteration: done, Total: len(t.lambdas), Lambda: t.lambdas[k],
			Edges: t.edges(), Loss: s.Loss / float64(t.Table.D), EffectiveSize: math.NaN()})
	}
	for s.Count == 0 || s.Count < t.Config.MaxIter && !t.stands(t.Config.StopTol) {
		err := t.next(ctx, k)
		if engine.Diverged(err) && k > 0 {
			t.runaway(k)
			break
		}
		if err != nil {
			return err
		}
		observe(k)
	}
	if s.Solved != nil {
		t.em.Settle(s)
	}
	observe(k + 1)
	return nil
}

// next makes the next turn at λ_k.
func (t *turns) next(ctx context.Context, k int) error {
	if t.State.Turns.Lead.Gain > 0 {
		lambda := t.lambdas[k] * t.scale()
		t.lasso.Tolerance = t.within(t.Config.StopTol)
		return t.em.Onward(ctx, &t.State.Turns, func(packed, s []float64) bool { return t.minimise(ctx, packed, s, lambda, lambda) })
	}
	previous := math.Inf(1)
	if t.State.Turns.Count == 0 && k > 0 {
		previous = t.lambdas[k-1]
	}
	return t.turn(ctx, t.lambdas[k], previous, t.Config.StopTol)
}

// begin prepares the turns at λ_k. Of many columns they start where the moments at the last λ
// lead to. When ctx is done it has done nothing, and returns ctx's error.
func (t *turns) begin(ctx context.Context, k int) error {
	t.predict(k)
	start, next := slices.Clone(t.packed()), t.State.Turns.Next()
	next.Anderson.Memory = em.Memory
	if t.em.MostGain != 0 && k > 0 {
		t.look()
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

// scale is by how much the path's loss, ψ/d, is less than the minimisation's ψ/2.
func (t *turns) scale() float64 { return float64(t.Table.D) / 2 }

// runaway ends a path at λ_k, below which there is no minimum, as where one column is a
// sum of others: what is left is the point before, unfinished.
func (t *turns) runaway(k int) {
	before := t.State.Points[k-1]
	copy(t.packed(), before.Precision(t.Table.D))
	copy(t.model.Location.Value, before.Linear)
	t.State.Turns = em.State{Count: t.State.Turns.Count, Loss: before.Loss * float64(t.Table.D), Movement: math.Inf(1)}
	t.State.Runaway = true
}

// turn makes one turn at λ, whose minimisation starts from the solution for the λ before; P
// is to move by less than tolerance in the end.
func (t *turns) turn(ctx context.Context, lambda, previous, tolerance float64) error {
	scale := t.scale()
	t.look()
	t.lasso.Tolerance = t.within(tolerance)
	screen := lambda
	if previous < math.Inf(1) {
		screen = 2*lambda - previous
	}
	return t.em.Turn(ctx, &t.State.Turns, func(packed, s []float64) bool { return t.minimise(ctx, packed, s, lambda*scale, screen*scale) })
}

// look finds out once whether the rows make expectation steps needless.
func (t *turns) look() {
	if t.looked || t.Table.D < t.many {
		return
	}
	t.looked = true
	if mean, cov, ok := t.Engine.CompleteMoments(t.rows); ok {
		t.em.Known = &em.Known{Mean: mean, Covariances: cov}
	}
}

// within is the tolerance of a minimisation where P is to move by less than another in 50 turns.
func (t *turns) within(tolerance float64) float64 {
	most := 1e-6
	if t.Table.D >= t.many {
		most = 3e-6
	}
	return min(most, max(1e-9, 0.01*tolerance/refineBlock))
}

// minimise is the minimisation step at λ.
func (t *turns) minimise(ctx context.Context, packed, s []float64, lambda, screen float64) (ok bool) {
	if t.few(packed) {
		return t.descend(ctx, packed, s, lambda, screen)
	}
	return t.lasso.Minimise(packed, s, lambda, screen)
}

const (
	manyColumns = 100  // from which on it matters how a descent holds P, and where turns start
	fewPairs    = 0.15 // share of the pairs up to which a descent by their neighbours is sooner done than one that holds PS

	// Turns come nearer to their end by about the share of rows that have two columns, which n/n̄
	// makes up for; where other cells tell of the missing ones by more. Up to twice as much is tried.
	firstGain      = 1.5
	aheadTolerance = 3e-5 // of a minimisation that turns start from
)

// few tells whether few of many pairs are not zero.
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

// descend minimises by the neighbours of columns: the same minimum as the lasso's.
func (t *turns) descend(ctx context.Context, packed, s []float64, lambda, screen float64) (ok bool) {
	l := &t.sparse
	l.D, l.S, l.Workers, l.Tolerance, l.Weights = t.Table.D, s, t.Engine.Config.Workers, t.lasso.Tolerance, t.lasso.Weights
	p := pairwise.FromPacked(packed, l.D)
	o, err := l.Minimise(ctx, p, lambda, screen)
	if err != nil || !o.Done {
		return false
	}
	p.ToPacked(packed)
	return true
}

// stands tells whether 50 turns would move nothing by tolerance.
func (t *turns) stands(tolerance float64) bool {
	return refineBlock*t.State.Turns.Movement < tolerance
}

func (t *turns) close(p *Point) {
	s := &t.State.Turns
	p.Loss, p.EffectiveSize = s.Loss/float64(t.Table.D), math.NaN()
	p.Iterations, p.Projections = s.Count, s.Projections
	p.Unfinished = !t.stands(t.Config.StopTol)
	t.State.Iteration += s.Count
	t.State.Projections += s.Projections
}

func (t *turns) moved() string {
	return fmt.Sprintf("would move by at most %.2g in %d EM iterations", t.State.Refine.Movement, refineBlock)
}

// settle makes turns at the chosen λ until P moves no more.
func (t *turns) settle(ctx context.Context) error {
	f, s := &t.State.Refine, &t.State.Turns
	lambda := t.lambda()
	s.Anderson.Memory = em.Memory
	for !f.Done {
		err := t.turn(ctx, lambda, math.Inf(1), t.Config.Tolerance)
		if engine.Diverged(err) {
			return t.giveUp(err)
		}
		if err != nil {
			return err
		}
		f.Iterations, f.Movement, f.Loss, f.Projections = s.Count, refineBlock*s.Movement, s.Loss/float64(t.Table.D), s.Projections
		f.Converged = t.stands(t.Config.Tolerance)
		f.Done = f.Converged || f.Iterations >= t.Config.RefineIter
		t.Report(engine.Progress{Stage: "refine", Unit: "EM iteration", Iteration: f.Iterations, Total: t.Config.RefineIter, Lambda: lambda,
			Edges: t.edges(), Loss: f.Loss, EffectiveSize: math.NaN()})
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
