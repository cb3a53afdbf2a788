package trainers

import (
	"context"
	"fmt"
	"math"
	"strings"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/strictjson"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/mixed"
)

// MixtureModel is the model that takes tables with levels.
const MixtureModel = "mixture"

// levelsOf are a table's numbers of levels by column, 0 of numbers, and the names of columns that
// have some; nil for none.
func levelsOf(t *data.Table) (levels []int, names []string) {
	for j, name := range t.Names {
		levels = append(levels, len(data.Coded(t, j)))
		if levels[j] > 0 {
			names = append(names, name)
		}
	}
	return levels, names
}

func checkNominal(s Spec, t *data.Table) error {
	var names []string
	for j, name := range t.Names {
		if data.KindOf(t, j) == data.Nominal {
			names = append(names, name)
		}
	}
	if names == nil || s.Network != nil {
		return nil
	}
	return setting.Errorf("model", s.Model.Kind, "it takes numbers, and %s has levels without an order: take mixture, or leave it out (ReadOptions.Exclude)", strings.Join(names, ", "))
}

// mixed is the mixture of numbers and levels that is fitted, nil for another model.
func (p *Prepared) mixed() *model.Mixed {
	m, _ := p.Model.(*model.Mixed)
	return m
}

// scoresAsked is the first setting that only a fit by scores has a meaning for, and why; "" for none.
func scoresAsked(p *Prepared) (field string, value any, why string) {
	s, d := p.Spec, p.Spec.Descent
	switch {
	case s.Steps.Method != "auto" && s.Steps.Method != "em-exact":
		return "method", s.Steps.Method, "it goes by the score of numbers"
	case s.Objective.New != nil || s.Objective.Kind != "auto":
		return "objective", s.Objective.Kind, "it is of scores"
	case s.Domain.Bounded():
		return "domain", "", "bounds are of an objective of scores"
	case s.Missingness != nil:
		return "missingness", "", "a law of missing cells is one of numbers"
	case s.Inference.Asked():
		return "inference", s.Inference.Kind, "standard errors are of scores"
	case d.Penalty.Asked():
		return "penalty", d.Penalty.Kind, "it is of gaussian and quartic models"
	case s.Truth != nil:
		return "truth", "", "a fit is compared with its truth by scores"
	case p.file != nil:
		return "stream", nil, "a mixture with levels is fitted to all rows at once"
	case d.Optimiser != "" && d.Optimiser != "auto" && d.Optimiser != "em":
		return "optimiser", d.Optimiser, "it goes down a loss of scores"
	case d.Epochs != 0 || d.Rate != 0 || d.Patience != 0 || d.Validation != nil || d.Average != nil:
		return "optimiser", "adam", "epochs, rate, patience, validation and average are of adam"
	}
	return "", nil, ""
}

// prepareMixed prepares the fit of a mixture by its likelihood (docs/theory/models.md#eq-mixed). It says
// false for another model, and where settings ask for a fit by scores, which it refuses if columns have
// levels.
func prepareMixed(p *Prepared) (prepared bool, err error) {
	s := &p.Spec
	if s.Network != nil || s.Model.New != nil || s.Model.Kind != MixtureModel {
		return false, nil
	}
	levels, names := levelsOf(p.Table)
	switch field, value, why := scoresAsked(p); {
	case field == "":
	case names == nil:
		return false, nil
	case field == "stream":
		return false, notStreamed(why)
	default:
		return false, setting.Errorf(field, value, "%s, and a mixture with levels (%s) is fitted by its likelihood: leave it out, or leave these columns out (ReadOptions.Exclude)", why, strings.Join(names, ", "))
	}
	if names == nil && p.Transform.Ordinal() != nil {
		return false, nil
	}
	if p.Transform.Ordinal() != nil {
		return false, setting.Errorf("ordinal", "", "ordered categories are intervals of a normal number, and a mixture takes levels as they are: leave it out, or take ReadOptions.Nominal for columns of numbers")
	}
	o := model.MixtureOptions{}
	if err := strictjson.Options(s.Model.Options, &o); err != nil {
		return false, setting.Errorf("model_options", string(s.Model.Options), "%v", err)
	}
	switch most := max(1, p.Table.N); {
	case o.Levels != nil:
		return false, setting.Errorf("model_options", string(s.Model.Options), "levels are those of the table: leave them out")
	case o.Components < 0 || o.Components > most:
		return false, setting.Errorf("model_options", string(s.Model.Options), "%d components of %d rows: 1 to %d are possible", o.Components, p.Table.N, most)
	}
	if err := s.Descent.Check(); err != nil {
		return false, err
	}
	if err := s.Steps.Check(); err != nil {
		return false, err
	}
	p.components = o.Components
	p.Model = model.NewMixed(max(1, o.Components), levels)
	s.Steps.Method, s.Descent.Optimiser, s.Objective.Kind = "em-exact", "em", "likelihood"
	setting.Default(&s.Descent.Iterations, mixed.Iterations)
	setting.Default(&s.Descent.Tolerance, mixed.Tolerance)
	p.objective = losses.Classical{}
	p.Estimator, err = estimator.ByName(s.Steps.Method)
	return true, err
}

