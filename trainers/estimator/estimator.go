// Package estimator puts sources, weightings and losses together: each such triple is a
// way to estimate any model with any objective.
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

// Estimator is one row of the table in docs/theory/index.md#estimator-family: where
// x' comes from, how draws become an expectation, and the equation. What it can do
// follows from these.
type Estimator struct {
	Name, Title string
	Note        string // one line for the user

	Source    source.Kind
	Weighting losses.Weighting // chosen by measured error (benchmarks/normal)
	Loss      losses.Loss
	HoldsMean bool   // networks by it hold the mean at the observed one, whatever its loss needs
	Fallback  string // the estimator in its place where its loss refuses the model or the objective
}

// All are the estimators with a name. A new one is a line here, or a call of Register; one without a
// name is given by value (engine.Config.Estimator).
var All = []Estimator{
	{Name: "var", Title: "Marg-Var", Source: source.Imputer, Weighting: losses.Uniform{}, Loss: losses.Marginal{},
		Note: "variational imputer, uniform weights (the paper's Algorithm 2)"},
	{Name: "iw", Title: "Marg-IW", Source: source.Proposal, Weighting: losses.SelfNormalised{}, Loss: losses.Marginal{},
		Note: "fixed proposal, self-normalised weights (the paper's Algorithm 1)"},
	{Name: "variw", Title: "Marg-VarIW", Source: source.Imputer, Weighting: losses.SelfNormalised{}, Loss: losses.Marginal{},
		Note: "variational imputer, self-normalised weights"},
	{Name: "exact", Title: "Marg-Exact", Source: source.Zeros, Weighting: losses.Uniform{}, Loss: losses.GaussianMarginal{}, Fallback: "exact-mc",
		Note: "Gaussian: expectations in closed form; draws (exact-mc) with a support"},
	{Name: "exact-mc", Title: "Marg-Exact (sampled)", Source: source.Exact, Weighting: losses.LeaveOneOut{}, Loss: losses.Marginal{},
		Note: "Gaussian: draws from the exact conditional distribution"},
	{Name: "em-exact", Title: "EM (exact)", Source: source.Zeros, Weighting: losses.Uniform{}, Loss: losses.GaussianComplete{}, Fallback: "em-exact-mc",
		Note: "Gaussian: EM in closed form, consistent under MAR; draws (em-exact-mc) with a support"},
	{Name: "em-exact-mc", Title: "EM (exact, sampled)", Source: source.Exact, Weighting: losses.Uniform{}, Loss: losses.CompleteData{},
		Note: "Gaussian: EM with draws from the exact conditional distribution, consistent under MAR"},
	{Name: "em-var", Title: "EM-Var", Source: source.Imputer, Weighting: losses.Uniform{}, Loss: losses.CompleteData{},
		Note: "EM with a variational imputer, consistent under MAR if the imputer is exact"},
	{Name: "em-variw", Title: "EM-VarIW", Source: source.Imputer, Weighting: losses.SelfNormalised{}, Loss: losses.CompleteData{},
		Note: "EM with a variational imputer and self-normalised weights, consistent under MAR"},
	{Name: "em-chains", Title: "EM (chains)", Source: source.Chains, Weighting: losses.Uniform{}, Loss: losses.CompleteData{},
		Note: "EM with persistent Markov chains, consistent under MAR"},
	{Name: "chains", Title: "Marg-Chains", Source: source.Chains, Weighting: losses.Uniform{}, Loss: losses.Marginal{},
		Note: "persistent Markov chains, uniform weights"},
	{Name: "em", Title: "EM", Source: source.Proposal, Weighting: losses.SelfNormalised{}, Loss: losses.Complete{},
		Note: "fractional imputation (Uehara et al. 2020), observed coordinates"},
	{Name: "em-full", Title: "EM (all coordinates)", Source: source.Proposal, Weighting: losses.SelfNormalised{}, Loss: losses.CompleteData{}, HoldsMean: true,
		Note: "EM with a fixed proposal and weights over all coordinates, consistent under MAR"},
	{Name: "zeroed", Title: "Zeroed", Source: source.Zeros, Weighting: losses.Uniform{}, Loss: losses.Complete{},
		Note: "zeros for missing cells (MissDiff without its network)"},
	{Name: "pairwise", Title: "Pairwise", Source: source.Zeros, Weighting: losses.Uniform{}, Loss: losses.GaussianPairwise{},
		Note: "networks of very many columns: moments of pairs, one pass; needs MCAR"},
	{Name: "em-latent", Title: "EM (latent normal)", Source: source.Zeros, Weighting: losses.Uniform{}, Loss: losses.GaussianLatent{},
		Note: "stochastic EM with latent normal variables for categories, consistent under MAR"},
	{Name: "full", Title: "Full", Source: source.Complete, Weighting: losses.Uniform{}, Loss: losses.Complete{},
		Note: "ordinary score matching, for tables without missing cells"},
}

// Register adds an estimator to All, from the init function of the package that has it.
// It panics where the name is taken or the parts do not go together.
func Register(e Estimator) {
	if _, err := ByName(e.Name); err == nil || e.Name == "" {
		panic(fmt.Sprintf("estimator: a second method %q", e.Name))
	}
	if err := e.parts(); err != nil {
		panic("estimator: " + err.Error())
	}
	All = append(All, e)
}

// ByName looks an estimator up.
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

