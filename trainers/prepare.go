package trainers

import (
	"cmp"
	"context"
	"sync"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/transform"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
)

// Prepared is an estimate before its first step; its Spec has every default that does not need the
// standardised table.
type Prepared struct {
	Spec      Spec
	Table     *data.Table       // modelled columns, after Transform
	Transform transform.Columns // nil for none
	Estimator estimator.Estimator
	Model     model.Model    // initial; Estimate makes its own
	Domain    *domain.Domain // support of Table; nil: all of R^d
	Support   *domain.Domain // Domain after censoring by Spec.Missingness

	// Original is the table before Transform, without nominal columns if the method needs numbers
	// (data.NumbersOnly).
	Original *data.Table

	// Findings returns problems and notes about the table; its warnings come first in Result.Warnings.
	Findings func() ([]diagnose.Finding, error)

	// NoIntervals is the reason why inference "auto" gives none, or "".
	NoIntervals string

	components  int                  // of a mixture with levels; 0: chosen by held-out rows
	missingness *missingness.Model   // of Table
	objective   losses.Objective     // in Table's units
	gapTests    func() []mcar.Column // tests of missing completely at random
	file        *streamed            // rows to fit, with Table a sample of them; nil: the rows of Table
	latent      bool                 // binary, ordered and nominal columns are latent normal variables
	blocks      []data.Block         // fitted columns, by column of Table
	wide        bool                 // a block has several columns
}

// Prepare fills in defaults and checks s. It returns a *SettingError for an unusable setting and a
// *data.RowError for a row outside the domain.
func Prepare(t *data.Table, s Spec) (*Prepared, error) { return prepare(t, s, nil) }

