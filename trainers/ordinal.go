package trainers

import (
	"strings"

	"missingscore/data/transform"
	"missingscore/internal/setting"
	"missingscore/trainers/descent"
)

// checkOrdinal refuses what does not go with ordered categories.
func (p *Prepared) checkOrdinal() error {
	columns := p.Transform.Ordinal()
	if columns == nil {
		return nil
	}
	var names []string
	for _, j := range columns {
		names = append(names, p.Table.Names[j])
	}
	refused := func(why string) error {
		return setting.Errorf(transform.OrdinalKind, strings.Join(names, ","), "%s", why)
	}
	s := p.Spec
	switch {
	case s.Model.New != nil || s.Model.Kind != DefaultModel:
		return refused("ordered categories are taken for intervals of a normal number, and the model is another: take --model gaussian, or leave --ordinal out, which makes them numbers")
	case s.Missingness != nil:
		return refused("ordered categories go with cells missing at random, and a law of missing cells is known (--missingness): leave one of the two out")
	case s.Network == nil && s.Inference.Asked():
		return refused("parameters of a latent normal have no standard errors here: leave --inference out, or take the command network with --inference bootstrap=N")
	case s.Network == nil && s.Descent != descent.Config{Optimiser: s.Descent.Optimiser}, s.Network == nil && s.Descent.Optimiser != "" && s.Descent.Optimiser != "auto":
		return refused("a latent normal is fitted by stochastic EM, which has neither an optimiser nor its settings: leave --optimiser, --iterations, --tolerance, --epochs, --rate, --validation and --patience out")
	}
	for _, j := range columns {
		if s.Domain != nil && s.Domain.BoundedColumn(j) {
			return refused("the latent number of " + p.Table.Names[j] + " has no bounds, and its categories are those of the table: leave the bounds of this column out (--lower, --upper, --domain)")
		}
	}
	return nil
}
