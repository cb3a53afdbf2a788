package trainers

import (
	"missingscore/graph/model"
	"missingscore/losses"
)

// defaultImputer is the kind of imputer that is trained where none is asked for. With
// the complete-data loss the fit learns from the drawn cells, too, so that of a density that is
// not normal the draws need more shapes than the paper's one normal a row: several normals
// (docs/explanation/architecture.md#why-it-is-so), on a domain without a boundary and by the loss kl, which they need.
func (p *Prepared) defaultImputer() string {
	_, normal := model.AsNormal(p.Model)
	if e := p.Estimator; e.Trains() && e.Loss.Needs().CompletedRows && !normal && !p.Support.Bounded() && p.Spec.Steps.ImputerLoss == losses.KL {
		return "mixture"
	}
	return "normal"
}
