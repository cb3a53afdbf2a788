package trainers

import (
	"context"

	"missingscore/internal/setting"
	"missingscore/trainers/inference"
	"missingscore/trainers/inference/bootstrap"
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

// infer tells how uncertain an estimated network is. Of a shard it makes its estimates, and
// tells nothing.
func (p *Prepared) infer(ctx context.Context, n *path.Run, r *Result, run Run) error {
	c := p.Spec.Inference
	if !c.Asked() && c.Stability == 0 {
		return nil
	}
	setting.Default(&run.State.Inference, &inference.State{})
	q := inference.Problem{Config: c, Path: n, Again: p.again(), State: run.State.Inference, Shard: run.Shard,
		Save: func() error { return run.save(n.Engine) }}
	if c.Asked() {
		found, err := inference.Infer(ctx, q)
		if err != nil {
			return err
		}
		if found != nil {
			r.Warnings = append(r.Warnings, found.Warnings...)
			r.Network.Inference = found
			r.Network.Network.SetUncertainty(r.Network.Precision, found.Pairs)
			r.unreliable(found.Doubt)
		}
	}
	if c.Stability == 0 {
		return nil
	}
	s, err := bootstrap.CaseDropping(ctx, q)
	if err != nil || s == nil {
		return err
	}
	r.Warnings = append(r.Warnings, s.Warnings...)
	r.Network.Stability = s
	return nil
}

// unreliable marks a result of which too many resamples have none.
func (r *Result) unreliable(why string) {
	if why != "" {
		r.Converged, r.Verdict = false, "NOT reliable: "+why+". The network itself: "+r.Verdict
	}
}
