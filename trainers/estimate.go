package trainers

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/data/mcar"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/fitted"
	"missingscore/trainers/inference"
	"missingscore/trainers/mcmc"
	"missingscore/trainers/penalty"
	"missingscore/trainers/regpath"
	"missingscore/trainers/sparse"
)

// Run says how an estimate is cut and taken up again.
type Run struct {
	State *State             // where it starts; nil or a zero State: at the beginning
	Save  func(*State) error // called when the state is worth saving; may be nil
	Shard inference.Shard    // of a network's resamples: those that are to be made. The result of a shard has neither Network.Inference nor Network.Stability

	// InPlace says that the table is not needed any more: its columns are standardised where they
	// stand, which saves a copy, and put back when the estimate is made, up to rounding, with 0 in
	// missing cells. A state of a run is taken up with the table as it was before. It has no effect
	// where both tables are needed: on fits with standard errors, on networks that are made again
	// from other rows, and where there is a support or a law of missing cells, whose bounds
	// rounding must not cross.
	InPlace bool
}

// Result is an estimate in the table's units.
type Result struct {
	Spec      Spec // with every default filled in
	Estimator estimator.Estimator
	Model     *fitted.Saved // the model with what its use needs, as it is saved
	Loss      float64       // reported loss: mean over rows, of a network over rows and columns
	Size      float64       // effective sample size, mean over rows with gaps; NaN without weights
	Converged bool
	Verdict   string       // one sentence
	Warnings  []string     // what the user should know
	Mixing    *mcmc.Mixing // of chains that rows were completed from; nil for none

	Assumption      losses.Assumption // of why cells are missing
	MissingAtRandom []mcar.Column     // whether the table's gaps depend on other columns

	History []descent.Record // of a fit, an epoch or iteration each
	Final   descent.Record   // the one of History that the model is of
	Network *NetworkResult   // of a network
	Penalty *penalty.Outcome // of a fit with a penalty
}

// Estimate fits what a Spec says to a table with missing cells: columns, domain and
// missingness are standardised together, and the result is in the table's units.
//
// When ctx is cancelled the state is saved and ctx's error returned. An
// *engine.DivergedError comes with the state of the last good step; iterations after a
// path that diverge leave the path's point as the result, not converged. A *StateError is of a
// state that it broke down going on from.
func Estimate(ctx context.Context, t *data.Table, s Spec, run Run) (*Result, error) {
	p, err := Prepare(t, s)
	if err != nil {
		return nil, err
	}
	return p.Estimate(ctx, run)
}

// Estimate is the function Estimate after Prepare.
func (p *Prepared) Estimate(ctx context.Context, run Run) (r *Result, err error) {
	if run.State == nil {
		run.State = &State{}
	}
	if run.State.Version == 0 {
		return p.estimate(ctx, run)
	}
	err = panics.Caught(func() (err error) {
		r, err = p.estimate(ctx, run)
		return err
	})
	var broken *panics.Error
	if errors.As(err, &broken) {
		return nil, &StateError{broken}
	}
	return r, err
}

// estimate is Estimate, of a state that may hold what no run has left there.
func (p *Prepared) estimate(ctx context.Context, run Run) (*Result, error) {
	if run.Save == nil {
		run.Save = func(*State) error { return nil }
	}
	warnings, err := p.warnings()
	if err != nil {
		return nil, err
	}
	r, err := p.standardised(ctx, run)
	if err == nil {
		r.Warnings = append(warnings, r.Warnings...)
		p.addWarnings(r)
	}
	return r, err
}

// standardised makes the estimate of standardised columns, without a judgement of it.
func (p *Prepared) standardised(ctx context.Context, run Run) (*Result, error) {
	var work *data.Table
	var scale data.Scale
	if run.InPlace && !p.needsUnits() {
		var restore func()
		work, scale, restore = p.scaledInPlace()
		defer restore()
	} else {
		work, scale = p.scaled()
	}
	q, err := p.problem(work, scale)
	if err != nil {
		return nil, err
	}
	if q.Normal, err = p.imputerStart(ctx, q); err != nil {
		return nil, err
	}
	by := p.fit
	switch {
	case p.Spec.Network != nil:
		by = p.network
	case p.Estimator.NeedsOrdinal():
		by = p.latent
	}
	return by(ctx, q, scale, run)
}

// needsUnits tells whether the table is needed in its own units, too, while it is fitted.
func (p *Prepared) needsUnits() bool {
	c := p.Spec.Inference
	switch {
	case p.Support != nil || p.missingness != nil:
		return true
	case p.Spec.Network == nil:
		return c.Asked()
	}
	return c.Stability > 0 || c.Asked() && inference.Kinds[c.Kind].Resamples
}

// save captures the engine's part of the state and hands it on.
func (r Run) save(e *engine.Engine) error {
	r.State.Engine = e.Capture()
	return r.Save(r.State)
}

// ended saves the state of a cancelled run and returns its error, or what kept the
// state from being saved.
func (r Run) ended(ctx context.Context, e *engine.Engine, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if err := r.save(e); err != nil {
		return fmt.Errorf("interrupted, and the state could not be saved: %w", err)
	}
	return ctx.Err()
}

// mix looks at the chains that rows were completed from.
func (r *Result) mix(ctx context.Context, e *engine.Engine) (err error) {
	r.Mixing, err = e.Mixing(ctx)
	r.Warnings = append(r.Warnings, engine.MixingWarnings(r.Mixing)...)
	return err
}

