package trainers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/mcar"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/evaluate"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/sandwich"
	"missingscore/internal/trainers/mcmc"
	"missingscore/internal/trainers/mixed"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
	"missingscore/trainers/penalty"
)

// Run configures saving, resuming and sharding of an estimate.
type Run struct {
	State *State             // start; nil or zero: at the beginning. Without a penalty Epochs and Iterations of Spec.Descent may exceed the saved ones
	Save  func(*State) error // called at points where the state can be saved; may be nil
	Shard inference.Shard    // resamples of a network to compute here. The result of a shard has no Network.Inference and no Network.Stability

	// InPlace standardises the table without a copy and restores it, up to rounding, with 0 in missing
	// cells. Fits with standard errors, resampled networks, a support or a missingness mechanism
	// ignore it.
	InPlace bool
}

// Result is an estimate in the table's units.
type Result struct {
	Spec      Spec // with all defaults filled in
	Estimator estimator.Estimator
	Model     *fitted.Saved // as saved
	Loss      float64       // mean over rows; for a network over rows and columns
	Size      float64       // effective sample size of draws, mean over rows with missing cells; NaN without weights
	Converged bool
	Verdict   string
	Warnings  []string
	Mixing    *mcmc.Mixing // of imputation chains; nil without chains

	Assumption      losses.Assumption
	MissingAtRandom []mcar.Column // tests of missing completely at random, by column

	History []descent.Record // an entry per epoch or iteration; nil for a network
	Final   descent.Record   // the History entry of the returned model
	Network *NetworkResult   // nil for a fit of parameters
	Penalty *penalty.Outcome // nil without a penalty
}

// WriteHistory writes History as CSV: a line per record; NaN is an empty field.
func (r *Result) WriteHistory(w io.Writer) error { return descent.WriteHistory(w, r.History) }

// ErrUnits is returned if the fitted parameters have no equivalent in the table's units.
var ErrUnits = errors.New("the fitted parameters cannot be converted to the table's units")

var errNotDefinite = errors.New("the latent covariance matrix is singular; leave out columns that repeat others by ReadOptions.Exclude")

// Diverged reports whether a number was not finite or a distribution ceased to exist; other
// settings may help.
func Diverged(err error) bool { return engine.Diverged(err) || errors.Is(err, ErrUnits) }

// Estimate fits s to table t, standardises columns, domain and missingness together, and returns
// the result in the table's units.
//
// If ctx is cancelled, it saves the state and returns ctx's error. A fit that diverges returns an
// *engine.DivergedError and saves the last finite state. A diverged refinement after a path leaves
// the path's point, not converged. A corrupt state is an error.
func Estimate(ctx context.Context, t *data.Table, s Spec, run Run) (*Result, error) {
	p, err := Prepare(t, s)
	if err != nil {
		return nil, err
	}
	return p.Estimate(ctx, run)
}

// Estimate does the work of the function Estimate.
func (p *Prepared) Estimate(ctx context.Context, run Run) (r *Result, err error) {
	setting.Default(&run.State, &State{})
	if run.Save == nil {
		run.Save = func(*State) error { return nil }
	}
	estimate := func() error {
		found, err := p.Findings()
		if err != nil {
			return err
		}
		if r, err = fit(ctx, p, run); err != nil {
			return err
		}
		if err := checkDraws(ctx, p, r); err != nil {
			return err
		}
		judge(p, found, r)
		return nil
	}
	if run.State.Version == 0 {
		err = estimate()
		return r, err
	}
	err = panics.Caught(estimate) // a corrupt state may panic
	var broken *panics.Error
	if errors.As(err, &broken) {
		return nil, fmt.Errorf("the saved state is not usable; delete it and start again without resuming; if that also fails, please report it%s", broken.Place)
	}
	return r, err
}

func fit(ctx context.Context, p *Prepared, run Run) (*Result, error) {
	if p.mixed() != nil {
		return fitMixed(ctx, p, run)
	}
	scale, t := p.scale(), p.Table
	if run.InPlace && !needsUnits(p) {
		z, restore := scale.InPlace(t)
		defer restore()
		t = z
	} else {
		t = scale.Standardised(t)
	}
	if _, noised := p.objective.(losses.Noising); !noised && p.Spec.Network == nil && p.Support == nil && model.TrainingOf(p.Model).Overfits {
		t = spread(t, p.Spec.Steps.Seed)
	}
	q, err := p.problem(t, scale)
	if err != nil {
		return nil, err
	}
	if q.Normal, err = imputerStart(ctx, p, q); err != nil {
		return nil, err
	}
	switch {
	case p.Spec.Network != nil:
		return fitNetwork(ctx, p, q, scale, run)
	case p.Estimator.NeedsOrdinal():
		return fitLatent(ctx, p, q, scale, run)
	}
	return fitParameters(ctx, p, q, scale, run)
}

