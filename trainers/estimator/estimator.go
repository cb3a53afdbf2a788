package estimator

import (
	"fmt"
	"strings"

	"missingscore/losses"
	"missingscore/trainers/source"
)

// Estimator is one row of the table in maths.md, "One estimator family": where
// x' comes from, and the loss with its weighting.
type Estimator struct {
	Name, Title   string
	Source        func(source.Setting) (source.Source, error)
	Loss          func(losses.Correction) losses.Loss
	Correction    losses.Correction // the default, chosen by measured error (benchmarks/normal)
	Draws         bool              // makes r imputations of a row; otherwise one
	Proposes      bool              // draws from a fixed proposal
	Trains        bool              // trains an imputer along
	Deterministic bool              // has a gradient without noise: its path is accelerated
	Complete      bool              // is for tables without missing cells
	Conditional   bool              // needs the precision positive definite on missing blocks
	Gaussian      bool              // needs a Gaussian model
	Fallback      string            // the estimator in its place for other objectives than the classical one, if it knows none itself
	Note          string            // one line for the user
}

func pseudo(w losses.Weighting) func(losses.Correction) losses.Loss {
	return func(c losses.Correction) losses.Loss { return losses.Pseudo{Weighting: w, Correction: c} }
}

func fixed(l losses.Loss) func(losses.Correction) losses.Loss {
	return func(losses.Correction) losses.Loss { return l }
}

// All are all there are. A new one is a line here.
var All = []Estimator{
	{Name: "var", Title: "Marg-Var", Source: source.NewImputer, Loss: pseudo(losses.Uniform), Draws: true, Trains: true, Conditional: true,
		Note: "variational imputer, uniform weights (the paper's Algorithm 2)"},
	{Name: "iw", Title: "Marg-IW", Source: source.NewProposal, Loss: pseudo(losses.SelfNormalised), Draws: true, Proposes: true,
		Note: "fixed proposal, self-normalised weights (the paper's Algorithm 1)"},
	{Name: "variw", Title: "Marg-VarIW", Source: source.NewImputer, Loss: pseudo(losses.SelfNormalised), Draws: true, Trains: true, Conditional: true,
		Note: "variational imputer, self-normalised weights"},
	{Name: "exact", Title: "Marg-Exact", Source: source.NewZeros, Loss: fixed(losses.GaussianMarginal{}), Deterministic: true, Conditional: true, Gaussian: true, Fallback: "exact-mc",
		Note: "Gaussian only: expectations in closed form (exact-mc on a domain, and for other objectives)"},
	{Name: "exact-mc", Title: "Marg-Exact (sampled)", Source: source.NewExact, Loss: pseudo(losses.Uniform), Correction: losses.LeaveOneOut, Draws: true, Conditional: true, Gaussian: true,
		Note: "Gaussian only: draws from the exact conditional"},
	{Name: "em", Title: "EM", Source: source.NewProposal, Loss: fixed(losses.Complete{Weighting: losses.SelfNormalised}), Draws: true, Proposes: true,
		Note: "fractional imputation (Uehara et al. 2020), observed coordinates"},
	{Name: "em-full", Title: "EM (all coordinates)", Source: source.NewProposal, Loss: fixed(losses.Complete{Weighting: losses.SelfNormalised, AllCoordinates: true}), Draws: true, Proposes: true,
		Note: "fractional imputation, the literal full-data form"},
	{Name: "zeroed", Title: "Zeroed", Source: source.NewZeros, Loss: fixed(losses.Complete{}), Deterministic: true,
		Note: "zeros for missing cells (MissDiff without its network)"},
	{Name: "full", Title: "Full", Source: source.NewZeros, Loss: fixed(losses.Complete{}), Deterministic: true, Complete: true,
		Note: "ordinary score matching, for tables without missing cells"},
}

// ByName looks an estimator up.
func ByName(name string) (Estimator, error) {
	var names []string
	for _, e := range All {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Estimator{}, fmt.Errorf("there is no method %q; methods are %s", name, strings.Join(names, ", "))
}

// For is the estimator that a method is with an objective: of one that knows the
// classical objective only, its fallback for others.
func For(method string, o losses.Objective) (Estimator, error) {
	e, err := ByName(method)
	if _, classical := o.(losses.Classical); err == nil && e.Fallback != "" && !classical {
		return ByName(e.Fallback)
	}
	return e, err
}
