package trainers

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

type unread struct {
	field      string // as SettingError.Field
	set, reads bool
	why        string
}

// checkUnread refuses settings that nothing reads. Defaults pass, so a result's Spec can be used
// again; asked has method, inference and penalty before they were resolved.
func checkUnread(p *Prepared, asked Spec) error {
	for _, u := range append(unreadSteps(p, asked.Steps.Method), unreadOthers(p, asked)...) {
		if u.set && !u.reads {
			return &setting.Error{Field: u.field, Allowed: u.why}
		}
	}
	return nil
}

func unreadSteps(p *Prepared, asked string) (all []unread) {
	c, e := p.Spec.Steps, p.Estimator
	name := "method " + e.Name
	if asked != e.Name {
		name += fmt.Sprintf(", which %s means here,", asked)
	}
	add := func(lacks string, met func(estimator.Estimator) bool, fields ...unread) {
		why := fmt.Sprintf("%s %s; leave it out", name, lacks)
		var others []string
		for _, o := range estimator.All {
			if met(o) && p.allows(o) {
				others = append(others, o.Name)
			}
		}
		if others != nil {
			why += ", or choose another Spec.Steps.Method: " + strings.Join(others, ", ")
		}
		for _, u := range fields {
			u.reads, u.why = met(e), why
			all = append(all, u)
		}
	}
	add("makes no draws", estimator.Estimator.Draws,
		unread{field: "draws", set: c.Draws > 1 && c.Draws != engine.DefaultDraws},
		unread{field: "free_draws", set: c.FreeDraws})
	add("has no fixed proposal", func(e estimator.Estimator) bool { return e.Source.ProposalSD },
		unread{field: "proposal_sd", set: c.ProposalSD != 0 && c.ProposalSD != 1})
	rate := model.TrainingOf(p.Model).ImputerRate
	add("trains no imputer", estimator.Estimator.Trains,
		unread{field: "imputer_options", set: len(c.Imputer.Options) > 0},
		unread{field: "imputer", set: c.Imputer.New != nil || c.Imputer.Kind != "" && c.Imputer.Kind != "normal"},
		unread{field: "imputer_steps", set: c.ImputerSteps != 0 && c.ImputerSteps != engine.DefaultImputerSteps},
		unread{field: "imputer_rate", set: c.ImputerRate != 0 && c.ImputerRate != rate && c.ImputerRate != model.DefaultImputerRate},
		unread{field: "imputer_loss", set: c.ImputerLoss == losses.Fisher},
		unread{field: "warm_up", set: c.WarmUp != nil && *c.WarmUp != 0 && *c.WarmUp != defaultWarmUp})
	add("has one kind of average only", estimator.Estimator.Correctable,
		unread{field: "weighting", set: c.Weighting != "" && c.Weighting != e.Weighting.Name()})
	return all
}

func unreadOthers(p *Prepared, asked Spec) (all []unread) {
	w, i := p.Spec.Weight, asked.Inference
	const support = "it needs a support; leave it out, or set Spec.Domain, Spec.Domain.Lower or Spec.Domain.Upper"
	infers := asked.Inference.Asked() || i.Kind == inference.Auto || i.Stability != 0
	all = []unread{
		{"g_per_row", w.Scalar, p.Support != nil, support},
		{"g_cap", w.Cap != 0 && w.Cap != 1, p.Support != nil, support},
		{"no_tangent", w.NoTangent, p.Support != nil && len(p.Support.Half) > 0, "it needs a half-space; leave it out, or add one by Spec.Domain"},
		{"free_draws", p.Spec.Steps.FreeDraws, p.Support != nil, support},
		{"keep_units", p.Spec.KeepUnits, p.mixed() == nil, "a mixture with levels does not depend on units; leave it out"},
		{"resamples", i.Resamples != 0, inference.Kinds[p.Spec.Inference.Kind].Resamples, "it needs Spec.Inference bootstrap=N; add it, or leave resamples out"},
	}
	n := p.Spec.Network
	if n == nil {
		c := asked.Descent.Penalty
		return append(all,
			unread{"level", i.Level != 0 && i.Level != inference.DefaultLevel, infers, "it needs Spec.Inference robust; add it, or leave the level out"},
			unread{"lambda", c.Lambda != 0, c.Asked(), "it needs Spec.Descent.Penalty; add it, or leave λ out"},
			unread{"folds", c.Folds != 0, c.Validates(), "it is for a λ by cross-validation; leave it out"},
			unread{"lambdas", c.Lambdas != 0, c.Validates(), "it is for a λ by cross-validation; leave it out"})
	}
	by := n.Select
	setting.Default(&by.Kind, regpath.Selections()[0])
	of := func(field string, set bool, reads ...string) {
		all = append(all, unread{field, set, slices.Contains(reads, by.Kind),
			fmt.Sprintf("it needs Spec.Network.Select %s, not %s; leave one of them out", strings.Join(reads, " or "), by.Kind)})
	}
	of("gamma", by.Gamma != nil, regpath.GammaSelections()...)
	of("density", by.Density != 0, "density")
	of("folds", by.Folds != 0, "cv")
	of("beta", by.Beta != 0, "stars")
	of("false_edges", by.FalseEdges != 0, "stability")
	of("share", by.Share != 0, "stability")
	of("rate", by.Rate != 0, "fdr")
	return append(all, unread{"level", i.Level != 0 && i.Level != inference.DefaultLevel, infers || by.ByTests(), "it needs Spec.Inference model, robust or bootstrap=N; add one, or leave the level out"})
}
