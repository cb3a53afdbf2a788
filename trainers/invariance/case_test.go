// Package invariance tests that units, origin and order of columns, order of rows, a table given
// twice, workers, interruptions and precision do not change an estimate, for combinations of the
// registries (model.Models, losses.Objectives, estimator.All).
package invariance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/setting"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

type Case struct {
	Model     string // of model.Models
	Objective string // of losses.Objectives
	Method    string // of estimator.All
	Bounded   bool   // by a lower bound of the first column and an upper one of the last
	Network   bool   // along an L1 path, in place of a fit without a penalty
	Wide      bool   // of wideColumns columns
}

func (c Case) Name() string {
	name := c.Model + ", " + c.Objective + ", " + c.Method
	if c.Bounded {
		name += ", bounded"
	}
	if c.Network {
		name += ", network"
	}
	if c.Wide {
		name += ", wide"
	}
	return name
}

// Only work divided among workers or by blocks of a matrix library needs a wide table.
const (
	rows    = 30
	columns = 3
	seed    = 5

	wideRows, wideColumns = 150, 60

	fewest, most = 6, 1000 // iterations of a fit without noise
)

// A panic, which examine reports.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Every valid pair of model, objective, method and kind of fit; with MISSINGSCORE_SLOW=1 all
// combinations.
func Cases() []Case {
	all := slices.DeleteFunc(combinations(), Case.refused)
	if slowtest.Set() {
		return all
	}
	var cases []Case
	covered := map[[2]string]bool{}
	for _, c := range all {
		kind := fmt.Sprint(c.Network, c.Bounded)
		before := len(covered)
		for _, pair := range [][2]string{{c.Model, c.Objective}, {c.Model, c.Method}, {c.Objective, c.Method}, {c.Method, kind}, {c.Model, kind}, {c.Objective, kind}} {
			covered[pair] = true
		}
		if len(covered) > before {
			cases = append(cases, c)
		}
	}
	return cases
}

// Methods that multiply and factor matrices of many columns.
func Wide() []Case {
	var all []Case
	for _, method := range []string{"em-exact", "exact", "pairwise", "full"} {
		c := Case{Model: trainers.DefaultModel, Objective: "auto", Method: method, Wide: true}
		all = append(all, c)
		c.Network = true
		all = append(all, c)
	}
	return slices.DeleteFunc(all, Case.refused)
}

func combinations() (all []Case) {
	for _, kind := range slices.Sorted(maps.Keys(model.Models)) {
		for _, objective := range slices.Sorted(maps.Keys(losses.Objectives)) {
			for _, e := range estimator.All {
				c := Case{Model: kind, Objective: objective, Method: e.Name}
				all = append(all, c, c.bounded())
			}
		}
	}
	for _, e := range estimator.All {
		c := Case{Model: trainers.DefaultModel, Objective: "auto", Method: e.Name, Network: true}
		all = append(all, c, c.bounded())
	}
	return all
}

func (c Case) bounded() Case {
	c.Bounded = true
	return c
}

// The error names the part that does not fit; a replaced combination is not a case of its own.
func (c Case) refused() bool {
	if c.Bounded && c.ordinal() { // categories are intervals of a latent number without bounds
		return true
	}
	p, err := trainers.Prepare(c.table(), c.spec())
	var refused *setting.Error
	if errors.As(err, &refused) && slices.Contains([]string{"method", "optimiser", "objective", transform.OrdinalKind}, refused.Field) {
		return true
	}
	if err != nil {
		panic(fmt.Errorf("%s: refused, though not because of what it is a combination of: %w", c.Name(), err))
	}
	return p.Estimator.Name != c.Method
}

func (c Case) estimator() estimator.Estimator { return must(estimator.ByName(c.Method)) }

func (c Case) ordinal() bool { return c.estimator().NeedsOrdinal() }

// Few steps over all rows at once.
func (c Case) spec() trainers.Spec {
	s := trainers.Spec{
		Model:     trainers.ModelSpec{Kind: c.Model},
		Objective: trainers.ObjectiveSpec{Kind: c.Objective, Options: c.noise()},
		Steps:     engine.Config{Method: c.Method, Batch: 2 * rows, Seed: seed},
		Descent:   descent.Config{Optimiser: "lbfgs", Iterations: fewest},
	}
	e := c.estimator()
	if e.Draws() {
		s.Steps.Draws = 3
	}
	if e.Trains() {
		s.Steps.ImputerSteps, s.Steps.WarmUp = 1, new(1)
	}
	if !e.Minimises() {
		s.Descent.Optimiser = "em"
	}
	if !c.startsAtRandom() && !c.Wide { // of those that do, an optimum is far off or nowhere
		s.Descent.Iterations = most
	}
	if e.Draws() || c.objectiveDraws() {
		s.Descent = descent.Passes(2, 0.003)
	}
	s.Domain = c.support()
	if c.Network {
		s.Descent, s.Steps.WarmUp = descent.Config{}, nil
		s.Network = &regpath.Config{Schedule: regpath.Fixed, Penalty: regpath.Penalty{Kind: "l1"}, InitialIter: 4, IterPerLambda: 2, Lambdas: 3, Select: regpath.Selection{Kind: "none"}, Refit: new(false), RefineIter: 4}
		if c.estimator().OfMatrix() { // whose path is its own
			s.Network.Schedule, s.Network.InitialIter, s.Network.IterPerLambda = "", 0, 0
		}
	}
	if c.ordinal() { // fitted by stochastic EM, which has no settings
		s.Descent = descent.Config{}
		s.Transform = transform.Spec{Others: transform.OrdinalKind}
	}
	return s
}

func (c Case) objectiveSetting() losses.ObjectiveSetting {
	return losses.ObjectiveSetting{Dim: columns, Options: c.noise(), Domain: c.support()}
}

// One level, for models that do not learn many.
func (c Case) noise() json.RawMessage {
	if _, learns := c.started().(nets.LevelLearner); c.Objective == "denoising" && !learns {
		return json.RawMessage(`{"noise":{"kind":"fixed"}}`)
	}
	return nil
}

func (c Case) size() (n, d int) {
	if c.Wide {
		return wideRows, wideColumns
	}
	return rows, columns
}

func (c Case) same() rewriting {
	n, d := c.size()
	return same(n, d)
}

// nil for R^d.
func (c Case) support() *domain.Domain {
	if !c.Bounded {
		return nil
	}
	s := domain.All(columns)
	s.Lower[0], s.Upper[columns-1] = -1.3, 1.6
	return s
}

// Gaps unless the method is for complete rows, and categories if it is for these.
func (c Case) table() *data.Table {
	t := c.points()
	if !c.estimator().NeedsCompleteRows() {
		t = must(data.HideMCAR(t, 0.3, stream.New(seed, stream.Hide)))
	}
	for i, x := range t.Values {
		if c.ordinal() {
			t.Values[i] = max(1, min(4, math.Round(x+2.5)))
		}
	}
	return t
}

// Complete rows, in the table's units, at which fits are compared.
func (c Case) points() *data.Table {
	n, d := c.size()
	rng := stream.New(seed, stream.Simulate)
	return must(must(simulate.Normal(d, rng)).SampleInside(c.support(), n, rng))
}
