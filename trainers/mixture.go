package trainers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/setting"
	"missingscore/internal/strictjson"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/mixed"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
)

// MixtureModel is the model for tables with levels.
const MixtureModel = "mixture"

// levelsOf returns 0 for numbers; nil if there are none.
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
	return setting.Errorf("model", s.Model.Kind, "the model needs numbers, but %s has unordered levels; use mixture, or leave it out by ReadOptions.Exclude", strings.Join(names, ", "))
}

// mixed is nil for another model.
func (p *Prepared) mixed() *mixture.Mixture { return model.MixedOf(p.Model) }

// scoresAsked refuses settings that need score matching, for a mixture with these columns of levels.
func scoresAsked(p *Prepared, names []string) error {
	s, d := p.Spec, p.Spec.Descent
	asked := func(applies bool, field string, value any, why string) refusal {
		return refusal{applies, setting.Errorf(field, value, "%s, but a mixture with levels (%s) is fitted by EM; leave the setting out, or leave these columns out by ReadOptions.Exclude", why, strings.Join(names, ", "))}
	}
	return first([]refusal{
		asked(s.Steps.Method != "auto" && s.Steps.Method != "em-exact", "method", s.Steps.Method, "the method needs numbers"),
		asked(s.Objective.New != nil || s.Objective.Kind != "auto", "objective", s.Objective.Kind, "objectives are for score matching"),
		asked(s.Domain.Bounded(), "domain", "", "bounds need score matching"),
		asked(s.Missingness != nil, "missingness", "", "a missingness mechanism needs numbers"),
		asked(s.Inference.Asked(), "inference", s.Inference.Kind, "standard errors need score matching"),
		asked(d.Penalty.Asked(), "penalty", d.Penalty.Kind, "a penalty needs the model gaussian or quartic"),
		asked(s.Truth != nil, "truth", "", "comparison with a truth needs scores"),
		{p.file != nil, notStreamed("a mixture with levels needs all rows in memory")},
		asked(d.Optimiser != "" && d.Optimiser != "auto" && d.Optimiser != "em", "optimiser", d.Optimiser, "this optimiser needs score matching"),
		asked(d.Epochs != 0 || d.Rate != 0 || d.Patience != 0 || d.Validation != nil || d.Average != nil, "optimiser", "adam", "epochs, rate, patience, validation and average are for adam"),
	})
}

// prepareMixed prepares maximum likelihood of a mixture (docs/theory/models.md#eq-mixed); false for
// another model and for settings that need score matching.
func prepareMixed(p *Prepared) (prepared bool, err error) {
	s := &p.Spec
	if s.Network != nil || s.Model.New != nil || s.Model.Kind != MixtureModel {
		return false, nil
	}
	levels, names := levelsOf(p.Table)
	if err := scoresAsked(p, names); err != nil {
		if names == nil {
			err = nil
		}
		return false, err
	}
	if names == nil && p.Transform.Ordinal() != nil {
		return false, nil
	}
	if p.Transform.Ordinal() != nil {
		return false, setting.Errorf("ordinal", "", "a mixture treats ordered categories as unordered levels; leave it out, or use ReadOptions.Nominal for columns of numbers")
	}
	o := model.MixtureOptions{}
	if err := strictjson.Options(s.Model.Options, &o); err != nil {
		return false, setting.Errorf("model_options", string(s.Model.Options), "%v", err)
	}
	switch most := max(1, p.Table.N); {
	case o.Levels != nil:
		return false, setting.Errorf("model_options", string(s.Model.Options), "the table sets the levels; leave them out")
	case o.Components < 0 || o.Components > most:
		return false, setting.Errorf("model_options", string(s.Model.Options), "%d components are too many for %d rows; use 1 to %d", o.Components, p.Table.N, most)
	}
	if err := cmp.Or(s.Descent.Check(), s.Steps.Check()); err != nil {
		return false, err
	}
	asked := *s
	p.components = o.Components
	p.Model = model.NewMixed(mixture.New(max(1, o.Components), levels))
	s.Steps.Method, s.Descent.Optimiser, s.Objective.Kind = "em-exact", "em", "likelihood"
	setting.Default(&s.Descent.Iterations, mixed.Iterations)
	setting.Default(&s.Descent.Tolerance, mixed.Tolerance)
	p.objective = losses.Classical
	if p.Estimator, err = estimator.ByName(s.Steps.Method); err != nil {
		return false, err
	}
	return true, checkUnread(p, asked)
}

func fitMixed(ctx context.Context, p *Prepared, run Run) (*Result, error) {
	s := p.Spec
	same := s
	same.Descent.Iterations = 0 // may be larger on resuming
	if err := run.State.claimSettings(p.Table, []any{same, p.components}); err != nil {
		return nil, err
	}
	setting.Default(&run.State.Mixture, &mixed.State{})
	c := mixed.Config{Components: p.components, Iterations: s.Descent.Iterations, Tolerance: s.Descent.Tolerance, Seed: s.Steps.Seed, Workers: s.Steps.Workers,
		State: run.State.Mixture, Save: func() error { return run.Save(run.State) }}
	if s.Steps.Observe != nil {
		c.Observe = func(t mixed.Try, tried, candidates int) {
			s.Steps.Observe(engine.Progress{Stage: "fit", Unit: "number of components", Iteration: tried, Total: candidates, Loss: -t.HeldOut, EffectiveSize: math.NaN()})
		}
	}
	f, err := mixed.Fit(ctx, p.Table, c)
	if err := run.ended(ctx, nil, err); err != nil {
		return nil, err
	}
	r := &Result{Spec: s, Estimator: p.Estimator, Loss: -f.Likelihood, Size: math.NaN(), Converged: f.Converged}
	for i, turn := range f.Turns {
		r.History = append(r.History, descent.Record{Iteration: i + 1, Loss: -turn.Likelihood, EffectiveSize: math.NaN(), HeldOut: math.NaN(), Gradient: math.NaN()})
	}
	r.Final = r.History[len(r.History)-1]
	k := len(f.Model.Weights)
	r.Verdict = fmt.Sprintf("converged: %s; the last of %d EM iterations raised the mean log-likelihood by less than %.2g", componentsText(k, f.Tried), len(f.Turns), c.Tolerance)
	if !f.Converged {
		r.Verdict = fmt.Sprintf("NOT converged: %s; the last of %d EM iterations raised the mean log-likelihood by more than %.2g; allow more Spec.Descent.Iterations", componentsText(k, f.Tried), len(f.Turns), c.Tolerance)
	}
	if k == 1 && p.Original.Levels != nil && p.Table.D > 1 {
		r.Warnings = append(r.Warnings, "one component: drawn levels are independent of the other columns; more rows may support more components")
	}
	if columns, most := unseen(p.Table, f.Unseen); columns != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: never observed among up to %.0f %% of the rows; draws for such rows follow all rows", strings.Join(columns, ", "), 100*most))
	}
	r.Model = &fitted.Saved{Kind: MixtureModel, Model: model.NewMixed(f.Model), Names: p.Table.Names, Levels: p.Original.Levels, Transform: p.Transform}
	return r, nil
}

// mostUnseen is the share of rows with a never observed pattern, above which there is a warning.
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
