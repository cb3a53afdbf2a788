package trainers

import (
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
)

// Prepared is an estimate before its first step: what is fitted to what, with every
// default filled in that does not need the standardised table.
type Prepared struct {
	Spec      Spec
	Table     *data.Table
	Estimator estimator.Estimator // that the method is with this model and objective
	Model     model.Model         // at its start
	Support   *domain.Domain      // in the table's units, as Spec.Missingness censors it; nil: all of R^d

	objective losses.Objective // in the table's units
}

// Prepare checks that the parts of a Spec go together and with the table, and says what
// they come to. A setting that cannot be used is a *SettingError, a row outside the
// domain a *data.RowError.
func Prepare(t *data.Table, s Spec) (*Prepared, error) {
	setting.Default(&s.Objective.Kind, "auto")
	setting.Default(&s.Steps.Method, "auto")
	if s.Model.New == nil {
		setting.Default(&s.Model.Kind, DefaultModel)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	support := s.Missingness.Support(s.Domain)
	if s.Objective.Kind == "auto" {
		s.Objective.Kind = losses.AutoObjective(support)
	}
	p := &Prepared{Spec: s, Table: t, Support: support}
	if err := t.Inside(p.Support); err != nil { // in the table's units, which the message shows
		return nil, err
	}
	var err error
	if p.objective, err = s.Objective.make(p.Support, s.Weight); err != nil {
		return nil, err
	}
	if p.Model, err = p.newModel(); err != nil {
		return nil, err
	}
	c := &p.Spec.Steps
	if c.Method == "auto" {
		if c.Method, err = AutoMethod(t, s.Missingness, p.Model); err != nil {
			return nil, err
		}
	}
	if p.Estimator, err = estimator.For(c.Method, p.objective); err != nil {
		return nil, &setting.Error{Field: "method", Value: c.Method, Allowed: err.Error()}
	}
	p.defaults()
	return p, nil
}

// newModel starts the model, or that of a network, which path.New makes again in the
// parameterisation that it needs.
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

// defaults fills in what the model's own defaults are.
func (p *Prepared) defaults() {
	c, d := &p.Spec.Steps, &p.Spec.Descent
	if p.Spec.Network != nil {
		return
	}
	setting.Default(&c.Batch, 100)
	batch := min(c.Batch, p.Table.N)
	_, noising := p.objective.(losses.Noising)
	training := trainingDefaults(p.Spec.Model.Kind, (p.Table.N+batch-1)/batch, noising)
	setting.Default(&d.Epochs, training.epochs)
	setting.Default(&d.Rate, training.rate)
	setting.Default(&c.ImputerRate, training.imputerRate)
	if c.WarmUp == nil {
		c.WarmUp = new(500)
	}
}

// scaled gives the table as it is fitted, and how it was scaled.
func (p *Prepared) scaled() (*data.Table, data.Scale) {
	if p.Spec.KeepUnits {
		return p.Table, data.UnitScale(p.Table.D)
	}
	if m, about := p.Model.(model.FixedOrigin); about {
		return data.ScaleAboutZero(p.Table, m.InitialRMS())
	}
	return data.Standardise(p.Table)
}

// problem is what is fitted, in the units of a scale.
func (p *Prepared) problem(t *data.Table, scale data.Scale) (engine.Problem, error) {
	s := p.Spec
	q := engine.Problem{
		Table: t, Model: p.Model, Domain: p.Support.Standardised(scale.Mean, scale.Deviation), Weight: s.Weight,
		Missingness: model.MissingnessOf(s.Missingness.Standardised(scale.Mean, scale.Deviation)),
	}
	var err error
	q.Objective, err = s.Objective.make(q.Domain, s.Weight)
	return q, err
}

// AutoMethod is the default for a table and a model: full where nothing is missing. Of
// a Gaussian it is exact, which has neither an imputer's bias nor noise (exact-mc where η = Pμ
// is the parameter, which its closed form is not for), of other densities iw, of a
// score alone zeroed. Where probabilities of missing are known to be logistic it is
// variw, for cells that hide where a fixed proposal seldom looks (benchmarks/missingness).
func AutoMethod(t *data.Table, known *missingness.Model, m model.Model) (string, error) {
	if density, err := model.HasDensity(m); !density && t.Missing() > 0 {
		return "zeroed", err
	}
	g, gaussian := m.(*model.Gaussian)
	switch {
	case t.Missing() == 0:
		return "full", nil
	case known != nil && known.Logistic != nil:
		return "variw", nil
	case gaussian && g.Parameterisation() == model.Natural:
		return "exact-mc", nil
	case gaussian:
		return "exact", nil
	}
	return "iw", nil
}

type training struct {
	epochs            int
	rate, imputerRate float64
}

func trainingDefaults(kind string, batches int, noising bool) training {
	t := training{200, 0.01, 1e-3}
	steps := func(n int) int { return (n + batches - 1) / batches }
	switch kind {
	case "quartic": // slower, Marg-Var runs away in 20 columns
		t.epochs, t.imputerRate = max(25, steps(250)), 3e-3
	case "energy", "score-network":
		t.rate = 3e-3
		if !noising {
			t.epochs = min(300, steps(2500))
		}
	}
	return t
}
