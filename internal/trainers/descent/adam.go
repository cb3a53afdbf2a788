package descent

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/mcem"
	"missingscore/internal/trainers/optim"
	"missingscore/internal/trainers/rows"
	"missingscore/losses"
)

func resolveAdam(c Config, p Problem) (Config, error) {
	if err := setting.Unread("optimiser adam", false, map[string]bool{"iterations": c.Iterations != 0, "tolerance": c.Tolerance != 0}); err != nil {
		return c, err
	}
	_, noising := p.Objective.(losses.Noising)
	training := model.TrainingOf(p.Model)
	setting.Default(&c.Epochs, training.Epochs(batches(p.Rows, min(p.Batch, p.Rows)), noising))
	setting.Default(&c.Rate, training.Rate)
	switch {
	case c.Average == nil && !p.Penalised && training.Average > 0:
		c.Average = &training.Average
	case c.Average != nil && p.Penalised && *c.Average > 0:
		return c, setting.Errorf("average", *c.Average, "averaging cannot be combined with a penalty, because averages are rarely 0; leave one of the two out")
	}
	return c.resolveValidation(training, p)
}

func batches(rows, size int) int { return (rows + size - 1) / size }

type sums struct {
	Loss, Size float64
	Count      int
}

// runAdam makes steps on mini-batches for a number of epochs (paper, appendix "Normal Distribution
// estimation") or until the held-out loss stops falling, and keeps the parameters of the least
// held-out loss.
func runAdam(ctx context.Context, f *Fit) error {
	s, c := f.State, f.Config
	setting.Default(&s.Adam.Rate, c.Rate)
	from, heldOut, err := f.divide()
	if err != nil {
		return err
	}
	if heldOut != nil && s.Iteration == 0 { // a fit that never falls below it has diverged
		before, err := heldOut.Loss()
		if err != nil {
			return err
		}
		s.Before = &before
	}
	if err := f.startAtRoot(ctx, heldOut); err != nil {
		return err
	}
	perEpoch, every := batches(from.Count(), f.Engine.Config.Batch), 1
	switch t := model.TrainingOf(f.Engine.Model); {
	case t.HeldOutDraws > 0:
		every = max(1, 100/perEpoch)
	case t.ImputerSteps > 0 && f.Estimator.Trains():
		every = max(1, 20/perEpoch)
	}
	over := f.Whole // less the held-out rows
	for epoch := s.Iteration / perEpoch; epoch < c.Epochs && !s.patient(c.Patience); epoch++ {
		if err := f.epoch(ctx, from, epoch, perEpoch, &over); err != nil {
			return err
		}
		r := Record{Epoch: epoch + 1, Iteration: s.Iteration, Loss: s.Epoch.Loss, EffectiveSize: s.Epoch.Size / float64(s.Epoch.Count), HeldOut: math.NaN(), Gradient: math.NaN()}
		f.swapAverage() // the held-out loss is of the averaged parameters
		if heldOut != nil && (r.Epoch%every == 0 || r.Epoch == c.Epochs) {
			err = f.validate(&r, heldOut)
		}
		if err == nil {
			err = f.record(r)
		}
		f.swapAverage()
		if err != nil {
			return err
		}
		s.Epoch = sums{}
		if err := f.Save(); err != nil {
			return err
		}
	}
	for i, mean := range s.Average {
		copy(f.Model.Params()[i].Value, mean)
	}
	if s.Best != nil {
		f.Restore(s.Best.Engine)
	}
	return nil
}

const (
	rootTolerance = 1e-4 // of P
	rootTurns     = 200
	rootFloor     = 1e-3 // of the eigenvalues of P
)

