// Package estimator combines sources, weightings and losses to estimators.
package estimator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/spelling"
	"missingscore/losses"
	"missingscore/trainers/source"
)

// Estimator is a row of the table in docs/theory/index.md#estimator-family: source, weighting and
// loss.
type Estimator struct {
	Name, Title string
	Note        string // one line for the user

	Source    source.Kind
	Weighting losses.Weighting // chosen by measured error (benchmarks/normal)
	Loss      losses.Loss
	HoldsMean bool   // networks keep the observed mean, even if the loss fits it
	Fallback  string // name of the estimator to use if the loss does not support the model or the objective
}

// All lists the named estimators; Register adds one.
var All = []Estimator{
	{Name: "var", Title: "Marg-Var", Source: source.Imputer, Weighting: losses.Uniform, Loss: losses.Marginal,
		Note: "variational imputer, uniform weights (the paper's Algorithm 2)"},
	{Name: "iw", Title: "Marg-IW", Source: source.Proposal, Weighting: losses.SelfNormalised, Loss: losses.Marginal,
		Note: "fixed proposal, self-normalised weights (the paper's Algorithm 1)"},
	{Name: "variw", Title: "Marg-VarIW", Source: source.Imputer, Weighting: losses.SelfNormalised, Loss: losses.Marginal,
		Note: "variational imputer, self-normalised weights"},
	{Name: "exact", Title: "Marg-Exact", Source: source.Zeros, Weighting: losses.Uniform, Loss: losses.GaussianMarginal, Fallback: "exact-mc",
		Note: "Gaussian: expectations in closed form; draws (exact-mc) with a support"},
	{Name: "exact-mc", Title: "Marg-Exact (sampled)", Source: source.Exact, Weighting: losses.LeaveOneOut, Loss: losses.Marginal,
		Note: "Gaussian: draws from the exact conditional distribution"},
	{Name: "em-exact", Title: "EM (exact)", Source: source.Zeros, Weighting: losses.Uniform, Loss: losses.GaussianComplete, Fallback: "em-exact-mc",
		Note: "Gaussian: EM in closed form, consistent under MAR; draws (em-exact-mc) with a support"},
	{Name: "em-exact-mc", Title: "EM (exact, sampled)", Source: source.Exact, Weighting: losses.Uniform, Loss: losses.CompleteData,
		Note: "Gaussian: EM with draws from the exact conditional distribution, consistent under MAR"},
	{Name: "em-var", Title: "EM-Var", Source: source.Imputer, Weighting: losses.Uniform, Loss: losses.CompleteData,
		Note: "EM with a variational imputer, consistent under MAR if the imputer is exact"},
	{Name: "em-variw", Title: "EM-VarIW", Source: source.Imputer, Weighting: losses.SelfNormalised, Loss: losses.CompleteData,
		Note: "EM with a variational imputer and self-normalised weights, consistent under MAR"},
	{Name: "em-chains", Title: "EM (chains)", Source: source.Chains, Weighting: losses.Uniform, Loss: losses.CompleteData,
		Note: "EM with persistent Markov chains, consistent under MAR"},
	{Name: "chains", Title: "Marg-Chains", Source: source.Chains, Weighting: losses.Uniform, Loss: losses.Marginal,
		Note: "persistent Markov chains, uniform weights"},
	{Name: "em", Title: "EM", Source: source.Proposal, Weighting: losses.SelfNormalised, Loss: losses.Complete,
		Note: "fractional imputation (Uehara et al. 2020), observed coordinates"},
	{Name: "em-full", Title: "EM (all coordinates)", Source: source.Proposal, Weighting: losses.SelfNormalised, Loss: losses.CompleteData, HoldsMean: true,
		Note: "EM with a fixed proposal and weights over all coordinates, consistent under MAR"},
	{Name: "zeroed", Title: "Zeroed", Source: source.Zeros, Weighting: losses.Uniform, Loss: losses.Complete,
		Note: "zeros for missing cells (MissDiff without its network)"},
	{Name: "pairwise", Title: "Pairwise", Source: source.Zeros, Weighting: losses.Uniform, Loss: losses.GaussianPairwise,
		Note: "networks of very many columns: moments of pairs, one pass; needs MCAR"},
	{Name: "em-latent", Title: "EM (latent normal)", Source: source.Zeros, Weighting: losses.Uniform, Loss: losses.GaussianLatent,
		Note: "stochastic EM with latent normal variables for categories, consistent under MAR"},
	{Name: "full", Title: "Full", Source: source.Complete, Weighting: losses.Uniform, Loss: losses.Complete,
		Note: "ordinary score matching, for tables without missing cells"},
}

