package trainers

import (
	"context"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/sandwich"
)

// checkParameters fills in the defaults of Spec.Inference for a fit without a network and
// refuses what has no standard errors.
func (p *Prepared) checkParameters() (err error) {
	c := &p.Spec.Inference
	if !c.Asked() && c.Stability == 0 {
		if *c != (inference.Config{}) {
			*c, err = c.Resolve()
		}
		return err
	}
	if p.Spec.Descent.Penalty.Asked() {
		return setting.Errorf("inference", c.Kind, "its standard errors are of a minimum of the loss alone, and a penalty moves the fit away from it; leave one of the two out")
	}
	draws := p.Spec.Steps.Draws
	setting.Default(&draws, engine.DefaultDraws)
	if err := sandwich.Check(*c, sandwich.Fit{
		Estimator: p.Estimator, Model: p.Model, Kind: p.Spec.Model.Kind, Objective: p.objective,
		Table: p.Table, Draws: draws, Law: p.missingness != nil, KeepUnits: p.Spec.KeepUnits,
	}); err != nil {
		return err
	}
	*c, err = c.Resolve()
	return err
}

// parameters tells how uncertain a fit's parameters are, nil where nobody asks. The model is
// in the units that it was fitted in.
func (p *Prepared) parameters(ctx context.Context, e *engine.Engine, scale data.Scale) (*sandwich.Result, error) {
	if !p.Spec.Inference.Asked() {
		return nil, nil
	}
	r, err := sandwich.Infer(ctx, sandwich.Problem{
		Engine: e, Scale: scale, Scaled: model.SupportOf(p.Model).Cone(), Names: p.Table.Names, Level: p.Spec.Inference.Level,
		Objective: func(s *domain.Domain) (losses.Objective, error) { return p.Spec.Objective.make(p.objectiveOn(s)) },
	})
	if err != nil {
		return nil, err
	}
	if p.Assumption() == losses.MCAR && slices.ContainsFunc(p.gapTests(), mcar.Column.Depends) {
		r.Warnings = append(r.Warnings, "WARNING: cells are not missing completely at random, and standard errors and intervals rest on that: they may miss the truth by more than they say; take a method that is right if cells are missing at random, as em-exact or em-full")
	}
	return r, nil
}