// startAtRoot moves a normal model on a domain to the solution of the complete-data equation
// (mcem.Setting.Root), for methods that solve it: if the domain cuts off most of the density, Adam
// comes near only after thousands of passes, and its loss shows no trend before. Others stay.
func (f *Fit) startAtRoot(ctx context.Context, heldOut *engine.HeldOut) error {
	if f.State.Iteration > 0 || heldOut != nil {
		return nil
	}
	g, ok := f.Model.(*model.Gaussian)
	if by := f.Estimator; !ok || f.File != nil || f.Table.Weights != nil || !f.Domain.Bounded() || f.Missingness != nil || !by.Source.Normal || !by.Loss.Needs().Equation {
		return nil
	}
	start, d := model.NewGaussian(g.Dim(), model.Natural), g.Dim()
	if start.SetPrecision(g.Precision()) != nil {
		return nil
	}
	start.SetMean(g.Mean())
	all := network.Adjacency{D: d, Edge: slices.Repeat([]bool{true}, d*(d-1)/2)}
	by := mcem.Setting{Table: f.Table, Rows: f.Table.AllRows(), Domain: f.Domain, Weight: f.Weight, Seed: f.Engine.Config.Seed, Workers: f.Engine.Config.Workers}
	root, ok, err := by.Root(ctx, start, mcem.NewSupport(all), &optim.PositiveDefinite{Floor: rootFloor}, rootTolerance, rootTurns)
	if err != nil || !ok || root.Bounded {
		return err
	}
	if g.SetPrecision(start.Precision()) == nil {
		g.SetMean(start.Mean())
	}
	return nil
}

func (f *Fit) epoch(ctx context.Context, from rows.Rows, epoch, perEpoch int, over *engine.Window) error {
	s, n, size, made := f.State, from.Count(), f.Engine.Config.Batch, epoch*perEpoch // steps before the window
	for w, err := range from.Pass(ctx, epoch) {
		if err != nil {
			return err
		}
		if w.Table != over.Table {
			first := made
			if w.Whole {
				first = 0
			}
			*over = engine.NewWindow(w.Table, first)
		}
		for at := (s.Iteration - made) * size; at < len(w.Order); at += size {
			batch := w.Order[at:min(at+size, len(w.Order))]
			step, err := f.Step(ctx, s.Iteration, *over, batch, 1/float64(len(batch)))
			if err != nil {
				return err
			}
			s.Adam.Step(f.Model.Params(), step.Grads)
			f.shrink.afterAdam(&s.Adam)
			s.Iteration++
			f.average()
			s.Epoch.Size += step.EffectiveSize
			s.Epoch.Loss += step.Loss * float64(len(batch)) / float64(n)
			s.Epoch.Count++
			p := engine.Progress{Stage: "fit", Unit: "iteration", Iteration: s.Iteration, Total: f.Config.Epochs * perEpoch, Loss: step.Loss, EffectiveSize: step.EffectiveSize}
			if !w.Whole {
				p.Streamed = &engine.Pass{Number: epoch + 1, Passes: f.Config.Epochs, Done: min((s.Iteration-epoch*perEpoch)*size, n), Rows: n}
			}
			f.Report(p)
		}
		made += batches(len(w.Order), size)
		if !w.Whole && made < (epoch+1)*perEpoch { // the pass is not over until it was checked
			if err := f.Save(); err != nil {
				return err
			}
		}
	}
	return nil
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
	n, patient, fell := len(h)/5, f.State.patient(f.Config.Patience), 0.0
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
			advice = "use more rows, a larger held-out share, a smaller rate or more patience (Spec.Descent.Patience)"
		}
		return false, fmt.Sprintf("NOT converged: %s was least after only %d steps; %s; %s", HeldOutLoss, steps, advice, best)
	}
	if patient {
		return true, fmt.Sprintf("converged: the held-out loss has not fallen for %d epochs; %s", f.Config.Patience, best)
	}
	if n < fewestEpochs {
		return false, tooFew(h) + "; " + best
	}
	if fell > 0 {
		return false, fmt.Sprintf("NOT converged: in the last %d epochs %s still fell by %.3g; allow more epochs; %s", n, HeldOutLoss, fell, best)
	}
	return true, fmt.Sprintf("converged: the held-out loss stopped falling within %d epochs; %s", len(h), best)
}

// HeldOutLoss is in the verdict of a fit whose held-out loss fell to the end, or was least after
// few steps.
const HeldOutLoss = "the held-out loss"

// Stochastic steps make the parameters fluctuate around the optimum. With a share a the fit is the
// running average
//
//	θ̄ ← θ̄ + (θ − θ̄) / max(1, a t)
// after step t (Shamir & Zhang 2013, §4).

const mostAveraged = 0.5 // share of the steps

func (f *Fit) average() {
	s, share := f.State, f.Config.Average
	if share == nil || *share == 0 {
		return
	}
	params := f.Model.Params()
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

func (f *Fit) swapAverage() {
	for i, mean := range f.State.Average {
		for k, p := 0, f.Model.Params()[i]; k < len(mean); k++ {
			mean[k], p.Value[k] = p.Value[k], mean[k]
		}
	}
}