// fitMixed fits a mixture of numbers and levels, and compares rows drawn from it with the table.
func fitMixed(ctx context.Context, p *Prepared, run Run) (*Result, error) {
	s := p.Spec
	same := s
	same.Descent.Iterations = 0 // more are allowed for a run that goes on
	if err := run.State.claimSettings(p.Table, []any{same, p.components}); err != nil {
		return nil, err
	}
	if run.State.Mixture == nil {
		run.State.Mixture = &mixed.State{}
	}
	c := mixed.Config{Components: p.components, Iterations: s.Descent.Iterations, Tolerance: s.Descent.Tolerance, Seed: s.Steps.Seed, Workers: s.Steps.Workers,
		State: run.State.Mixture, Save: func() error { return run.Save(run.State) }}
	if s.Steps.Observe != nil {
		c.Observe = func(t mixed.Try, tried, candidates int) {
			s.Steps.Observe(engine.Progress{Stage: "fit", Unit: "number of components", Iteration: tried, Total: candidates, Loss: -t.HeldOut, EffectiveSize: math.NaN()})
		}
	}
	f, err := mixed.Fit(ctx, p.Table, c)
	if ctx.Err() != nil && run.State.Mixture.Tried != nil {
		if err := c.Save(); err != nil {
			return nil, fmt.Errorf("interrupted, and the state could not be saved: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	r := &Result{Spec: s, Estimator: p.Estimator, Loss: -f.Likelihood, Size: math.NaN(), Converged: f.Converged}
	for i, turn := range f.Turns {
		r.History = append(r.History, descent.Record{Iteration: i + 1, Loss: -turn.Likelihood, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: math.NaN()})
	}
	r.Final = r.History[len(r.History)-1]
	k := len(f.Model.Weights)
	r.Verdict = fmt.Sprintf("converged: %s; the last of %d EM iterations added less than %.2g to a row's log density", componentsText(k, f.Tried), len(f.Turns), c.Tolerance)
	if !f.Converged {
		r.Verdict = fmt.Sprintf("NOT converged: %s; after %d EM iterations the last still added more than %.2g to a row's log density: allow more Spec.Descent.Iterations", componentsText(k, f.Tried), len(f.Turns), c.Tolerance)
	}
	if k == 1 && p.original.Levels != nil && p.Table.D > 1 {
		r.Warnings = append(r.Warnings, "one component: drawn levels are independent of the other columns, and more components did not predict held-out rows better; with more rows they may")
	}
	if columns, most := unseen(p.Table, f.Unseen); columns != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: never observed among up to %.0f %% of the rows; rows drawn like these have there what all rows have", strings.Join(columns, ", "), 100*most))
	}
	r.Model = &fitted.Saved{Kind: MixtureModel, Model: f.Model, Names: p.Table.Names, Levels: p.original.Levels, Transform: p.Transform}
	return r, nil
}

// mostUnseen is the share of rows like which none is observed in a column that is worth a warning.
const mostUnseen = 0.05

func unseen(t *data.Table, shares []float64) (columns []string, most float64) {
	for j, share := range shares {
		if share > mostUnseen {
			columns, most = append(columns, t.Names[j]), max(most, share)
		}
	}
	return columns, most
}

func componentsText(k int, tried []mixed.Try) string {
	text := fmt.Sprintf("%d components", k)
	if k == 1 {
		text = "1 component"
	}
	if n := len(tried); n > 0 {
		text += fmt.Sprintf(", chosen among 1 to %d by held-out rows", tried[n-1].Components)
	}
	return text
}
