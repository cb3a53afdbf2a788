package descent

import (
	"context"
	"fmt"
	"math"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/rows"
	"missingscore/losses"
)

func resolveAdam(c Config, p Problem) (Config, error) {
	const reason = "this setting is for em and lbfgs, but this fit uses adam; leave it out"
	if err := foreign(reason, setting.Field{Name: "iterations", Value: float64(c.Iterations)}, setting.Field{Name: "tolerance", Value: c.Tolerance}); err != nil {
		return c, err
	}
	_, noising := p.Objective.(losses.Noising)
	training := model.TrainingOf(p.Model)
	batch := min(p.Batch, p.Rows)
	setting.Default(&c.Epochs, training.Epochs((p.Rows+batch-1)/batch, noising))
	setting.Default(&c.Rate, training.Rate)
	c, err := c.resolveAverage(training, p)
	if err != nil {
		return c, err
	}
	return c.resolveValidation(training, p)
}

type sums struct {
	Loss, Size float64
	Count      int
}

type adam struct {
	*Fit
	rows     rows.Rows
	perEpoch int // steps per epoch
	heldOut  *engine.HeldOut
	every    int // epochs between held-out losses
	over     engine.Window
}

// runAdam makes steps on mini-batches for a number of epochs (paper, appendix "Normal Distribution
// estimation") or until the held-out loss stops falling, and keeps the parameters of the least
// held-out loss. It saves after each epoch and after each window of a file.
func runAdam(ctx context.Context, f *Fit) error {
	s := f.State
	if s.Adam.Rate == 0 {
		s.Adam.Rate = f.Config.Rate
	}
	a := &adam{Fit: f}
	if err := a.divide(); err != nil {
		return err
	}
	if err := a.lookBefore(); err != nil {
		return err
	}
	a.over = a.Whole // less the held-out rows
	size := f.Engine.Config.Batch
	a.perEpoch = (a.rows.Count() + size - 1) / size
	if a.every = 1; model.TrainingOf(f.Engine.Model).HeldOutDraws > 0 {
		a.every = max(1, 100/a.perEpoch)
	}
	for epoch := s.Iteration / a.perEpoch; epoch < f.Config.Epochs && !f.patient(); epoch++ {
		if err := a.epoch(ctx, epoch); err != nil {
			return err
		}
		if err := f.Save(); err != nil {
			return err
		}
	}
	a.takeAverage()
	if s.Best != nil {
		f.Restore(s.Best.Engine)
	}
	return nil
}

func (a *adam) epoch(ctx context.Context, epoch int) error {
	s, made := a.State, epoch*a.perEpoch // steps before the window
	for w, err := range a.rows.Pass(ctx, epoch) {
		if err != nil {
			return err
		}
		if w.Table != a.over.Table {
			first := made
			if w.Whole {
				first = 0
			}
			a.over = engine.NewWindow(w.Table, first)
		}
		if err := a.window(ctx, w, made); err != nil {
			return err
		}
		size := a.Engine.Config.Batch
		made += (len(w.Order) + size - 1) / size
		if !w.Whole && made < a.perEpoch { // the pass is not over until it was checked
			if err := a.Save(); err != nil {
				return err
			}
		}
	}
	r := Record{Epoch: epoch + 1, Iteration: s.Iteration, Loss: s.Epoch.Loss, EffectiveSize: s.Epoch.Size / float64(s.Epoch.Count), HeldOut: math.NaN(), Gradient: math.NaN()}
	a.swapAverage() // the held-out loss is of the averaged parameters
	defer a.swapAverage()
	if err := a.validate(&r); err != nil {
		return err
	}
	s.Epoch = sums{}
	return a.record(r)
}

// window makes the remaining steps over the rows of w in order; before is the number of earlier
// steps of the epoch.
func (a *adam) window(ctx context.Context, w rows.Window, before int) error {
	s, n, size, order := a.State, a.rows.Count(), a.Engine.Config.Batch, w.Order
	for from := (s.Iteration - before) * size; from < len(order); from += size {
		batch := order[from:min(from+size, len(order))]
		step, err := a.Step(ctx, s.Iteration, a.over, batch, 1/float64(len(batch)))
		if err != nil {
			return err
		}
		s.Adam.Step(a.Model.Params(), step.Grads)
		a.shrink.afterAdam(&s.Adam)
		s.Iteration++
		a.average()
		s.Epoch.Size += step.EffectiveSize
		s.Epoch.Loss += step.Loss * float64(len(batch)) / float64(n)
		s.Epoch.Count++
		a.report(step, !w.Whole)
	}
	return nil
}