// For is e for a model and an objective on a domain: its fallback where its loss refuses
// them and the fallback does not. Whether it can estimate them is for Check to say.
func (e Estimator) For(m model.Model, o losses.Objective, s *domain.Domain) Estimator {
	if e.Fallback == "" || e.Loss.Check(m, o) == nil {
		return e
	}
	if f, err := ByName(e.Fallback); err == nil && f.Check(m, o, s) == nil {
		return f
	}
	return e
}

// Draws says that it makes r imputations of a row; otherwise one.
func (e Estimator) Draws() bool { return e.Source.Random }

// Deterministic says that its gradient has no noise: its path is accelerated.
func (e Estimator) Deterministic() bool { return !e.Source.Random }

// Minimises says that its loss is a function, which a line search can go by.
func (e Estimator) Minimises() bool { return !e.Loss.Needs().Equation }

// FitsMean says that networks by it estimate the mean along.
func (e Estimator) FitsMean() bool { return e.Loss.Needs().Mean && !e.HoldsMean }

// Assumption is what it takes for granted of missing cells, when no law of them is known.
func (e Estimator) Assumption() losses.Assumption {
	needs := e.Loss.Needs()
	switch {
	case e.NeedsCompleteRows():
		return losses.NoGaps
	case !e.Draws() && !needs.NoDraws: // what stands in the gaps is taken for observed
		return losses.NoneHolds
	case needs.Assumes == "":
		return losses.MCAR
	}
	return needs.Assumes
}

// Trains says that it trains an imputer along.
func (e Estimator) Trains() bool { return e.Source.Imputer }

// Proposes says that it draws from a proposal whose deviation can be set.
func (e Estimator) Proposes() bool { return e.Source.ProposalSD }

// NeedsDensity says that it is for models with a log density.
func (e Estimator) NeedsDensity() bool {
	return e.Loss.Needs().Density || e.Weighting.Needs().Density || e.Source.Imputer || e.Source.Memory != nil
}

// NeedsNormal says that it is for normal models.
func (e Estimator) NeedsNormal() bool { return e.Source.Normal || e.Loss.Needs().Normal }

// OfMatrix says that it knows a table by one matrix alone: it makes no steps over rows, and is
// for networks only, whose path goes by that matrix.
func (e Estimator) OfMatrix() bool {
	_, ok := e.Loss.(losses.OfMatrix)
	return ok
}

// NeedsOrdinal says that it is for tables with ordered categories (data.Table.Cuts); OfMatrix can have them.
func (e Estimator) NeedsOrdinal() bool { return e.Loss.Needs().Ordinal }

// NeedsDefinite says that a normal model's precision has to stay positive definite on
// the missing cells of each row.
func (e Estimator) NeedsDefinite() bool { return e.Source.Definite || e.Loss.Needs().Normal }

// NeedsCompleteRows says that it is for tables without missing cells.
func (e Estimator) NeedsCompleteRows() bool { return e.Source.CompleteRows }

// Correctable says that averages over its draws can be had with and without leaving one
// out: its weights are uniform, and its loss has products of averages.
func (e Estimator) Correctable() bool {
	own := e.Weighting.Needs()
	return e.Draws() && !own.Proposal && !own.Density && losses.LeaveOneOut{}.Check(e.Loss) == nil
}

// WeightingFor is the weighting by its name for so many draws of a row; for "" the estimator's own, or uniform where
// that needs more draws. Only uniform and leave-one-out can stand for each other.
func (e Estimator) WeightingFor(name string, draws int) (losses.Weighting, error) {
	if name == "" || name == e.Weighting.Name() {
		if name == "" && draws < e.Weighting.Needs().Draws {
			return losses.Uniform{}, nil
		}
		return e.Weighting, nil
	}
	w, err := losses.WeightingByName(name)
	if err != nil {
		return nil, err
	}
	if needs := w.Needs(); !e.Correctable() || needs.Density || needs.Proposal {
		these := slices.DeleteFunc(slices.Clone(All), func(e Estimator) bool { return !e.Correctable() })
		return nil, fmt.Errorf("method %s has the weighting %s; only uniform and leave-one-out can stand for each other, in the methods %s", e.Name, e.Weighting.Name(), strings.Join(names(these), ", "))
	}
	return w, nil
}

// Check says why it cannot estimate a model with an objective on a domain, as an error of
// the setting method, or nil.
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
		return errors.New("its chains go on from step to step given the same observed cells, but the objective adds new noise to these at each: use iw, var or variw")
	}
	if !within(s, model.SupportOf(m)) {
		return errors.New("the model is a density on a part of R^d only, and the domain reaches beyond it: fit it on its support")
	}
	if !e.NeedsDensity() {
		return nil
	}
	has, err := model.CapabilitiesOf(m)
	if err == nil && !has.Density {
		others := slices.DeleteFunc(slices.Clone(All), func(e Estimator) bool { return e.NeedsDensity() || e.NeedsNormal() })
		err = fmt.Errorf("the model is a score without a log density, which is needed here: only the methods %s can learn it", strings.Join(names(others), ", "))
	}
	return err
}

// within says whether s is a part of a model's support, whose half-spaces it has to name.
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

// CheckTable says why it cannot estimate from a table, or nil.
func (e Estimator) CheckTable(t *data.Table) error {
	if e.NeedsCompleteRows() && t.Missing() > 0 {
		return fmt.Errorf("method %s is for tables without missing cells; this one has %d: use em-exact, exact or another method", e.Name, t.Missing())
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