func prepare(t *data.Table, s Spec, file *streamed) (*Prepared, error) {
	if file == nil {
		if err := data.CheckTable(t); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(s.named(), s.check()); err != nil {
		return nil, err
	}
	setting.Default(&s.Weight.Cap, 1)
	if err := checkCounted(t, s); err != nil {
		return nil, err
	}
	latent := takesLevels(t, s)
	if s.Network != nil && !latent {
		var err error
		if t, _, err = data.NumbersOnly(t); err != nil {
			return nil, &setting.Error{Field: "method", Value: s.Steps.Method, Allowed: err.Error() + ": leave it out"}
		}
	}
	p := &Prepared{Spec: s, Original: t, file: file, latent: latent}
	p.Findings = sync.OnceValues(func() ([]diagnose.Finding, error) { return findings(p) })
	p.gapTests = sync.OnceValue(func() []mcar.Column { return mcar.TestBy(p.Spec.Steps.Workers, p.Table) })
	if err := p.transform(); err != nil {
		return nil, err
	}
	if prepared, err := prepareMixed(p); prepared || err != nil {
		return p, err
	}
	if err := cmp.Or(checkNominal(s, t), p.parts(), checkOrdinal(s, p.Table, p.Transform.Ordinal())); err != nil {
		return nil, err
	}
	var err error
	if p.Spec.Steps.Method, err = p.method(); err != nil {
		return nil, err
	}
	named, err := p.Spec.Steps.Named()
	if err != nil {
		return nil, setting.Errorf("method", p.Spec.Steps.Method, "%v", err)
	}
	e := named.For(p.Model, p.objective, p.Support)
	p.Estimator = e
	err = cmp.Or(e.Check(p.Model, p.objective, p.Support), checkKindOfTable(p, e), checkByMoments(p, e), checkStreamed(p, e), e.CheckTable(p.Table), checkSettings(p), checkUnread(p, s))
	if err != nil {
		return nil, err
	}
	if s.Network != nil {
		if p.Estimator.OfMatrix() { // the path makes its own model
			p.Model = model.NewGaussian(1, model.CholeskyFactor)
		}
		return p, nil
	}
	return p, p.descentDefaults()
}

func (s *Spec) named() error {
	if s.Objective.New == nil {
		setting.Default(&s.Objective.Kind, "auto")
	}
	if s.Steps.Estimator != nil {
		e, err := s.Steps.Named()
		if err != nil {
			return setting.Errorf("method", s.Steps.Method, "%v", err)
		}
		s.Steps.Method = e.Name
	}
	setting.Default(&s.Steps.Method, "auto")
	if s.Model.New == nil {
		setting.Default(&s.Model.Kind, DefaultModel)
	}
	return nil
}

func (p *Prepared) transform() (err error) {
	s := p.Spec
	if err := diagnose.Refusal(p.Original); err != nil {
		return err
	}
	if err := p.Original.Inside(s.Missingness.Support(s.Domain)); err != nil { // in the table's units for the message
		return err
	}
	functions := s.Transform
	if p.latent {
		functions = cutColumns(p.Original, functions)
	}
	if p.Transform, err = functions.Fit(p.Original, s.Domain); err != nil {
		return err
	}
	if p.latent {
		p.blocks, p.wide = blocksOf(p.Original, p.Transform)
	}
	if p.Table, err = p.Transform.Table(p.Original); err != nil {
		return err
	}
	if p.Domain, err = p.Transform.Domain(s.Domain, p.Table.Names); err != nil {
		return err
	}
	p.missingness, err = p.Transform.Missingness(s.Missingness, p.Table.Names)
	return err
}

func (p *Prepared) parts() (err error) {
	s := &p.Spec
	if p.Model, err = s.Model.make(p.Table.D, s.Steps.Seed); err != nil {
		return err
	}
	p.Domain = p.Domain.Intersect(model.SupportOf(p.Model))
	p.Support = p.missingness.Support(p.Domain)
	if err := p.Table.Inside(p.Support); err != nil {
		return err
	}
	if s.Objective.New == nil && s.Objective.Kind == "auto" {
		s.Objective.Kind = losses.AutoObjective(p.Support)
	}
	if p.objective, err = p.objectiveOn(p.Support); err != nil {
		return err
	}
	if n, ok := p.objective.(losses.Noising); ok && !n.Schedule().Single() { // networks learn all noise levels
		p.Model, err = p.newModel()
	}
	return err
}

func (p *Prepared) objectiveOn(s *domain.Domain) (losses.Objective, error) {
	return p.Spec.Objective.make(losses.ObjectiveSetting{Dim: p.Table.D, Names: p.Table.Names, Domain: s, Weight: p.Spec.Weight})
}

// newModel returns a model over all levels if the objective has several.
func (p *Prepared) newModel() (model.Model, error) {
	s := p.Spec
	if n, ok := p.objective.(losses.Noising); ok && !n.Schedule().Single() && s.Model.New == nil {
		options, err := nets.AtLevels(s.Model.Kind, s.Model.Options, n.Schedule(), p.Table.Missing() > 0)
		if err != nil {
			return nil, &setting.Error{Field: "model", Allowed: err.Error()}
		}
		s.Model.Options = options
	}
	return s.Model.make(p.Table.D, s.Steps.Seed)
}

const defaultWarmUp = 500 // of fits of parameters; 0 along a path

func (p *Prepared) descentDefaults() (err error) {
	c := &p.Spec.Steps
	setting.Default(&c.Batch, engine.DefaultBatch)
	if err := setting.Positive(setting.Field{Name: "batch", Value: float64(c.Batch)}); err != nil {
		return err
	}
	if c.Imputer.New == nil {
		setting.Default(&c.Imputer.Kind, defaultImputer(p))
	}
	training := model.TrainingOf(p.Model)
	setting.Default(&c.ImputerRate, training.ImputerRate)
	if e := p.Estimator; e.Trains() && e.Loss.Needs().CompletedRows {
		setting.Default(&c.ImputerSteps, training.ImputerSteps)
		if e.Weighting == losses.Uniform {
			setting.Default(&c.Draws, training.Draws)
		}
	}
	if c.WarmUp == nil {
		c.WarmUp = new(defaultWarmUp)
	}
	p.Spec.Descent, err = p.Spec.Descent.Resolve(p.descentProblem(p.file != nil))
	return err
}

func (p *Prepared) descentProblem(streamed bool) descent.Problem {
	c := p.Spec.Steps
	return descent.Problem{
		Estimator: p.Estimator, Model: p.Model, Objective: p.objective, Rows: p.Table.PassRows(), Batch: c.Batch, DType: c.DType, Streamed: streamed,
	}
}

// ByBatches reports whether a fit of PrepareFile would use mini-batches with its rows in memory, too.
func (p *Prepared) ByBatches() bool {
	c, err := p.file.asked.Resolve(p.descentProblem(false))
	return err == nil && c.Optimiser == "adam"
}

// defaultImputer returns a mixture for the complete-data loss of a non-normal density without
// boundary and with imputer loss kl (docs/explanation/architecture.md#why-it-is-so).
func defaultImputer(p *Prepared) string {
	_, normal := model.AsNormal(p.Model)
	if e := p.Estimator; e.Trains() && e.Loss.Needs().CompletedRows && !normal && !p.Support.Bounded() && p.Spec.Steps.ImputerLoss != losses.Fisher {
		return "mixture"
	}
	return "normal"
}

// imputerStart returns maximum likelihood for an imputer that can start at its conditionals
// (docs/theory/imputer.md#eq-imputer-linear); nil for others.
func imputerStart(ctx context.Context, p *Prepared, q engine.Problem) (*model.Gaussian, error) {
	c := p.Spec.Steps
	if !p.Estimator.Trains() {
		return nil, nil
	}
	imputer, err := c.Imputer.Make(q.Table.D, stream.New(0))
	if _, ok := imputer.(nets.NormalStart); err != nil || !ok { // the engine reports unknown names
		return nil, nil
	}
	m := model.NewGaussian(q.Table.D, model.CholeskyFactor)
	if ok, err := descent.Likeliest(ctx, q, m, engine.Config{Seed: c.Seed, Workers: c.Workers}); !ok {
		return nil, err
	}
	return m, nil
}

// latentColumns is the number of columns for em-latent, whose time is of order rows × columns²;
// above it pairwise is used.
const latentColumns = 500

// plane is the number of columns up to which energies use weights.
const plane = 2

// method resolves auto: em-latent for latent columns, or pairwise for many without nominal ones and
// for moments of pairs.
func (p *Prepared) method() (string, error) {
	asked, counted := p.Spec.Steps.Method, p.Original.Counted
	if p.Spec.Steps.Estimator != nil {
		return asked, nil
	}
	if p.wide && asked == "auto" {
		return "em-latent", nil
	}
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
	return autoMethod(p.Table, p.missingness, p.Model, p.objective)
}

// autoMethod is the default method for a table and a model:
//
//	full              no missing cells
//	zeroed            model is a score without a density
//	variw             logistic missingness mechanism, where a fixed proposal has few effective draws
//	em-exact          normal; valid under MAR
//	exact             normal, with censoring or an objective that adds noise
//	em-full           the density determines the parameters: mixtures, quartic
//	em-var, em-variw  neural energies; em-variw for two columns and other objectives than classical
//	iw                else
//
// Reasons: docs/explanation/architecture.md#why-it-is-so.
func autoMethod(t *data.Table, known *missingness.Model, m model.Model, o losses.Objective) (string, error) {
	has, err := model.CapabilitiesOf(m)
	_, normal := model.AsNormal(m)
	_, determined := m.(model.Identified)
	_, noising := o.(losses.Noising)
	plain := o == losses.Classical
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

// shifts reports whether the fit centres columns: not for a model with a support or a fixed origin.
func (p *Prepared) shifts() bool {
	_, fixed := p.Model.(model.FixedOrigin)
	return !p.Spec.KeepUnits && !fixed && model.SupportOf(p.Model) == nil
}

// scale of the fit. A model whose support is not a cone keeps the table's units.
func (p *Prepared) scale() (scale data.Scale) {
	if p.Spec.KeepUnits || !model.SupportOf(p.Model).Cone() {
		return data.UnitScale(p.Table.D)
	}
	size := 1.0
	if m, ok := p.Model.(model.FixedOrigin); ok {
		size = m.InitialRMS()
	}
	switch {
	case p.file != nil:
		scale = data.UnitScale(p.Table.D)
		for j, c := range p.file.columns {
			if p.shifts() {
				scale.Mean[j], scale.Deviation[j] = c.Mean, c.Deviation
			} else {
				scale.Deviation[j] = c.RootMeanSquare / size
			}
		}
	case p.shifts():
		scale = data.StandardScale(p.Table)
		for j, b := range p.blocks {
			if b.Width > 1 { // levels have no unit
				scale.Mean[j], scale.Deviation[j] = 0, 1
			}
		}
	default:
		scale = data.RootMeanSquareScale(p.Table, size)
	}
	return scale
}

// Problem returns the fit in the engine's terms.
func (p *Prepared) Problem() (engine.Problem, error) {
	scale := p.scale()
	return p.problem(scale.Standardised(p.Table), scale)
}

func (p *Prepared) problem(t *data.Table, scale data.Scale) (q engine.Problem, err error) {
	if p.wide {
		q.Table = utilities(t, p.blocks)
		return q, nil
	}
	q = engine.Problem{
		Table: t, Domain: p.Support.Standardised(scale.Mean, scale.Deviation), Weight: p.Spec.Weight,
		Missingness: model.MissingnessOf(p.missingness.Standardised(scale.Mean, scale.Deviation)),
	}
	if p.Spec.Network == nil || !p.Estimator.OfMatrix() { // else the path makes its own
		if q.Model, err = p.newModel(); err != nil {
			return q, err
		}
	}
	q.Objective, err = p.objectiveOn(q.Domain)
	return q, err
}

// Path returns the path of a network before its first step.
func (p *Prepared) Path() (*regpath.Run, error) {
	q, err := p.Problem()
	if err != nil {
		return nil, err
	}
	n, err := regpath.New(q, p.Spec.Steps, *p.Spec.Network, &regpath.State{})
	if err == nil {
		n.Test = testsOf(p, n)
	}
	return n, err
}

// Again estimates a network faster, with one worker, without checks of table and result.
func (p *Prepared) Again(ctx context.Context) (*regpath.Run, error) {
	if !p.Estimator.Draws() { // one worker: keep rows together
		setting.Default(&p.Spec.Steps.Batch, regpath.AgainBatch)
	}
	n, err := p.Path()
	if err != nil {
		return nil, err
	}
	n.Again()
	_, err = n.Estimate(ctx, func() error { return nil })
	return n, err
}