// spread adds triangular noise s(u + v − 1) on columns rounded to multiples of s: without it the
// loss of a flexible model is unbounded below.
func spread(t *data.Table, seed uint64) *data.Table {
	out, rng := *t, stream.New(seed, stream.Simulate, 1)
	out.Values = slices.Clone(t.Values)
	for j := range t.D {
		x := t.Column(j)
		distinct := slices.Compact(slices.Sorted(slices.Values(x)))
		if len(distinct) < 2 || len(distinct) > len(x)*2/3 || !onGrid(distinct) {
			continue
		}
		step := mixed.Step(x)
		for i := j; i < len(out.Values); i += t.D {
			if t.Observed[i] {
				out.Values[i] += step * (rng.Float64() + rng.Float64() - 1)
			}
		}
	}
	return &out
}

// onGrid reports whether values differ by multiples of their smallest difference, as rounded
// numbers do.
func onGrid(sorted []float64) bool {
	step := math.Inf(1)
	for i := range sorted[1:] {
		step = min(step, sorted[i+1]-sorted[i])
	}
	for _, v := range sorted {
		if steps := (v - sorted[0]) / step; math.Abs(steps-math.Round(steps)) > 1e-6 {
			return false
		}
	}
	return true
}

func needsUnits(p *Prepared) bool {
	c := p.Spec.Inference
	switch {
	case p.Support != nil || p.missingness != nil:
		return true
	case p.Spec.Network == nil:
		return c.Asked()
	}
	return c.Stability > 0 || c.Asked() && inference.Kinds[c.Kind].Resamples
}

func (r Run) save(e *engine.Engine) error {
	if e != nil {
		r.State.Engine = e.Capture()
	}
	return r.Save(r.State)
}

// The state of a cancelled run is saved; e is nil for a mixture with levels.
func (r Run) ended(ctx context.Context, e *engine.Engine, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if err := r.save(e); err != nil {
		return fmt.Errorf("interrupted, but the state could not be saved: %w", err)
	}
	return ctx.Err()
}

func fitParameters(ctx context.Context, p *Prepared, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	if s.Descent.Penalty.Asked() {
		coupled, _ := model.CoupledOf(q.Model) // checked by Config.Resolve
		q.Model = coupled.Free()
	}
	e, err := engine.New(q, s.Steps)
	if err != nil {
		return nil, err
	}
	s.Steps = e.Config
	claimed := s
	if !s.Descent.Penalty.Asked() { // steps do not depend on the maximum
		claimed.Descent.Epochs, claimed.Descent.Iterations = 0, 0
	}
	if err := run.State.claim(q.Table, e, claimed); err != nil {
		return nil, err
	}
	setting.Default(&run.State.Descent, &descent.State{})
	truth, err := followed(p, q.Model, scale)
	if err != nil {
		return nil, err
	}
	f := &descent.Fit{Engine: e, Config: s.Descent, State: run.State.Descent, Truth: truth, Save: func() error { return run.save(e) }}
	if f.File, err = rowsOf(ctx, p, e, scale); err != nil {
		return nil, err
	}
	if err := run.ended(ctx, e, f.Run(ctx)); err != nil {
		return nil, err
	}
	last := f.Final()
	r := &Result{Spec: s, Estimator: e.Estimator, Loss: last.Loss, Size: last.EffectiveSize, History: f.State.History, Final: last}
	r.Converged, r.Verdict = f.Verdict()
	r.Warnings = append(e.Degenerate(last.EffectiveSize), e.LeftOut()...)
	r.Mixing, err = e.Mixing(ctx)
	if err := run.ended(ctx, e, err); err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, engine.MixingWarnings(r.Mixing)...)
	if r.Penalty = f.Penalty(); r.Penalty != nil {
		r.Warnings = append(r.Warnings, r.Penalty.Warnings...)
	}
	var found *sandwich.Result
	if s.Inference.Asked() { // in the units of the fit
		found, err = sandwich.Infer(ctx, sandwich.Problem{
			Engine: e, Scale: scale, Scaled: model.SupportOf(p.Model).Cone(), Names: p.Table.Names, Level: s.Inference.Level, Objective: p.objectiveOn,
		})
		if err := run.ended(ctx, e, err); err != nil {
			return nil, err
		}
		r.Warnings = append(append(r.Warnings, found.Warnings...), errorsNeedMCAR(p)...)
	}
	if r.Model, err = savedModel(p, q.Model, e, scale); err == nil && found != nil {
		r.Model.Uncertainty = found.Uncertainty
	}
	return r, err
}

