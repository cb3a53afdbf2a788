// Package invariance tests what must not change an estimate: workers, interruptions, numbers under
// missing cells, units, origin, order of rows and columns, weights for repeated rows, precision.
// Cases are combinations of the registries (model.Models, losses.Objectives, estimator.All).
package invariance

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
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
	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

const (
	rows    = 30
	columns = 3
	seed    = 5
)

type combination struct {
	model, objective, method string // names in the registries
	bounded                  bool   // a lower bound of the first column and an upper one of the last
	network                  bool   // an L1 path instead of a fit
}

// A panic, which TestEveryCaseHasEveryProperty reports.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// cases covers every valid pair of model, objective, method and kind of fit; with
// MISSINGSCORE_SLOW=1 all combinations.
func cases() (some []combination) {
	var all []combination
	for _, e := range estimator.All {
		for _, bounded := range []bool{false, true} {
			for _, kind := range slices.Sorted(maps.Keys(model.Models)) {
				for _, objective := range slices.Sorted(maps.Keys(losses.Objectives)) {
					all = append(all, combination{kind, objective, e.Name, bounded, false})
				}
			}
			all = append(all, combination{trainers.DefaultModel, "auto", e.Name, bounded, true})
		}
	}
	covered := map[[2]string]bool{}
	for _, c := range all {
		if c.refused() {
			continue
		}
		kind, before := fmt.Sprint(c.network, c.bounded), len(covered)
		for _, pair := range [][2]string{{c.model, c.objective}, {c.model, c.method}, {c.objective, c.method}, {c.method, kind}, {c.model, kind}, {c.objective, kind}} {
			covered[pair] = true
		}
		if len(covered) > before || slowtest.Set() {
			some = append(some, c)
		}
	}
	return some
}

// refused: the parts do not go together, or another method replaces this one.
func (c combination) refused() bool {
	if c.bounded && c.ordinal() { // categories have no bounds
		return true
	}
	p, err := trainers.Prepare(c.table(), c.spec())
	var refused *setting.Error
	if errors.As(err, &refused) && slices.Contains([]string{"method", "optimiser", "objective", transform.OrdinalKind}, refused.Field) {
		return true
	}
	return must(p, err).Estimator.Name != c.method
}

func (c combination) estimator() estimator.Estimator { return must(estimator.ByName(c.method)) }

func (c combination) ordinal() bool { return c.estimator().NeedsOrdinal() }

// spec makes few steps, or as many as an optimum needs if its start and gradient have no noise.
func (c combination) spec() trainers.Spec {
	s, e := trainers.Spec{
		Model:     trainers.ModelSpec{Kind: c.model},
		Objective: trainers.ObjectiveSpec{Kind: c.objective, Options: c.noise()},
		Steps:     engine.Config{Method: c.method, Batch: rows / 4, Seed: seed},
		Descent:   descent.Config{Optimiser: "lbfgs", Iterations: 6},
		Domain:    c.support(),
	}, c.estimator()
	if e.Draws() {
		s.Steps.Draws = 3
	}
	if e.Trains() {
		s.Steps.ImputerSteps, s.Steps.WarmUp = 1, new(1)
	}
	if !e.Minimises() {
		s.Descent.Optimiser = "em"
	}
	if !c.startsAtRandom() {
		s.Descent.Iterations = 1000
	}
	switch {
	case c.network:
		s.Descent, s.Steps.WarmUp = descent.Config{}, nil
		s.Network = &regpath.Config{Schedule: regpath.Fixed, Penalty: regpath.Penalty{Kind: "l1"}, InitialIter: 4, IterPerLambda: 2, Lambdas: 3,
			Select: regpath.Selection{Kind: "none"}, Refit: new(false), RefineIter: 4}
		if e.OfMatrix() { // its path has its own schedule
			s.Network.Schedule, s.Network.InitialIter, s.Network.IterPerLambda = "", 0, 0
		}
	case e.Draws() || c.objectiveDraws():
		s.Descent = descent.Passes(2, 0.003)
	}
	if c.ordinal() { // fitted by stochastic EM, which has no settings
		s.Descent, s.Transform = descent.Config{}, transform.Spec{Others: transform.OrdinalKind}
	}
	return s
}

// noise is one level for models that do not learn many.
func (c combination) noise() json.RawMessage {
	if c.objective == "denoising" && c.model != "energy" && c.model != "score-network" {
		return json.RawMessage(`{"noise":{"kind":"fixed"}}`)
	}
	return nil
}

func (c combination) support() *domain.Domain {
	if !c.bounded {
		return nil
	}
	s := domain.All(columns)
	s.Lower[0], s.Upper[columns-1] = -1.3, 1.6
	return s
}

