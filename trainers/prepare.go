package trainers

import (
	"sync"

	"missingscore/data"
	"missingscore/data/diagnose"
	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/data/missingness"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Prepared is an estimate before its first step: what is fitted to what, with every
// default filled in that does not need the standardised table.
type Prepared struct {
	Spec      Spec
	Table     *data.Table         // the columns as they are modelled: after Transform
	Transform transform.Columns   // functions of Spec.Transform, nil if there are none
	Estimator estimator.Estimator // that the method is with this model and objective
	Model     model.Model         // at its start; an estimate makes one of its own, which of a network by one matrix is the only one
	Domain    *domain.Domain      // the support, of Table; nil: all of R^d
	Support   *domain.Domain      // Domain as Spec.Missingness censors it

	original    *data.Table          // before Transform
	missingness *missingness.Model   // of Table
	objective   losses.Objective     // in Table's units
	findings    []diagnose.Finding   // of original, nil before they are asked for
	gapTests    func() []mcar.Column // whether Table's gaps depend on other columns; tested when first asked for
	file        *streamed            // whose rows are fitted, Table being a sample of them; nil: the rows are Table's
}

// Prepare checks that the parts of a Spec go together and with the table, and says what
// they come to. A setting that cannot be used is a *SettingError, a row outside the
// domain a *data.RowError.
func Prepare(t *data.Table, s Spec) (*Prepared, error) { return prepare(t, s, nil) }

func prepare(t *data.Table, s Spec, file *streamed) (*Prepared, error) {
	if s.Objective.New == nil {
		setting.Default(&s.Objective.Kind, "auto")
	}
	setting.Default(&s.Steps.Method, "auto")
	if s.Model.New == nil {
		setting.Default(&s.Model.Kind, DefaultModel)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	setting.Default(&s.Weight.Cap, 1)
	p := &Prepared{Spec: s, original: t, file: file}
	p.gapTests = sync.OnceValue(func() []mcar.Column { return mcar.TestBy(p.Spec.Steps.Workers, p.Table) })
	if err := p.checkMoments(); err != nil {
		return nil, err
	}
	if err := p.transform(); err != nil {
		return nil, err
	}
	if err := p.parts(); err != nil {
		return nil, err
	}
	if err := p.checkOrdinal(); err != nil {
		return nil, err
	}
	method, err := p.resolveMethod()
	if err != nil {
		return nil, err
	}
	p.Spec.Steps.Method = method
	if p.Estimator, err = estimator.For(method, p.Model, p.objective, p.Support); err != nil {
		return nil, &setting.Error{Field: "method", Value: method, Allowed: err.Error()}
	}
	if err := p.checkEstimator(p.Estimator); err != nil {
		return nil, err
	}
	if err := p.checkSizes(); err != nil {
		return nil, err
	}
	if s.Network != nil && p.Estimator.OfMatrix() { // of its model only the kind is asked: the numbers are the path's own
		p.Model = model.NewGaussian(1, model.CholeskyFactor)
	}
	return p, p.defaults()
}

// checkEstimator refuses an estimator that cannot make this estimate.
func (p *Prepared) checkEstimator(e estimator.Estimator) error {
	if err := e.Check(p.Model, p.objective, p.Support); err != nil {
		return err
	}
	if err := p.suits(e); err != nil {
		return err
	}
	if err := p.checkByMoments(e); err != nil {
		return err
	}
	if err := p.checkStreamed(e); err != nil {
		return err
	}
	return e.CheckTable(p.Table)
}

// checkSizes refuses numbers that cannot be, and what is not known of a table of this size or
// with these weights.
func (p *Prepared) checkSizes() error {
	if err := p.checkNumbers(); err != nil {
		return err
	}
	if err := p.checkWeights(); err != nil {
		return err
	}
	if err := p.checkMemory(); err != nil || p.Spec.Network == nil {
		return err
	}
	return checkPairs(p.original)
}

// transform makes table, domain and missingness those of the transformed columns.
func (p *Prepared) transform() (err error) {
	s := p.Spec
	if err := diagnose.Refusal(p.original); err != nil {
		return err
	}
	if err := p.original.Inside(s.Missingness.Support(s.Domain)); err != nil { // in the table's units, which the message shows
		return err
	}
	if p.Transform, err = s.Transform.Fit(p.original, s.Domain); err != nil {
		return err
	}
	if p.Table, err = p.Transform.Table(p.original); err != nil {
		return err
	}
	names := p.Table.Names
	if p.Domain, err = p.Transform.Domain(s.Domain, names); err != nil {
		return err
	}
	p.missingness, err = p.Transform.Missingness(s.Missingness, names)
	return err
}

// parts makes model, support and objective.
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
	if p.objective, err = s.Objective.make(p.objectiveOn(p.Support)); err != nil {
		return err
	}
	if n, ok := p.objective.(losses.Noising); ok && !n.Schedule().Single() { // networks learn all levels
		p.Model, err = p.newModel()
	}
	return err
}

// objectiveOn is what an objective is told, on a domain in the units that it is for.
func (p *Prepared) objectiveOn(s *domain.Domain) losses.ObjectiveSetting {
	return losses.ObjectiveSetting{Dim: p.Table.D, Names: p.Table.Names, Domain: s, Weight: p.Spec.Weight}
}

// newModel starts the model, for an objective with many levels of noise one of all levels.
func (p *Prepared) newModel() (model.Model, error) {
	s := p.Spec
	if n, ok := p.objective.(losses.Noising); ok && !n.Schedule().Single() && s.Model.New == nil {
		options, err := nets.AtLevels(s.Model.Kind, s.Model.Options, n.Schedule())
		if err != nil {
			return nil, &setting.Error{Field: "model", Allowed: err.Error()}
		}
		s.Model.Options = options
	}
	return s.Model.make(p.Table.D, s.Steps.Seed)
}

// checkNumbers refuses settings that no table makes possible.
func (p *Prepared) checkNumbers() error {
	if err := p.Spec.Steps.Check(); err != nil {
		return err
	}
	if err := setting.NotNegative(setting.Field{Name: "g_cap", Value: p.Spec.Weight.Cap}); err != nil {
		return err
	}
	if p.Spec.Network == nil {
		if err := p.Spec.Descent.Check(); err != nil {
			return err
		}
		return p.checkParameters()
	}
	if err := p.Spec.Network.Check(p.Estimator); err != nil {
		return err
	}
	return p.checkInference()
}

// suits refuses an estimator that is for networks only where there is to be none.
func (p *Prepared) suits(e estimator.Estimator) error {
	switch {
	case p.Table.Cuts != nil && !e.TakesOrdinal():
		return setting.Errorf("method", e.Name, "it takes cells for numbers, and of ordered categories (%s) only intervals are known; take em-latent, or pairwise, or leave --ordinal out", p.Transform.Describe(p.Table.Names))
	case p.Table.Cuts == nil && e.NeedsOrdinal():
		return setting.Errorf("method", e.Name, "it is for tables with ordered categories, and none are named (--ordinal); take em-exact")
	case e.NeedsOrdinal():
	case e.OfMatrix() && p.Spec.Network == nil:
		return setting.Errorf("method", e.Name, "it goes by moments of pairs of columns, and is for networks (the command network); take em-exact, or exact")
	}
	return nil
}

// Allows tells whether an estimator can make this estimate.
func (p *Prepared) Allows(e estimator.Estimator) bool {
	return p.suits(e) == nil && p.byMoments(e) && e.Check(p.Model, p.objective, p.Support) == nil && e.CheckTable(p.Table) == nil
}

// defaults fills in what the model's own defaults are, and chooses the optimiser.
func (p *Prepared) defaults() (err error) {
	c := &p.Spec.Steps
	if p.Spec.Network != nil {
		return nil
	}
	setting.Default(&c.Batch, engine.DefaultBatch)
	if err := setting.Positive(setting.Field{Name: "batch", Value: float64(c.Batch)}); err != nil {
		return err
	}
	setting.Default(&c.Imputer.Kind, p.defaultImputer())
	setting.Default(&c.ImputerRate, model.TrainingOf(p.Model).ImputerRate)
	if c.WarmUp == nil {
		c.WarmUp = new(500)
	}
	p.Spec.Descent, err = p.Spec.Descent.Resolve(p.descentProblem())
	return err
}

// descentProblem is what the optimiser is chosen for.
func (p *Prepared) descentProblem() descent.Problem {
	c := p.Spec.Steps
	return descent.Problem{
		Estimator: p.Estimator, Model: p.Model, Objective: p.objective, Rows: p.Table.PassRows(), Batch: c.Batch, DType: c.DType, Streamed: p.file != nil,
	}
}

// scaled gives the table as it is fitted, and how it was scaled.
func (p *Prepared) scaled() (*data.Table, data.Scale) {
	scale, changes := p.scale()
	if !changes {
		return p.Table, scale
	}
	return scale.Standardised(p.Table), scale
}

// scaledInPlace is scaled without a copy: the values of Table are overwritten until restore.
func (p *Prepared) scaledInPlace() (z *data.Table, scale data.Scale, restore func()) {
	scale, changes := p.scale()
	if !changes {
		return p.Table, scale, func() {}
	}
	z, restore = scale.InPlace(p.Table)
	return z, scale, restore
}

// Problem is what an estimate fits, in the units that it is fitted in.
func (p *Prepared) Problem() (engine.Problem, error) { return p.problem(p.scaled()) }

// ProblemOf is Problem with the first rows alone, in the scale of all: for what looks at no others,
// without a copy of the table.
func (p *Prepared) ProblemOf(rows int) (engine.Problem, error) {
	scale, changes := p.scale()
	t := data.First(p.Table, rows)
	if changes {
		t = scale.Standardised(t)
	}
	return p.problem(t, scale)
}

// problem is what is fitted, in the units of a scale.
func (p *Prepared) problem(t *data.Table, scale data.Scale) (engine.Problem, error) {
	s := p.Spec
	q := engine.Problem{
		Table: t, Domain: p.Support.Standardised(scale.Mean, scale.Deviation), Weight: s.Weight,
		Missingness: model.MissingnessOf(p.missingness.Standardised(scale.Mean, scale.Deviation)),
	}
	var err error
	if p.Spec.Network == nil || !p.Estimator.OfMatrix() { // else its path's own is the only one
		if q.Model, err = p.newModel(); err != nil {
			return q, err
		}
	}
	q.Objective, err = s.Objective.make(p.objectiveOn(q.Domain))
	return q, err
}