// Register adds an estimator, from an init function; it panics if the name is taken or the parts do
// not go together.
func Register(e Estimator) {
	if _, err := ByName(e.Name); err == nil || e.Name == "" {
		panic(fmt.Sprintf("estimator: a second method %q", e.Name))
	}
	if err := e.parts(); err != nil {
		panic("estimator: " + err.Error())
	}
	All = append(All, e)
}

// ByName returns the estimator with a name.
func ByName(name string) (Estimator, error) {
	for _, e := range All {
		if e.Name == name {
			return e, nil
		}
	}
	return Estimator{}, spelling.Unknown("method", name, names(All))
}

func names(es []Estimator) (names []string) {
	for _, e := range es {
		names = append(names, e.Name)
	}
	return names
}

// For returns e, or its fallback if only the fallback's loss supports model and objective on a
// domain.
func (e Estimator) For(m model.Model, o losses.Objective, s *domain.Domain) Estimator {
	if e.Fallback == "" || e.Loss.Check(m, o) == nil {
		return e
	}
	if f, err := ByName(e.Fallback); err == nil && f.Check(m, o, s) == nil {
		return f
	}
	return e
}

// Draws reports r random imputations per row; else the gradient has no noise.
func (e Estimator) Draws() bool { return e.Source.Random }

// Minimises a loss; else it solves an equation.
func (e Estimator) Minimises() bool { return !e.Loss.Needs().Equation }

// FitsMean reports whether its networks estimate the mean.
func (e Estimator) FitsMean() bool { return e.Loss.Needs().Mean && !e.HoldsMean }

// Assumption about missing cells, without a missingness mechanism.
func (e Estimator) Assumption() losses.Assumption {
	needs := e.Loss.Needs()
	switch {
	case e.NeedsCompleteRows():
		return losses.NoGaps
	case !e.Draws() && !needs.NoDraws: // treats filled cells as observed
		return losses.NoneHolds
	case needs.Assumes == "":
		return losses.MCAR
	}
	return needs.Assumes
}

// Trains reports whether it trains an imputer.
func (e Estimator) Trains() bool { return e.Source.Imputer }

// needsDensity reports whether it needs a model with a log density.
func (e Estimator) needsDensity() bool {
	return e.Loss.Needs().Density || e.Weighting.Needs().Density || e.Source.Imputer || e.Source.Memory != nil
}

// NeedsNormal reports whether it needs a normal model.
func (e Estimator) NeedsNormal() bool { return e.Source.Normal || e.Loss.Needs().Normal }

// OfMatrix uses one matrix instead of rows, for networks only.
func (e Estimator) OfMatrix() bool {
	_, ok := e.Loss.(losses.OfMatrix)
	return ok
}

// NeedsOrdinal needs a table with ordered categories (data.Table.Cuts), which OfMatrix allows.
func (e Estimator) NeedsOrdinal() bool { return e.Loss.Needs().Ordinal }

// NeedsCompleteRows reports whether it needs a table without missing cells.
func (e Estimator) NeedsCompleteRows() bool { return e.Source.CompleteRows }

// Correctable: uniform and leave-one-out weighting are interchangeable.
func (e Estimator) Correctable() bool {
	own := e.Weighting.Needs()
	return e.Draws() && !own.Proposal && !own.Density && losses.LeaveOneOut.Check(e.Loss) == nil
}