func (c combination) start(seed uint64) model.Model {
	return must(model.New(c.model, columns, nil, stream.New(seed)))
}

func (c combination) startsAtRandom() bool {
	other := c.start(seed + 1).Params()
	for i, p := range c.start(seed).Params() {
		if !slices.Equal(p.Value, other[i].Value) {
			return true
		}
	}
	return false
}

func (c combination) objectiveDraws() bool {
	if c.network {
		return false
	}
	o, err := losses.NewObjective(c.objective, losses.ObjectiveSetting{Dim: columns, Options: c.noise(), Domain: c.support()})
	_, noising := o.(losses.Noising)
	return err == nil && (noising || losses.Draws(o))
}

// points are complete rows.
func (c combination) points() *data.Table {
	rng := stream.New(seed, stream.Simulate)
	return must(must(simulate.Normal(columns, rng)).SampleInside(c.support(), rows, rng))
}

func (c combination) table() *data.Table {
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

// rewriting: row i is row rows[i] of the first table, column a is column j = columns[a] as
// scale[j]·(x + shift[j]).
type rewriting struct {
	rows, columns []int
	scale, shift  []float64 // by the first table's columns
	weights       []float64 // of rows; nil: all 1
	poisoned      bool      // NaN under missing cells
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func same() rewriting {
	return rewriting{rows: upTo(rows), columns: upTo(columns), scale: slices.Repeat([]float64{1}, columns), shift: make([]float64, columns)}
}

func (w rewriting) apply(t *data.Table) *data.Table {
	out := &data.Table{N: len(w.rows), D: t.D}
	for _, j := range w.columns {
		out.Names = append(out.Names, t.Names[j])
	}
	for _, i := range w.rows {
		for _, j := range w.columns {
			x, seen := w.scale[j]*(t.Values[i*t.D+j]+w.shift[j]), t.Observed[i*t.D+j]
			if w.poisoned && !seen {
				x = math.NaN()
			}
			out.Values, out.Observed = append(out.Values, x), append(out.Observed, seen)
		}
	}
	if w.weights == nil {
		return out
	}
	return must(out.Weighted(w.weights))
}

func (w rewriting) domain(s *domain.Domain) *domain.Domain {
	if s == nil {
		return nil
	}
	out := &domain.Domain{}
	for _, j := range w.columns {
		out.Lower = append(out.Lower, w.scale[j]*(s.Lower[j]+w.shift[j]))
		out.Upper = append(out.Upper, w.scale[j]*(s.Upper[j]+w.shift[j]))
	}
	return out
}

type property struct {
	name      string
	tolerance float64 // relative; 0: the same bytes
	every     int     // tested on every so many cases
	exempt    func(c combination) bool
	before    func(w *rewriting, s *trainers.Spec) // nil for nothing
	change    func(c combination, w *rewriting, s *trainers.Spec)
	outcome   func(context.Context, combination, rewriting, trainers.Spec) (loss float64, numbers []float64)
}

var properties = []property{
	{name: "workers, a cut, numbers under missing cells", every: 5, outcome: fit,
		exempt: func(combination) bool { return false },
		before: func(_ *rewriting, s *trainers.Spec) { s.KeepUnits = true }, // else 0 under missing cells
		change: func(_ combination, w *rewriting, s *trainers.Spec) { w.poisoned, s.Steps.Workers = true, 3 }},
	{name: "units and origin", tolerance: 1e-7, every: 8, outcome: fit,
		exempt: func(c combination) bool { return !model.SupportOf(c.start(seed)).Cone() },
		change: func(c combination, w *rewriting, _ *trainers.Spec) {
			w.scale = []float64{1e30, 0.37, math.Ldexp(1, -80)}
			if _, fixed := c.start(seed).(model.FixedOrigin); !fixed {
				w.shift = []float64{12.5, -300, 41}
			}
		}},
	{name: "order of rows", tolerance: 1e-7, every: 8, outcome: fit, exempt: drawsByRow,
		change: func(_ combination, w *rewriting, _ *trainers.Spec) {
			w.rows = stream.New(seed, stream.Permute).Perm(rows)
		}},
	{name: "order of columns", tolerance: 1e-7, every: 8, outcome: fit,
		exempt: func(c combination) bool { return drawsByRow(c) || c.startsAtRandom() },
		change: func(_ combination, w *rewriting, _ *trainers.Spec) { w.columns = []int{2, 0, 1} }},
	{name: "weights for repeated rows", tolerance: 1e-7, every: 8, outcome: fit,
		exempt: func(c combination) bool { // moments of pairs depend on n, networks on a support refuse weights, tilts of an energy draw rows
			return drawsByRow(c) || c.estimator().OfMatrix() || c.network && c.bounded || c.model == "energy"
		},
		before: func(w *rewriting, _ *trainers.Spec) {
			for i := range w.rows {
				w.weights = append(w.weights, float64(1+i%2))
			}
		},
		change: func(_ combination, w *rewriting, _ *trainers.Spec) {
			w.weights = nil
			for i := 1; i < rows; i += 2 {
				w.rows = append(w.rows, i)
			}
		}},
	{name: "float32", tolerance: 1e-4, every: 8, outcome: gradient,
		exempt: func(c combination) bool { // other draws, or no step by a graph
			e := c.estimator()
			return e.OfMatrix() || e.Trains() || e.Draws() && !c.bounded
		},
		change: func(_ combination, _ *rewriting, s *trainers.Spec) { s.Steps.DType = graph.Float32 }},
}

// A row's random stream depends on its place in the table.
func drawsByRow(c combination) bool {
	return c.estimator().Draws() || c.objectiveDraws() || c.ordinal()
}

func TestEveryCaseHasEveryProperty(t *testing.T) {
	all, met, tested := cases(), map[string]int{}, map[string]int{}
	for _, c := range all {
		for _, p := range properties {
			if p.exempt(c) {
				continue
			}
			if met[p.name]++; met[p.name]%p.every != 1 && !slowtest.Set() {
				continue
			}
			tested[p.name]++
			t.Run(fmt.Sprintf("%s, %+v", p.name, c), func(t *testing.T) {
				t.Parallel()
				p.check(t, c)
			})
		}
	}
	t.Logf("%d cases: %v", len(all), tested)
	require.Len(t, tested, len(properties))
}

// Numbers are compared relative to the largest.
func (p property) check(t *testing.T, c combination) {
	w, s := same(), c.spec()
	if p.before != nil {
		p.before(&w, &s)
	}
	loss, want := p.outcome(t.Context(), c, w, s)
	p.change(c, &w, &s)
	s.Domain = w.domain(s.Domain)
	changed, got := p.outcome(t.Context(), c, w, s)
	require.LessOrEqual(t, math.Abs(loss-changed), p.tolerance*max(1, math.Abs(loss)), "loss %v, %v", loss, changed)
	size := 0.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	require.Len(t, got, len(want))
	for i, v := range want {
		require.LessOrEqual(t, math.Abs(v-got[i]), p.tolerance*size, "number %d: %v, %v", i, v, got[i])
	}
}

// fit by several workers goes on from the middle of the states that a first fit has saved.
func fit(ctx context.Context, c combination, w rewriting, s trainers.Spec) (float64, []float64) {
	var saved [][]byte
	run, t := trainers.Run{}, w.apply(c.table())
	if s.Steps.Workers > 1 {
		run.Save = func(s *trainers.State) error {
			var text bytes.Buffer
			err := gob.NewEncoder(&text).Encode(s)
			saved = append(saved, text.Bytes())
			return err
		}
	}
	r := must(trainers.Estimate(ctx, t, s, run))
	if len(saved) > 0 {
		run.State = new(trainers.State)
		must(0, gob.NewDecoder(bytes.NewReader(saved[len(saved)/2])).Decode(run.State))
		r = must(trainers.Estimate(ctx, t, s, run))
	}
	return c.numbers(r, w)
}

// gradient is the first step's.
func gradient(_ context.Context, c combination, w rewriting, s trainers.Spec) (float64, []float64) {
	loss, blocks, err := engine.Gradient(must(must(trainers.Prepare(w.apply(c.table()), s)).Problem()), s.Steps, 0)
	return loss, must(slices.Concat(blocks...), err)
}

// numbers in the first table's units and order: partial correlations of a network or latent model,
// scores of other fits at complete rows.
func (c combination) numbers(r *trainers.Result, w rewriting) (loss float64, numbers []float64) {
	switch {
	case c.network:
		return r.Loss, partials(r.Network.Precision, w)
	case c.ordinal():
		return r.Loss, partials(r.Model.Model.(model.Normal).Precision(), w)
	}
	w.rows, w.weights = upTo(rows), nil
	at := w.apply(c.points())
	_, score, err := must(model.NewEvaluator(r.Model.InUnits(), at.N, true)).At(at.Values)
	must(score, err)
	numbers = make([]float64, at.N*at.D)
	for i := range at.N {
		for a, j := range w.columns {
			numbers[i*at.D+j] = score[i*at.D+a] * w.scale[j]
		}
	}
	return r.Loss, numbers
}

func partials(p mat.Matrix, w rewriting) []float64 {
	numbers := make([]float64, columns*columns)
	for a, j := range w.columns {
		for b, k := range w.columns {
			numbers[j*columns+k] = p.At(a, b) / math.Sqrt(p.At(a, a)) / math.Sqrt(p.At(b, b))
		}
	}
	return numbers
}
