package trainers

import (
	"context"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
)

// fit estimates parameters by the optimiser of Spec.Descent.
func (p *Prepared) fit(ctx context.Context, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	if s.Descent.Penalty.Asked() {
		coupled, _ := model.CoupledOf(q.Model) // Config.Resolve has asked
		q.Model = coupled.Free()
	}
	e, err := engine.New(q, s.Steps)
	if err != nil {
		return nil, err
	}
	s.Steps = e.Config
	if err := run.State.claim(q.Table, e, s); err != nil {
		return nil, err
	}
	setting.Default(&run.State.Descent, &descent.State{})
	truth, err := p.truth(q.Model, scale)
	if err != nil {
		return nil, err
	}
	f := &descent.Fit{Engine: e, Config: s.Descent, State: run.State.Descent, Truth: truth, Save: func() error { return run.save(e) }}
	if f.File, err = p.rows(ctx, e, scale); err != nil {
		return nil, err
	}
	if err := run.ended(ctx, e, f.Run(ctx)); err != nil {
		return nil, err
	}
	e.Look(q.Table, 0) // of a file, the sample
	last := f.Final()
	r := &Result{Spec: s, Estimator: e.Estimator, Loss: last.Loss, Size: last.EffectiveSize, History: f.State.History, Final: last}
	r.Converged, r.Verdict = f.Verdict()
	r.Warnings = append(e.Degenerate(last.EffectiveSize), e.LeftOut()...)
	if err := run.ended(ctx, e, r.mix(ctx, e)); err != nil {
		return nil, err
	}
	if r.Penalty = f.Penalty(); r.Penalty != nil {
		r.Warnings = append(r.Warnings, r.Penalty.Warnings...)
	}
	r.Warnings = append(r.Warnings, run.State.mixed()...)
	found, err := p.parameters(ctx, e, scale)
	if err := run.ended(ctx, e, err); err != nil {
		return nil, err
	}
	if r.Model, err = p.saved(q.Model, e, scale); err == nil && found != nil {
		r.Model.Uncertainty = found.Uncertainty
		r.Warnings = append(r.Warnings, found.Warnings...)
	}
	return r, err
}
