package trainers

import (
	"context"

	"missingscore/internal/setting"
	"missingscore/trainers/inference"
	_ "missingscore/trainers/inference/debias" // its kinds
	"missingscore/trainers/path"
)

// checkInference fills in the defaults of Spec.Inference and refuses what does not go with
// the estimator or the support.
func (p *Prepared) checkInference() (err error) {
	c := &p.Spec.Inference
	if *c, err = c.Resolve(); err != nil || !c.Asked() {
		return err
	}
	kind := inference.Kinds[c.Kind]
	if p.missingness != nil && kind.NoLaw {
		return setting.Errorf("inference", c.Kind, "it is not for tables whose cells are missing by a known law: take --inference bootstrap=N")
	}
	return kind.Check(p.Estimator, p.Support)
}

// infer tells how uncertain the pairs of an estimated network are.
func (p *Prepared) infer(ctx context.Context, n *path.Run, r *Result) error {
	c := p.Spec.Inference
	if !c.Asked() {
		return nil
	}
	found, err := inference.Infer(ctx, inference.Problem{Config: c, Path: n})
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, found.Warnings...)
	r.Network.Inference = found
	r.Network.Network.SetUncertainty(r.Network.Precision, found.Pairs)
	return nil
}