// truth is what the fit is compared with as it goes: the fit is seen in the table's units.
func (p *Prepared) truth(m model.Model, scale data.Scale) (*evaluate.Comparison, error) {
	if p.Spec.Truth == nil {
		return nil, nil
	}
	t := *p.Spec.Truth
	if p.Spec.KeepUnits {
		return t.Follow(m)
	}
	t.Scale, t.View = scale, model.Rescaled{Model: m, Mean: scale.Mean, Deviation: scale.Deviation}
	if _, ok := m.(model.Parametric); ok {
		var err error
		if t.View, err = p.newModel(); err != nil {
			return nil, err
		}
		if t.View.Params()[0] == m.Params()[0] {
			return nil, errors.New("ModelSpec.New gives the same model twice: with a truth it must make a new one at each call")
		}
	}
	return t.Follow(m)
}

// saved is the model with what its use needs, its quantities in the table's units.
func (p *Prepared) saved(m model.Model, e *engine.Engine, scale data.Scale) (*fitted.Saved, error) {
	if parametric, ok := m.(model.Parametric); ok && !p.Spec.KeepUnits {
		if err := parametric.Rescale(scale.Mean, scale.Deviation); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnits, err)
		}
		for _, q := range parametric.Quantities() {
			if !engine.Finite(q.Value...) {
				return nil, fmt.Errorf("%w: %s is beyond the numbers of float64 there: give the columns other units", ErrUnits, q.Name)
			}
		}
	}
	s := &fitted.Saved{
		Kind: p.Spec.Model.Kind, Model: m, Names: p.Table.Names, Transform: p.Transform, Domain: p.Domain,
		Scale: scale, Imputer: e.Imputer, ImputerKind: e.Config.Imputer.Kind, Missingness: p.missingness,
	}
	if n, ok := p.objective.(losses.Noising); ok {
		schedule := n.Schedule()
		s.Noise = &schedule
	}
	return s, nil
}

// network estimates a Gaussian network.
func (p *Prepared) network(ctx context.Context, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	setting.Default(&run.State.Path, &regpath.State{})
	n, err := regpath.New(q, s.Steps, *s.Network, run.State.Path)
	if err != nil {
		return nil, err
	}
	n.Test = p.tests(n)
	s.Steps, s.Network = n.Engine.Config, &n.Config
	if err := run.State.claim(q.Table, n.Engine, s); err != nil {
		return nil, err
	}
	scores, err := n.Estimate(ctx, func() error { return run.save(n.Engine) })
	if err := run.ended(ctx, n.Engine, err); err != nil {
		return nil, err
	}
	f := run.State.Path.Refine
	r := &Result{Spec: s, Estimator: n.Estimator, Loss: f.Loss, Size: f.Size, Converged: f.Converged, Verdict: n.Verdict()}
	r.Warnings = append(n.Warnings(), n.LeftOut()...)
	if err := run.ended(ctx, n.Engine, r.mix(ctx, n.Engine)); err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, run.State.mixed()...)
	precision := precisionOf(n, scale)
	if r.Network, err = newNetworkResult(p.Table.Names, n, scores, scale, precision); err != nil {
		return nil, err
	}
	if err := run.ended(ctx, n.Engine, p.infer(ctx, n, r, run)); err != nil {
		return nil, err
	}
	m, err := modelOf(n, precision, scale)
	if err != nil {
		return nil, err
	}
	r.Model = &fitted.Saved{Kind: DefaultModel, Model: m, Names: p.Table.Names, Transform: p.Transform.At(n.Thresholds()), Domain: p.Domain, Scale: scale, Missingness: p.missingness}
	return r, nil
}

// precisionOf is the precision of a path's result in the table's units; where the estimate is by
// one matrix, which is for many columns, without its zeros.
func precisionOf(n *regpath.Run, scale data.Scale) mat.Symmetric {
	if !n.Estimator.OfMatrix() {
		p := n.Model().Precision()
		scale.PrecisionInPlace(p)
		return p
	}
	p := sparse.FromPacked(n.Model().Packed.Value, n.Table.D)
	for j, unit := range scale.Deviation {
		p.Diagonal[j] = p.Diagonal[j] / unit / unit
	}
	for i, at := range p.At {
		p.Value[i] = p.Value[i] / scale.Deviation[at[0]] / scale.Deviation[at[1]]
	}
	return p.Symmetric()
}

// modelOf is the normal distribution of a path's result in the table's units. It takes over the
// path's model where it can.
func modelOf(n *regpath.Run, precision mat.Symmetric, scale data.Scale) (*model.Gaussian, error) {
	d, mean := n.Table.D, scale.Location(n.Model().Mean())
	m := n.Model()
	switch {
	case !n.Estimator.OfMatrix():
		m = model.NewGaussian(d, model.CholeskyFactor)
	case m.Parameterisation() != model.FreeSymmetric: // else, with many columns: to make and undo a factor takes long, and one more matrix memory
		m = model.NewGaussian(d, model.FreeSymmetric)
	}
	if err := m.SetPrecision(precision); err != nil {
		return nil, err
	}
	m.SetMean(mean)
	return m, nil
}

// checkPairs refuses a network of columns no two of which are ever observed together.
func checkPairs(t *data.Table) error {
	pairs := t.NeverTogether()
	if len(pairs) == 0 || len(pairs) < t.D*(t.D-1)/2 {
		return nil
	}
	return fmt.Errorf("%s are never observed in the same row, and no other pair is: the table says nothing of a network; rows that have two values or more are needed", diagnose.PairsText(t, pairs))
}

// ErrUnits says that a fit of standardised columns has no parameters for the table's own.
var ErrUnits = errors.New("the fitted parameters cannot be given in the table's units")

// Diverged tells whether an estimate failed because a number was no longer finite or a
// distribution ceased to exist: other settings may help.
func Diverged(err error) bool {
	return engine.Diverged(err) || errors.Is(err, ErrUnits)
}