// WeightingFor returns the weighting with a name; for "" the estimator's own, or uniform if that
// needs more draws.
func (e Estimator) WeightingFor(name string, draws int) (losses.Weighting, error) {
	if name == "" || name == e.Weighting.Name() {
		if name == "" && draws < e.Weighting.Needs().Draws {
			return losses.Uniform, nil
		}
		return e.Weighting, nil
	}
	w, err := losses.WeightingByName(name)
	if err != nil {
		return nil, err
	}
	if needs := w.Needs(); !e.Correctable() || needs.Density || needs.Proposal {
		these := slices.DeleteFunc(slices.Clone(All), func(e Estimator) bool { return !e.Correctable() })
		return nil, fmt.Errorf("the weighting of method %s is %s; uniform and leave-one-out are interchangeable in the methods %s only", e.Name, e.Weighting.Name(), strings.Join(names(these), ", "))
	}
	return w, nil
}

// Check returns why it cannot estimate a model with an objective on a domain, as an error of
// method, or nil.
func (e Estimator) Check(m model.Model, o losses.Objective, s *domain.Domain) error {
	if err := e.parts(); err != nil {
		return err
	}
	if err := e.refusal(m, o, s); err != nil {
		return setting.Errorf("method", e.Name, "%v", err)
	}
	return nil
}

func (e Estimator) refusal(m model.Model, o losses.Objective, s *domain.Domain) error {
	if e.NeedsNormal() {
		if _, err := source.NormalModel(m, "it"); err != nil {
			return err
		}
	}
	if err := e.Loss.Check(m, o); err != nil {
		return err
	}
	if d, ok := e.Loss.(losses.DomainChecker); ok {
		if err := d.CheckDomain(s); err != nil {
			return err
		}
	}
	if _, ok := o.(losses.Noising); ok && e.Source.Memory != nil {
		return errors.New("chains need fixed observed cells, but the objective adds noise to them; use iw, var or variw")
	}
	if !within(s, model.SupportOf(m)) {
		return errors.New("the domain reaches beyond the model's support; use the support as domain")
	}
	if !e.needsDensity() {
		return nil
	}
	has, err := model.CapabilitiesOf(m)
	if err == nil && !has.Density {
		others := slices.DeleteFunc(slices.Clone(All), func(e Estimator) bool { return e.needsDensity() || e.NeedsNormal() })
		err = fmt.Errorf("the model has no log density, which this method needs; use %s", strings.Join(names(others), ", "))
	}
	return err
}

// s must include the half-spaces of a model's support.
func within(s, support *domain.Domain) bool {
	if !support.Bounded() {
		return true
	}
	if s == nil {
		return false
	}
	for j := range support.Lower {
		if s.Lower[j] < support.Lower[j] || s.Upper[j] > support.Upper[j] {
			return false
		}
	}
	for _, h := range support.Half {
		if !slices.ContainsFunc(s.Half, func(o domain.HalfSpace) bool { return o.B == h.B && slices.Equal(o.A, h.A) }) {
			return false
		}
	}
	return true
}

// CheckTable returns why it cannot estimate from a table, or nil.
func (e Estimator) CheckTable(t *data.Table) error {
	if e.NeedsCompleteRows() && t.Missing() > 0 {
		return fmt.Errorf("method %s is for tables without missing cells, but this one has %d; use em-exact, exact or another method", e.Name, t.Missing())
	}
	return nil
}

func (e Estimator) parts() error {
	if e.Source.New == nil || e.Weighting == nil || e.Loss == nil {
		return fmt.Errorf("method %s: it needs a source, a weighting and a loss", e.Name)
	}
	if err := e.Weighting.Check(e.Loss); err != nil {
		return fmt.Errorf("method %s: %w", e.Name, err)
	}
	if e.Weighting.Needs().Proposal && !e.Source.LogDensity {
		return fmt.Errorf("method %s: weighting %s needs the log density of the draws, which source %s does not give", e.Name, e.Weighting.Name(), e.Source.Name)
	}
	if e.Loss.Needs().NoDraws && e.Source.Random {
		return fmt.Errorf("method %s: loss %s makes no draws, but source %s does", e.Name, e.Loss.Name(), e.Source.Name)
	}
	return nil
}