// P is the inverse of the covariance matrix from stochastic EM
// (docs/theory/ordinal.md#eq-latent-em). It cannot be resumed.
func fitLatent(ctx context.Context, p *Prepared, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	e, err := engine.New(q, s.Steps)
	if err != nil {
		return nil, err
	}
	s.Steps = e.Config
	if err := run.State.claim(q.Table, e, s); err != nil {
		return nil, err
	}
	m, err := e.Estimator.Loss.(losses.OfMatrix).Matrix(ctx, q.Table, e.Table.AllRows(), nil, e.Config.Workers, true)
	if err := run.ended(ctx, e, err); err != nil {
		return nil, err
	}
	packed := make([]float64, m.D*(m.D+1)/2)
	if !em.Unpenalised(packed, m.S) {
		return nil, errNotDefinite
	}
	g := model.NewGaussian(m.D, model.CholeskyFactor)
	if err := g.SetPrecision(graph.Unpack(m.D, packed)); err != nil {
		return nil, err
	}
	g.SetMean(m.Mean)
	loss := 0.0 // tr(PSP) − 2 tr P = −tr P at P = S⁻¹
	for j := range m.D {
		loss -= packed[graph.PackedIndex(m.D, j, j)]
	}
	final := descent.Record{Iteration: m.Turns, Loss: loss, EffectiveSize: math.NaN(), HeldOut: math.NaN()}
	r := &Result{Spec: s, Estimator: e.Estimator, Loss: loss, Size: math.NaN(), History: []descent.Record{final}, Final: final,
		Converged: !m.Unsettled, Verdict: "converged: " + m.Words, Warnings: e.LeftOut()}
	if m.Unsettled {
		r.Verdict = "NOT converged: " + m.Words
	}
	if r.Model, err = savedModel(p, g, e, scale); err != nil {
		return nil, err
	}
	r.Model.Kind, r.Model.Transform = DefaultModel, p.Transform.At(m.Cuts)
	return r, nil
}

// followed returns the comparison with Spec.Truth in the table's units; nil without a truth.
func followed(p *Prepared, m model.Model, scale data.Scale) (*evaluate.Comparison, error) {
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
			return nil, errors.New("ModelSpec.New returned the same model twice; with a truth it must make a new one at each call")
		}
	}
	return t.Follow(m)
}

func savedModel(p *Prepared, m model.Model, e *engine.Engine, scale data.Scale) (*fitted.Saved, error) {
	if parametric, ok := m.(model.Parametric); ok && !p.Spec.KeepUnits {
		if err := parametric.Rescale(scale.Mean, scale.Deviation); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnits, err)
		}
		for _, q := range parametric.Quantities() {
			if !engine.Finite(q.Value...) {
				return nil, fmt.Errorf("%w: %s overflows; give the columns other units", ErrUnits, q.Name)
			}
		}
	}
	s := &fitted.Saved{
		Kind: p.Spec.Model.Kind, Model: m, Names: p.Table.Names, Transform: p.Transform, Domain: p.Domain,
		Scale: scale, Imputer: e.Imputer, ImputerKind: e.Config.Imputer.Kind, Missingness: p.missingness,
	}
	if t := p.Original; t.D == p.Table.D { // without expanded nominal columns
		s.Levels = namedLevels(slices.Clone(t.Levels))
	}
	if p.Spec.Model.New != nil {
		s.New = p.newModel
	}
	if n, ok := p.objective.(losses.Noising); ok {
		schedule := n.Schedule()
		s.Noise = &schedule
	}
	return s, nil
}

// namedLevels removes names that are 0 and 1; nil if no others are left.
func namedLevels(levels [][]string) [][]string {
	for j, names := range levels {
		if slices.Equal(names, []string{"0", "1"}) {
			levels[j] = nil
		}
	}
	if !slices.ContainsFunc(levels, func(names []string) bool { return names != nil }) {
		return nil
	}
	return levels
}

type settings struct {
	Steps   any             `json:"steps"`
	Weight  any             `json:"weight"`
	Descent any             `json:"descent,omitempty"`
	Network *regpath.Config `json:"network,omitempty"`

	KeepUnits bool `json:"keep_units"`
}

// Encode returns the model's file with the settings and the outcome of the fit.
func (r *Result) Encode() ([]byte, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	s := r.Spec
	switch {
	case r.Model.Kind == "":
		return nil, errors.New("the model has no kind, so its file could not be read; register it in model.Models and name it in ModelSpec.Kind")
	case r.Model.Imputer != nil && r.Model.ImputerKind == "":
		return nil, errors.New("the imputer has no kind, so its file could not be read; register it in nets.Imputers and name it in ImputerSpec.Kind")
	}
	extra := map[string]any{
		"method": s.Steps.Method, "objective": s.Objective.Kind, "loss": r.Loss,
		"warnings": append([]string{}, r.Warnings...), "blas": blas,
	}
	if len(s.Objective.Options) > 0 {
		extra["objective_options"] = s.Objective.Options
	}
	recorded := settings{Steps: s.Steps, Weight: s.Weight, Network: s.Network, KeepUnits: s.KeepUnits}
	if m := r.Mixing; m != nil && engine.Finite(m.RHat, m.Worst) {
		extra["r_hat"], extra["worst_r_hat"], extra["worst_row"] = m.RHat, m.Worst, m.Row+1
	}
	if r.Penalty != nil {
		extra["penalty"] = r.Penalty
	}
	if r.Network != nil {
		extra["lambda"] = r.Network.Lambda
	} else {
		recorded.Descent = s.Descent
	}
	extra["settings"] = recorded
	return r.Model.Encode(extra)
}

// Save writes the model's file atomically. fitted.Load reads it.
func (r *Result) Save(path string) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
}
