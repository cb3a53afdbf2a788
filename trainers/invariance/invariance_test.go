package invariance

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

func TestEveryCaseHasEveryProperty(t *testing.T) {
	cases := Cases()
	t.Logf("%d cases", len(cases))
	held := examine(t, cases)
	for _, p := range Properties {
		require.Positive(t, held[p.Name], p.Name)
	}
}

func TestWideTables(t *testing.T) {
	cases := Wide()
	require.Len(t, cases, 7, "networks by four methods, and fits by those that are for fits")
	require.Equal(t, map[string]int{"workers": len(cases)}, examine(t, cases))
}

// Each property is tested on every eighth or second narrow case; with MISSINGSCORE_SLOW=1 on all.
func examine(t *testing.T, cases []Case) map[string]int {
	t.Helper()
	var pool errgroup.Group
	pool.SetLimit(2)
	var one sync.Mutex
	held := map[string]int{}
	met := map[string]int{}
	for _, c := range cases {
		var own []Property
		for _, p := range Properties {
			if c.Wide && !p.wide || p.exempt != nil && p.exempt(c) {
				continue
			}
			every := 8
			if p.often {
				every = 2
			}
			if met[p.Name]++; c.Wide || slowtest.Set() || met[p.Name]%every == 1 {
				own = append(own, p)
			}
		}
		if own == nil {
			continue
		}
		pool.Go(func() error {
			var first outcome
			if err := panics.Caught(func() error { first = c.fit(t.Context(), trainers.Estimate, c.same(), nil); return nil }); err != nil {
				t.Errorf("%s: %v", c.Name(), err)
				return nil
			}
			for _, p := range own {
				if err := panics.Caught(func() error { return p.check(t.Context(), c, first) }); err != nil {
					t.Errorf("%s: %s: %v", p.Name, c.Name(), err)
				}
				one.Lock()
				held[p.Name]++
				one.Unlock()
			}
			return nil
		})
	}
	require.NoError(t, pool.Wait())
	return held
}

// A change that must not change an estimate.
type Property struct {
	Name      string
	Tolerance float64 // relative; 0: the same bytes

	exempt func(c Case) bool      // whether a case cannot have it; nil: all have it
	before func(c Case) rewriting // of the table before the change; nil: as it is
	change func(c Case) (rewriting, func(*trainers.Spec))
	both   func(*trainers.Spec) // of the settings before and after the change; nil: those of the case
	atOnce bool                 // compare the first step's loss and gradient, in place of the estimate
	cut    bool                 // the change is that the estimate is cut and taken up
	often  bool                 // on every second case, not on every eighth
	wide   bool                 // of wide tables, too
}

// first is the estimate before the change.
func (p Property) check(ctx context.Context, c Case, first outcome) error {
	w, change := p.change(c)
	by := estimate(trainers.Estimate)
	switch {
	case p.atOnce:
		return differ(c.gradient(c.same(), nil), c.gradient(w, change), p.Tolerance)
	case p.cut:
		by = resumed
	case p.both != nil:
		own := change
		change = func(s *trainers.Spec) { p.both(s); own(s) }
		first = c.fit(ctx, by, c.same(), p.both)
	case p.before != nil:
		first = c.fit(ctx, by, p.before(c), nil)
	}
	return differ(first, c.fit(ctx, by, w, change), p.Tolerance)
}

// Relative tolerances: 0 the same bytes; 1e-12 powers of two; 1e-7 rounding over a case's steps;
// 1e-4 float32.
var Properties = []Property{
	{Name: "numbers under missing cells", often: true,
		change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.poisoned = true
			return w, func(*trainers.Spec) {}
		}, both: func(s *trainers.Spec) { s.KeepUnits = true }}, // standardised columns have 0 there
	{Name: "workers", wide: true,
		change: func(c Case) (rewriting, func(*trainers.Spec)) {
			return c.same(), func(s *trainers.Spec) { s.Steps.Workers = 3 }
		}, both: func(s *trainers.Spec) { s.Steps.Batch = rows / 4 }}, // there are no more workers than batches
	{Name: "cut and resumed", cut: true, often: true,
		change: func(c Case) (rewriting, func(*trainers.Spec)) { return c.same(), nil }},
	{Name: "units of powers of two", Tolerance: 1e-12,
		exempt: ownUnits, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.scale = []float64{math.Ldexp(1, 90), 0.25, math.Ldexp(1, -80)}
			return w, nil
		}},
	{Name: "units and origin", Tolerance: 1e-7,
		exempt: ownUnits, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.scale, w.shift = []float64{1e30, 0.37, 3e-25}, []float64{12.5, -300, 41}
			if fixedOrigin(c) {
				w.shift = make([]float64, columns)
			}
			return w, nil
		}},
	{Name: "order of rows", Tolerance: 1e-7,
		exempt: drawsByRow, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.rows = stream.New(seed, stream.Permute).Perm(rows)
			return w, nil
		}},
	{Name: "order of columns", Tolerance: 1e-7,
		exempt: drawsByColumn, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.columns = []int{2, 0, 1}
			return w, nil
		}},
	{Name: "a table twice", Tolerance: 1e-7,
		exempt: countsRows, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.rows = slices.Concat(w.rows, w.rows)
			return w, nil
		}},
	{Name: "weights", Tolerance: 1e-7,
		exempt: weighsRows, before: func(c Case) rewriting {
			w := c.same()
			for i := range w.rows {
				w.weights = append(w.weights, float64(1+i%2))
			}
			return w
		}, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			for i := 1; i < rows; i += 2 {
				w.rows = append(w.rows, i)
			}
			return w, nil
		}},
	{Name: "float32", Tolerance: 1e-4,
		atOnce: true, exempt: otherSingles, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			return c.same(), func(s *trainers.Spec) { s.Steps.DType = graph.Float32 }
		}},
}

func fixedOrigin(c Case) bool {
	_, fixed := c.started().(model.FixedOrigin)
	return fixed
}

func (c Case) started() model.Model { return c.startedFrom(seed) }

func (c Case) startedFrom(seed uint64) model.Model {
	return must(model.New(c.Model, columns, nil, stream.New(seed)))
}

func (c Case) startsAtRandom() bool {
	one, other := c.startedFrom(seed).Params(), c.startedFrom(seed+1).Params()
	for i, p := range one {
		if !slices.Equal(p.Value, other[i].Value) {
			return true
		}
	}
	return false
}

func ownUnits(c Case) bool { return !model.SupportOf(c.started()).Cone() }

// A row's random stream depends on its place in the table.
func drawsByRow(c Case) bool { return c.estimator().Draws() || c.objectiveDraws() || c.ordinal() }

// Moments of pairs are shrunk by their noise, which is less in twice as many rows.
func countsRows(c Case) bool { return drawsByRow(c) || c.estimator().OfMatrix() }

// A network on a support refuses weights, and the tilt of an energy draws rows by weight.
func weighsRows(c Case) bool { return countsRows(c) || c.Network && c.Bounded || c.Model == "energy" }

// Random starts depend on the column's place.
func drawsByColumn(c Case) bool { return drawsByRow(c) || c.startsAtRandom() }

func (c Case) objectiveDraws() bool {
	if c.Network {
		return false
	}
	o, err := losses.NewObjective(c.Objective, c.objectiveSetting())
	if err != nil { // no case
		return false
	}
	_, noising := o.(losses.Noising)
	return noising || losses.Draws(o)
}

// Other draws in float32, or no step by a graph.
func otherSingles(c Case) bool {
	e := c.estimator()
	return e.OfMatrix() || e.Trains() || e.Draws() && !c.Bounded
}
