package trainers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
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

// checkNominal refuses a fit of numbers to nominal columns: the order of their codes means nothing.
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

// fitMixed fits a mixture of numbers and levels, and compares rows drawn from it with the table. It is
// made in one go: cut, it starts again.
func fitMixed(ctx context.Context, p *Prepared, run Run) (*Result, error) {
	s := p.Spec
	if err := run.State.claimSettings(p.Table, []any{s, p.components}); err != nil {
		return nil, err
	}
	c := mixed.Config{Components: p.components, Iterations: s.Descent.Iterations, Tolerance: s.Descent.Tolerance, Seed: s.Steps.Seed, Workers: s.Steps.Workers}
	if s.Steps.Observe != nil {
		c.Observe = func(t mixed.Try, tried, candidates int) {
			s.Steps.Observe(engine.Progress{Stage: "fit", Unit: "number of components", Iteration: tried, Total: candidates, Loss: -t.HeldOut, EffectiveSize: math.NaN()})
		}
	}
	f, err := mixed.Fit(ctx, p.Table, c)
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
	if off := unlike(p.Table, f.Model, s.Steps.Seed); len(off) > 0 {
		if n := len(off) - namedColumns; n > 1 {
			off = append(off[:namedColumns], fmt.Sprintf("%d more", n))
		}
		r.Converged = false
		r.Verdict = fmt.Sprintf(`NOT reliable: rows drawn from the model are unlike the table: %s; try more components (Spec.Model.Options '{"components":%d}'). The fit itself: %s`, strings.Join(off, "; "), 2*k, r.Verdict)
	}
	r.Model = &fitted.Saved{Kind: MixtureModel, Model: f.Model, Names: p.Table.Names, Levels: p.original.Levels, Transform: p.Transform}
	return r, nil
}

// mostUnseen is the share of rows like which none is observed in a column that is worth a warning.
const mostUnseen = 0.05

// unseen are the columns never observed among more than mostUnseen of the rows, and the largest share.
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

// Drawn rows are unlike the table where a mean of a feature, over all rows or those of a level, is off
// by more than checkedErrors standard errors and checkedRoom. Features are standardised numbers and
// indicators of levels. Of few rows with one value the variance is the drawn rows'.
const (
	checkedRows   = 2000
	checkedErrors = 4.
	checkedRoom   = 0.1
)

// feature is a number of a row that drawn rows are compared by.
type feature struct {
	column int
	level  int // that it indicates; −1: the standardised number
	with   int // a column whose standardised number it is multiplied by; −1: none
	name   string
}

func (f feature) of(row []float64, scale data.Scale) float64 {
	z := func(j int) float64 { return (row[j] - scale.Mean[j]) / scale.Deviation[j] }
	switch {
	case f.level < 0 && f.with >= 0:
		return z(f.column) * z(f.with)
	case f.level < 0:
		return z(f.column)
	case int(row[f.column]) == f.level:
		return 1
	}
	return 0
}

// moments are mean and variance of a feature over the rows (n, d) that have a level, if the condition
// is one.
func (f feature) moments(values []float64, scale data.Scale, where feature) (mean, variance, n float64) {
	var x []float64
	for row := range slices.Chunk(values, len(scale.Mean)) {
		if where.level < 0 || int(row[where.column]) == where.level {
			x = append(x, f.of(row, scale))
		}
	}
	mean, variance = stat.PopMeanVariance(x, nil)
	return mean, variance, float64(len(x))
}

// compared are the features that drawn rows are compared by, products of pairs of numbers, and the conditions
// on rows: none, and each level.
func compared(t *data.Table) (features, pairs, conditions []feature) {
	conditions = []feature{{level: -1}}
	for j, name := range t.Names {
		for c, level := range data.Coded(t, j) {
			if c > 0 || len(data.Coded(t, j)) > 2 { // the other share of two says the same
				features = append(features, feature{j, c, -1, "the share of " + name + " = " + level})
			}
			conditions = append(conditions, feature{j, c, -1, " where " + name + " = " + level})
		}
		if data.Coded(t, j) == nil {
			features = append(features, feature{j, -1, -1, "the mean of " + name})
			for k, other := range t.Names[:j+1] {
				if data.Coded(t, k) == nil {
					what := "the mean product (standardised) of " + other + " and " + name
					if k == j {
						what = "the mean square (standardised) of " + name
					}
					pairs = append(pairs, feature{j, -1, k, what})
				}
			}
		}
	}
	return features, pairs, conditions
}

// unlike says in what drawn rows differ from those of the table. Missing cells of the table are drawn
// given the observed ones of their row, so that cells missing at random make no difference.
func unlike(t *data.Table, m *model.Mixed, seed uint64) (off []string) {
	drawn, err := m.SampleRows(checkedRows, nil, stream.New(seed, stream.Sample, 1))
	if err != nil {
		panic(err) // there are no bounds
	}
	filled, rng, given := slices.Clone(t.Values), stream.New(seed, stream.Sample, 2), m.ByPattern()
	for i := range t.N {
		given(t.Observed[i*t.D:(i+1)*t.D]).Complete(filled[i*t.D:(i+1)*t.D], rng)
	}
	scale := data.StandardScale(t)
	features, pairs, conditions := compared(t)
	for at, where := range conditions {
		of := features
		if at == 0 {
			of = append(of, pairs...)
		}
		for _, f := range of {
			if where.level >= 0 && f.level >= 0 && f.column <= where.column { // itself, or compared the other way round
				continue
			}
			a, av, an := f.moments(drawn, scale, where)
			b, bv, bn := f.moments(filled, scale, where)
			if an < 2 || bn < 2 || math.Abs(a-b) <= checkedErrors*math.Sqrt(max(av, bv)*(1/an+1/bn))+checkedRoom {
				continue
			}
			if f.level < 0 && f.with < 0 {
				a, b = scale.Mean[f.column]+scale.Deviation[f.column]*a, scale.Mean[f.column]+scale.Deviation[f.column]*b
			}
			off = append(off, fmt.Sprintf("%s%s is %.3g, drawn %.3g", f.name, where.name, b, a))
		}
	}
	return off
}
