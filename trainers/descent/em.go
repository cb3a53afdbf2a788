package descent

import (
	"context"
	"fmt"
	"math"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
)

// EM is for normal models and losses that have an expectation step (losses.LossNeeds.Moments):
// EM iterations (package em) over all rows, accelerated, until a
// turn moves nothing by more than Config.Tolerance: no P_jk by as much of √(P_jj P_kk), no μ_j
// by as much of 1/√P_jj; or until only rounding is left (Stall). Its end is maximum
// likelihood's.
type EM struct{}

func (EM) Name() string { return "em" }

// Suits implements Optimiser.
func (o EM) Suits(p Problem) bool { return o.refusal(p) == nil }

func (EM) refusal(p Problem) error {
	if !p.Estimator.Loss.Needs().Moments {
		return fmt.Errorf("the loss of method %s has no expectation step; use another", p.Estimator.Name)
	}
	if _, ok := p.Model.(*model.Gaussian); !ok {
		return fmt.Errorf("EM iterations are for the model gaussian; use adam")
	}
	return nil
}

// Resolve implements Optimiser.
func (o EM) Resolve(c Config, p Problem) (Config, error) {
	if err := o.refusal(p); err != nil {
		return c, setting.Errorf("optimiser", o.Name(), "%v", err)
	}
	reason := fmt.Sprintf("the equation of method %s is solved over all rows at once, without epochs or batches; leave it out, or choose the optimiser adam", p.Estimator.Name)
	if err := c.withoutAdam(reason); err != nil {
		return c, err
	}
	setting.Default(&c.Iterations, defaultIterations)
	setting.Default(&c.Tolerance, defaultTolerance)
	return c, nil
}

// Run implements Optimiser. It saves after each turn.
func (EM) Run(ctx context.Context, f *Fit) error {
	t := em.Turns{Engine: f.Engine, Model: f.Model.(*model.Gaussian), Rows: f.AllRows()}
	f.Condense(t.Rows)
	s := &f.State.EM
	s.Anderson.Memory = em.Memory
	for f.State.Degenerate == nil && (s.Count == 0 || s.Relative > f.Config.Tolerance && s.Count < f.Config.Iterations && !f.State.Stall.reached()) {
		if err := f.turn(ctx, t); err != nil {
			return err
		}
		f.State.Iteration = s.Count
		f.Report(engine.Progress{Stage: "fit", Unit: "EM iteration", Iteration: s.Count, Total: f.Config.Iterations, Loss: s.Loss, EffectiveSize: math.NaN()})
		if err := f.record(Record{Iteration: s.Count, Loss: s.Loss, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: math.NaN(),
			Likelihood: s.Likelihood / float64(f.Table.RowCount()), Movement: s.Relative}); err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	if f.State.Degenerate == nil {
		t.Settle(s)
	}
	return nil
}

// turn makes the next one. Turns whose acceleration leads nowhere, or out of what is a
// distribution, begin again where they started, guarded (em.Turns.Ascend); if these lead
// there too, the likelihood has no maximum.
func (f *Fit) turn(ctx context.Context, t em.Turns) error {
	state, s := f.State, &f.State.EM
	if s.Count == 0 {
		state.Start = t.At()
	}
	var back bool
	var err error
	if state.Guarded {
		back, err = t.Ascend(ctx, s, em.Unpenalised)
	} else {
		err = t.Turn(ctx, s, em.Unpenalised)
	}
	if err != nil && !engine.Diverged(err) {
		return err
	}
	if err == nil && !back {
		state.Stall.note(s)
	}
	done := err == nil && s.Relative <= f.Config.Tolerance
	switch {
	case done:
	case !state.Guarded && (err != nil || state.Stall.wild()):
		f.begin(t)
	case err != nil && len(s.Anderson.X) > 1: // it was the acceleration's
		s.Anderson.Forget()
		t.Settle(s)
	case err != nil:
		withdraw(t, s, err)
		state.Degenerate = f.look(true)
	case s.Count%watchedTurns == 0 || state.Stall.reached():
		if d := f.look(false); d != nil && !state.Guarded {
			f.begin(t)
		} else if d != nil {
			state.Degenerate = d
			t.Settle(s)
		}
	}
	return nil
}

// begin goes back to the start, for guarded turns.
func (f *Fit) begin(t em.Turns) {
	count := f.State.EM.Count
	f.State.Guarded, f.State.Stall = true, Stall{}
	f.State.EM = em.State{Count: count, Movement: math.Inf(1), Relative: math.Inf(1), Loss: f.State.EM.Loss, Likelihood: math.Inf(-1), Anderson: optim.Anderson{Memory: em.Memory}}
	t.Put(f.State.Start)
}

// Verdict implements Optimiser.
func (EM) Verdict(f *Fit) (converged bool, verdict string) {
	s := f.State.EM
	if d := f.State.Degenerate; d != nil {
		return false, d.verdict(f.Table, s.Count)
	}
	if s.Relative <= f.Config.Tolerance {
		return true, fmt.Sprintf("converged: the last of %d EM iterations moved nothing by more than %.2g of its size", s.Count, s.Relative)
	}
	if f.State.Stall.reached() && s.Relative <= mostStalled {
		return true, fmt.Sprintf("converged as far as rounding allows: after %d EM iterations the likelihood goes up and down in its last digits, and an iteration moves the precision or the mean by about %.2g of its size; columns that nearly depend on each other do this", s.Count, s.Relative)
	}
	return false, fmt.Sprintf("NOT converged: after %d EM iterations the last still moved the precision or the mean by %.2g of its size, not under %.2g; allow more iterations, or look for columns that depend on each other", s.Count, s.Relative, f.Config.Tolerance)
}
