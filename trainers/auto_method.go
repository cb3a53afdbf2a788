package trainers

import (
	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/losses"
)

// latentColumns is for how many columns ordered categories are completed by EM, whose time grows
// with rows times columns squared; of more moments of pairs are taken.
const latentColumns = 500

// plane is a number of columns: energies of more were nearer to the truth without weights.
const plane = 2

// resolveMethod gives the method by name: that which was asked for, or what auto is. Of ordered
// categories it is em-latent, or pairwise in networks of many columns, also where a method that
// auto is of numbers was asked for; of moments of pairs alone it is pairwise; else AutoMethod's.
func (p *Prepared) resolveMethod() (string, error) {
	asked, counted := p.Spec.Steps.Method, p.original.Counted
	if p.Transform.Ordinal() != nil {
		switch asked {
		case "auto", "em-exact", "full", "exact":
			if p.Spec.Network != nil && p.Table.D > latentColumns {
				return "pairwise", nil
			}
			return "em-latent", nil
		}
	}
	switch {
	case asked != "auto":
		return asked, nil
	case counted != nil && counted.Pairs != nil:
		return "pairwise", nil
	}
	return AutoMethod(p.Table, p.missingness, p.Model, p.objective)
}

// AutoMethod is the default for a table and a model: full where nothing is missing. Of
// a normal density it is em-exact, which is right under MAR and has neither an imputer's
// bias nor noise (benchmarks/networks), or exact with an objective that adds noise, which
// completed rows do not go with. Of other densities it is right under MAR, too: em-full where the
// density determines the parameters, as mixtures and quartic models (docs/explanation/architecture.md#why-it-is-so),
// and else, of neural energies, by draws of an imputer, which come where the density is: em-var, and
// em-variw, which weights them, in the plane and with other objectives than the classical one
// (docs/explanation/architecture.md#why-it-is-so); with such an objective or a known law it is iw.
// Of a score alone it is zeroed.
// Where probabilities of missing are known to be logistic it is variw, for cells that hide
// where a fixed proposal seldom looks, and where cells are known to
// lie beyond thresholds exact.
func AutoMethod(t *data.Table, known *missingness.Model, m model.Model, o losses.Objective) (string, error) {
	has, err := model.CapabilitiesOf(m)
	_, normal := model.AsNormal(m)
	_, determined := m.(model.Identified)
	_, noising := o.(losses.Noising)
	_, plain := o.(losses.Plain)
	switch {
	case err != nil:
		return "", err
	case t.Missing() == 0:
		return "full", nil
	case !has.Density:
		return "zeroed", nil
	case known != nil && known.Logistic != nil:
		return "variw", nil
	case normal && known == nil && !noising:
		return "em-exact", nil
	case normal:
		return "exact", nil
	case known == nil && !noising && determined:
		return "em-full", nil
	case known == nil && plain && t.D > plane:
		return "em-var", nil
	case known == nil && !noising:
		return "em-variw", nil
	}
	return "iw", nil
}
