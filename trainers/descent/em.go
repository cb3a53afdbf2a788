package descent

import (
	"context"
	"fmt"
	"math"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/trainers/em"
	"missingscore/trainers/engine"
)

// EM is for normal models and losses that have an expectation step (losses.LossNeeds.Moments):
// turns of expectation and maximisation (package em) over all rows, accelerated, until a
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
		return fmt.Errorf("turns of expectation and maximisation are for the model gaussian; use adam")
	}
	return nil
}

// Resolve implements Optimiser.
func (o EM) Resolve(c Config, p Problem) (Config, error) {
	if err := o.refusal(p); err != nil {
		return c, setting.Errorf("optimiser", o.Name(), "%v", err)
	}
	reason := fmt.Sprintf("the equation of method %s is solved over all rows at once, without epochs or batches; leave it out, or choose the optimiser adam", p.Estimator.Name)
	given := []setting.Field{{Name: "epochs", Value: float64(c.Epochs)}, {Name: "rate", Value: c.Rate}, {Name: "patience", Value: float64(c.Patience)}}
	if c.Validation != nil {
		given = append(given, setting.Field{Name: "validation", Value: *c.Validation})
	}
	if err := foreign(reason, given...); err != nil {
		return c, err
	}
	c.Validation = nil
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
	for s.Count == 0 || s.Relative > f.Config.Tolerance && s.Count < f.Config.Iterations && !f.State.Stall.reached() {
		if err := t.Turn(ctx, s, em.Unpenalised); err != nil {
			return err
		}
		f.State.Stall.note(s)
		f.State.Iteration = s.Count
		f.Report(engine.Progress{Stage: "fit", Unit: "turn", Iteration: s.Count, Total: f.Config.Iterations, Loss: s.Loss, EffectiveSize: math.NaN()})
		if err := f.record(Record{Iteration: s.Count, Loss: s.Loss, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: math.NaN(),
			Likelihood: s.Likelihood / float64(f.Table.RowCount()), Movement: s.Relative}); err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	t.Settle(s)
	return nil
}

// Verdict implements Optimiser.
func (EM) Verdict(f *Fit) (converged bool, verdict string) {
	s := f.State.EM
	if s.Relative <= f.Config.Tolerance {
		return true, fmt.Sprintf("converged: the last of %d turns of expectation and maximisation moved nothing by more than %.2g of its size", s.Count, s.Relative)
	}
	if f.State.Stall.reached() && s.Relative <= mostStalled {
		return true, fmt.Sprintf("converged as far as rounding allows: after %d turns of expectation and maximisation the likelihood goes up and down in its last digits, and a turn moves the precision or the mean by about %.2g of its size; columns that nearly depend on each other do this", s.Count, s.Relative)
	}
	return false, fmt.Sprintf("NOT converged: after %d turns of expectation and maximisation the last still moved the precision or the mean by %.2g of its size, not under %.2g; allow more iterations, or look for columns that depend on each other", s.Count, s.Relative, f.Config.Tolerance)
}
