package trainers

import (
	"cmp"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
)

// checkUnread refuses settings that nothing reads. Defaults pass, so a result's Spec can be used
// again; asked has inference and penalty before they were resolved.
func checkUnread(p *Prepared, asked Spec) error {
	c, w, i, e := p.Spec.Steps, p.Spec.Weight, asked.Inference, p.Estimator
	method, domain := "method "+e.Name, "a fit without bounds"
	infers := i.Asked() || i.Kind == inference.Auto || i.Stability != 0
	level := i.Level != 0 && i.Level != inference.DefaultLevel
	rates := []float64{0, model.DefaultImputerRate, model.TrainingOf(p.Model).ImputerRate}
	type set = map[string]bool
	err := cmp.Or(
		setting.Unread(method, e.Draws(), set{"draws": c.Draws > 1 && c.Draws != engine.DefaultDraws, "free_draws": c.FreeDraws}),
		setting.Unread(method, e.Source.ProposalSD, set{"proposal_sd": c.ProposalSD != 0 && c.ProposalSD != 1}),
		setting.Unread(method, e.Trains(), set{
			"imputer":         c.Imputer.New != nil || c.Imputer.Kind != "" && c.Imputer.Kind != "normal",
			"imputer_options": len(c.Imputer.Options) > 0,
			"imputer_steps":   c.ImputerSteps != 0 && c.ImputerSteps != engine.DefaultImputerSteps,
			"imputer_rate":    !slices.Contains(rates, c.ImputerRate),
			"imputer_loss":    c.ImputerLoss == losses.Fisher,
			"warm_up":         c.WarmUp != nil && *c.WarmUp != 0 && *c.WarmUp != defaultWarmUp,
		}),
		setting.Unread(method, e.Correctable(), set{"weighting": c.Weighting != "" && c.Weighting != e.Weighting.Name()}),
		setting.Unread(domain, p.Support != nil, set{"g_per_row": w.Scalar, "g_cap": w.Cap != 0 && w.Cap != 1, "free_draws": c.FreeDraws}),
		setting.Unread("a fit without half-spaces", p.Support != nil && len(p.Support.Half) > 0, set{"no_tangent": w.NoTangent}),
		setting.Unread("a mixture with levels", p.mixed() == nil, set{"keep_units": p.Spec.KeepUnits}),
		setting.Unread("inference without bootstrap=N", inference.Kinds[p.Spec.Inference.Kind].Resamples, set{"resamples": i.Resamples != 0}),
	)
	n, d := p.Spec.Network, asked.Descent.Penalty
	if n == nil {
		return cmp.Or(err,
			setting.Unread("inference none", infers, set{"level": level}),
			setting.Unread("penalty none", d.Asked(), set{"lambda": d.Lambda != 0}),
			setting.Unread("a penalty without lambda cv", d.Validates(), set{"folds": d.Folds != 0, "lambdas": d.Lambdas != 0}))
	}
	by := n.Select
	setting.Default(&by.Kind, regpath.Selections()[0])
	of := func(field string, given bool, reads ...string) error {
		return setting.Unread("select "+by.Kind, slices.Contains(reads, by.Kind), set{field: given})
	}
	return cmp.Or(err,
		setting.Unread("inference none", infers || by.ByTests(), set{"level": level}),
		of("gamma", by.Gamma != nil, regpath.GammaSelections()...),
		of("density", by.Density != 0, "density"),
		of("folds", by.Folds != 0, "cv"),
		of("beta", by.Beta != 0, "stars"),
		of("false_edges", by.FalseEdges != 0, "stability"),
		of("share", by.Share != 0, "stability"),
		of("rate", by.Rate != 0, "fdr"))
}