func (a *adam) report(step engine.Step, streamed bool) {
	done := a.State.Iteration
	p := engine.Progress{Stage: "fit", Unit: "iteration", Iteration: done, Total: a.Config.Epochs * a.perEpoch, Loss: step.Loss, EffectiveSize: step.EffectiveSize}
	if streamed {
		pass, rows := (done-1)/a.perEpoch, a.rows.Count()
		p.Streamed = &engine.Pass{Number: pass + 1, Passes: a.Config.Epochs, Done: min((done-pass*a.perEpoch)*a.Engine.Config.Batch, rows), Rows: rows}
	}
	a.Report(p)
}

func verdictOfAdam(f *Fit) (converged bool, verdict string) {
	b, h := f.State.Best, f.State.History
	if b == nil {
		if converged, verdict = Trend(atLastLambda(h)); converged && f.barelyMoves(f.State.Iteration) {
			return false, fmt.Sprintf("NOT converged: %d steps are too few; allow more epochs", f.State.Iteration)
		}
		return converged, verdict
	}
	best := fmt.Sprintf("kept the best parameters, of epoch %d, held-out loss %.5g over %d rows", b.Epoch, b.Loss, b.Rows)
	if before := f.State.Before; before != nil && !(b.Loss < *before) {
		return false, fmt.Sprintf("NOT converged: the held-out loss never fell below its start of %.5g; use a smaller rate; %s", *before, best)
	}
	n, patient, fell := len(h)/5, f.patient(), 0.0
	if n >= fewestEpochs {
		rose, _, least := change(h, n, func(r Record) float64 { return r.HeldOut })
		if model.TrainingOf(f.Engine.Model).HeldOutDraws > 0 { // small noise: falls would not mean better draws
			least = max(least, 1e-2*math.Abs(h[len(h)-1].HeldOut))
		}
		if -rose > least {
			fell = -rose
		}
	}
	if steps := f.Final().Iteration; f.barelyMoves(steps) && (patient || n >= fewestEpochs && fell == 0) {
		advice := "allow more epochs, or use more rows and a larger held-out share"
		if patient {
			advice = "use more rows, a larger held-out share, a smaller rate or more patience"
		}
		return false, fmt.Sprintf("NOT converged: the held-out loss was least after only %d steps; %s; %s", steps, advice, best)
	}
	if patient {
		return true, fmt.Sprintf("converged: the held-out loss has not fallen for %d epochs; %s", f.Config.Patience, best)
	}
	if n < fewestEpochs {
		return false, tooFew(h) + "; " + best
	}
	if fell > 0 {
		return false, fmt.Sprintf("NOT converged: in the last %d epochs %s by %.3g; allow more epochs; %s", n, StillFell, fell, best)
	}
	return true, fmt.Sprintf("converged: the held-out loss stopped falling within %d epochs; %s", len(h), best)
}

// StillFell is in the verdict of a fit whose held-out loss fell until the epochs ended.
const StillFell = "the held-out loss still fell"

// Stochastic steps make the parameters fluctuate around the optimum. With a share a the fit is the
// running average
//
//	θ̄ ← θ̄ + (θ − θ̄) / max(1, a t)
//
// after step t (Shamir & Zhang 2013, "Stochastic gradient descent for non-smooth optimization",
// §4), in which the last share a of the steps has about two thirds of the weight. Steps continue
// from θ.

const mostAveraged = 0.5 // share of the steps

// resolveAverage sets Average to the model's default.
func (c Config) resolveAverage(training model.Training, p Problem) (Config, error) {
	switch {
	case c.Average == nil && !p.Penalised && training.Average > 0:
		c.Average = &training.Average
	case c.Average != nil && p.Penalised && *c.Average > 0:
		return c, setting.Errorf("average", *c.Average, "averaging cannot be combined with a penalty, because averages are rarely 0; leave one of the two out")
	}
	return c, nil
}

// average adds the parameters after a step to the running average.
func (a *adam) average() {
	s, share := a.State, a.Fit.Config.Average
	if share == nil || *share == 0 {
		return
	}
	params := a.Model.Params()
	if s.Average == nil {
		for _, p := range params {
			s.Average = append(s.Average, make([]float64, len(p.Value)))
		}
	}
	by := 1 / max(1, *share*float64(s.Iteration))
	for i, p := range params {
		mean := s.Average[i]
		for k, v := range p.Value {
			mean[k] += by * (v - mean[k])
		}
	}
}

// swapAverage exchanges the model's parameters and their average.
func (a *adam) swapAverage() {
	for i, mean := range a.State.Average {
		for k, p := 0, a.Model.Params()[i]; k < len(mean); k++ {
			mean[k], p.Value[k] = p.Value[k], mean[k]
		}
	}
}

// takeAverage sets the model to the average, which is unchanged.
func (a *adam) takeAverage() {
	for i, mean := range a.State.Average {
		copy(a.Model.Params()[i].Value, mean)
	}
}
