package trainers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/mixed"
	"missingscore/nets"
	"missingscore/trainers/fitted"
)

// heldRows is the number of table rows that drawn rows are compared with.
const heldRows = 1000

// checkDraws compares rows drawn from a fitted model with the table, except for normal models and
// missingness mechanisms. A fit whose held-out loss still fell has converged if its rows pass. An
// energy is tilted by a mixture fitted to the table. While its rows differ, a mixture of its rows
// joins, at most twice; the nearest energy is kept.
func checkDraws(ctx context.Context, p *Prepared, r *Result) error {
	if _, normal := model.AsNormal(r.Model.Model); normal || r.Network != nil || r.Model.Missingness != nil {
		return nil
	}
	t, seed := someRows(p.Table, p.Spec.Steps.Seed), p.Spec.Steps.Seed
	c := mixed.Config{Seed: seed, Folds: 1, Iterations: checkedTurns, Workers: p.Spec.Steps.Workers}
	var by *mixture.Mixture
	var least *fitted.Check
	var best model.Model
	for round := 1; ; round++ {
		var drawn []float64
		err := panics.Caught(func() (err error) { drawn, err = checkOnce(ctx, r.Model, t, &by, c); return err })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fitted.ErrUnchecked):
			return nil
		case err != nil && least == nil:
			r.Warnings = append(r.Warnings, fmt.Sprintf("drawn rows were not compared with the table: %v", err))
			return nil
		}
		if err != nil { // the changed energy has no rows
			break
		}
		if least == nil || nearer(r.Model.Check, least) {
			best, least = r.Model.Model, r.Model.Check
		}
		_, tilted := r.Model.Model.(nets.Tilted)
		if d := least.Distance; !tilted || round == tiltRounds || len(least.Off) == 0 && (d == nil || d.Drawn <= d.Chance) {
			break
		}
		rows := &data.Table{Names: t.Names, N: len(drawn) / t.D, D: t.D, Values: drawn, Observed: slices.Repeat([]bool{true}, len(drawn))}
		var f *mixed.Fitted
		if err := panics.Caught(func() (err error) { f, err = mixed.Fit(ctx, rows, c); return err }); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			break // rows of a fit that diverged may have no mixture
		}
		by = by.And(f.Model)
	}
	r.Model.Model, r.Model.Check = best, least
	judgeDraws(p.Spec, r)
	return nil
}

// judgeDraws sets the verdict by the check of the drawn rows.
func judgeDraws(spec Spec, r *Result) {
	if len(r.Model.Check.Off) == 0 {
		if stopped, after, held := strings.Cut(r.Verdict, "; "); held && !r.Converged && strings.Contains(stopped, descent.HeldOutLoss) {
			_, best, _ := strings.Cut(after, "; ") // after the advice
			r.Converged = true
			r.Verdict = "converged: rows drawn from the model are like the table, though " + strings.TrimPrefix(stopped, "NOT converged: ") + "; " + best
		}
		return
	}
	off := few(r.Model.Check.Off, namedColumns, "%d more")
	advice := "Spec.Model.Kind mixture"
	if spec.Model.Kind != "energy" || spec.Objective.Kind != "denoising" {
		advice += ", or energy with Spec.Objective.Kind denoising"
	}
	if own := model.MixedOf(r.Model.Model); own != nil {
		advice = fmt.Sprintf(`more components (Spec.Model.Options '{"components":%d}')`, 2*len(own.Weights))
	}
	r.Converged = false
	r.Verdict = fmt.Sprintf("NOT reliable: rows drawn from the model differ from the table: %s; try %s. The fit: %s", strings.Join(off, "; "), advice, r.Verdict)
}

const (
	tiltRounds   = 3
	checkedTurns = 200 // of EM, at most, for the mixture of a check
)

// nearer means fewer differences, or as many and a smaller energy distance.
func nearer(a, b *fitted.Check) bool {
	if len(a.Off) != len(b.Off) || a.Distance == nil || b.Distance == nil {
		return len(a.Off) < len(b.Off)
	}
	return a.Distance.Drawn < b.Distance.Drawn
}

// checkOnce sets the Check of a model, and the tilt of an energy; a nil *by is fitted to the table.
// It returns the drawn rows in transformed columns.
func checkOnce(ctx context.Context, s *fitted.Saved, t *data.Table, by **mixture.Mixture, c mixed.Config) (drawn []float64, err error) {
	var values []float64 // completed
	unmet, modes := []string{}, (*mixture.Mixture)(nil)
	if own := model.MixedOf(s.Model); own != nil {
		values, modes = fitted.CompleteBy(own, t, c.Seed), own
		drawn = own.Draw(fitted.CheckedRows, stream.New(c.Seed, stream.Sample, 1))
	} else {
		if *by == nil {
			f, err := mixed.Fit(ctx, t, c)
			if err != nil {
				return nil, err
			}
			*by = f.Model
		}
		modes = *by
		if values, err = fitted.Complete(ctx, s, t, *by, c.Seed); err != nil {
			return nil, err
		}
		ready, failed := s.Fitted()
		if failed != nil {
			return nil, failed
		}
		rows, err := fitted.CheckDraws(ctx, ready, c.Seed)
		if err != nil {
			return nil, err
		}
		if drawn = rows.Values; !rows.Converged() {
			unmet = []string{fmt.Sprintf("the Markov chains that draw its rows have not converged (R-hat %.3g)", rows.Chains.WorstRHat())}
		}
	}
	shown := drawn
	if s.Transform != nil { // modes are in transformed columns
		shown, modes = slices.Clone(drawn), nil
		s.Transform.Restore(values)
		s.Transform.Restore(shown)
	}
	s.Check = fitted.CheckRows(t, values, shown, modes, c.Seed)
	s.Check.Off = append(unmet, s.Check.Off...)
	return drawn, nil
}

// someRows returns all rows, or heldRows drawn by weight.
func someRows(t *data.Table, seed uint64) *data.Table {
	if t.N <= heldRows && t.Weights == nil {
		return t
	}
	rng, out := stream.New(seed, stream.Sample, 6), *t
	out.N, out.Values, out.Observed, out.Weights, out.Sampled = 0, nil, nil, nil, nil
	if t.Weights == nil {
		for _, i := range rng.Perm(t.N)[:heldRows] {
			out.AppendRow(t, i)
		}
		return &out
	}
	by := distuv.NewCategorical(t.Weights, rng)
	for range min(t.N, heldRows) {
		out.AppendRow(t, int(by.Rand()))
	}
	return &out
}
