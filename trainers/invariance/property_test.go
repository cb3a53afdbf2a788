package invariance

import (
	"context"
	"fmt"
	"math"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

// Property is a change that must not change an estimate.
type Property struct {
	Name      string
	Says      string  // what it promises, in words
	Tolerance float64 // relative; 0: the same bytes

	exempt func(c Case) string    // why a case cannot have it; nil where all have it
	before func(c Case) rewriting // of the table before the change; nil: as it is
	change func(c Case) (rewriting, func(*trainers.Spec))
	both   func(*trainers.Spec) // of the settings before and after the change; nil: those of the case
	atOnce bool                 // compare the first step's loss and gradient, in place of the estimate
	cut    bool                 // the change is that the estimate is cut and taken up
	wide   bool                 // of wide tables, too
}

// Report says how a case fared.
type Report struct {
	Held   []string          // names of properties
	Left   map[string]string // of those that the case cannot have, with the reason
	Failed []error
}

// Examine checks a case for every property.
func Examine(ctx context.Context, c Case) Report {
	r := Report{Left: map[string]string{}}
	first, err := c.fit(ctx, c.same(), nil)
	if err != nil {
		r.Failed = append(r.Failed, fmt.Errorf("%s: %w", c.Name(), err))
		return r
	}
	for _, p := range Properties {
		if reason := p.leavesOut(c); reason != "" {
			r.Left[p.Name] = reason
			continue
		}
		if err := p.check(ctx, c, first); err != nil {
			r.Failed = append(r.Failed, fmt.Errorf("%s: %s: %w", p.Name, c.Name(), err))
			continue
		}
		r.Held = append(r.Held, p.Name)
	}
	return r
}

// leavesOut is the reason why a case is left out, "" if it is not.
func (p Property) leavesOut(c Case) string {
	switch {
	case c.Wide && !p.wide:
		return "a narrow table tells as much"
	case p.exempt == nil:
		return ""
	}
	return p.exempt(c)
}

// check compares the estimate before and after the change; first is that before it.
func (p Property) check(ctx context.Context, c Case, first outcome) error {
	w, change := p.change(c)
	var err error
	if p.atOnce {
		before, err := c.atOnce(c.same(), nil)
		if err != nil {
			return err
		}
		after, err := c.atOnce(w, change)
		if err != nil {
			return err
		}
		return differ(before, after, p.Tolerance)
	}
	if p.both != nil {
		own := change
		change = func(s *trainers.Spec) { p.both(s); own(s) }
		if first, err = c.fit(ctx, c.same(), p.both); err != nil {
			return err
		}
	}
	if p.before != nil {
		if first, err = c.fit(ctx, p.before(c), nil); err != nil {
			return err
		}
	}
	by := c.fit
	if p.cut {
		by = func(ctx context.Context, _ rewriting, change func(*trainers.Spec)) (outcome, error) {
			return c.resumed(ctx, change)
		}
	}
	after, err := by(ctx, w, change)
	if err != nil {
		return err
	}
	return differ(first, after, p.Tolerance)
}

// atOnce is the first step's loss with its gradient.
func (c Case) atOnce(w rewriting, change func(*trainers.Spec)) (outcome, error) {
	loss, blocks, err := c.gradient(w, change)
	return outcome{loss: loss, numbers: slices.Concat(blocks...)}, err
}

// Properties are all of them. Tolerances are relative: 0 means the same bytes; 1e-12 powers of
// two, by which a precision's square roots are rounded otherwise; 1e-7 what rounding leaves
// after the few steps of a case; 1e-4 that of a step in float32; +Inf
// that there is an estimate at all.
var Properties = []Property{
	{Name: "workers", Says: "the same seed gives the same bytes, whatever the number of workers", wide: true,
		change: func(c Case) (rewriting, func(*trainers.Spec)) {
			return c.same(), func(s *trainers.Spec) { s.Steps.Workers = 3 }
		}, both: func(s *trainers.Spec) { s.Steps.Batch = rows / 4 }}, // there are no more workers than batches
	{Name: "cut and resumed", Says: "an estimate that is taken up from a state in its middle has the bytes of one never cut", cut: true,
		change: func(c Case) (rewriting, func(*trainers.Spec)) { return c.same(), nil }},
	{Name: "units of powers of two", Says: "columns in units of powers of two give the same estimate, draws included", Tolerance: 1e-12,
		exempt: ownUnits, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.scale = []float64{math.Ldexp(1, 90), 0.25, math.Ldexp(1, -80)}
			return w, nil
		}},
	{Name: "units and origin", Says: "other units and another origin only round otherwise", Tolerance: 1e-7,
		exempt: ownUnits, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.scale, w.shift = []float64{1e30, 0.37, 3e-25}, []float64{12.5, -300, 41}
			if fixedOrigin(c) {
				w.shift = make([]float64, columns)
			}
			return w, nil
		}},
	{Name: "order of rows", Says: "rows in another order only round otherwise", Tolerance: 1e-7,
		exempt: drawsByRow, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.rows = stream.New(seed, stream.Permute).Perm(rows)
			return w, nil
		}},
	{Name: "order of columns", Says: "columns in another order only round otherwise", Tolerance: 1e-7,
		exempt: drawsByColumn, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.columns = []int{2, 0, 1}
			return w, nil
		}},
	{Name: "a table twice", Says: "every row given twice gives the same estimate", Tolerance: 1e-7,
		exempt: countsRows, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			w := c.same()
			w.rows = slices.Concat(w.rows, w.rows)
			return w, nil
		}},
	{Name: "weights", Says: "a row of weight 2 is that row twice", Tolerance: 1e-7,
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
	{Name: "float32", Says: "a step in float32 only rounds more", Tolerance: 1e-4,
		atOnce: true, exempt: otherSingles, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			return c.same(), func(s *trainers.Spec) { s.Steps.DType = graph.Float32 }
		}},
	{Name: "float32, draws", Says: "what has draws of its own in float32 comes to an end with numbers in it; that is all that is asked here", Tolerance: math.Inf(1),
		exempt: sameSingles, change: func(c Case) (rewriting, func(*trainers.Spec)) {
			return c.same(), func(s *trainers.Spec) { s.Steps.DType = graph.Float32 }
		}},
}

func fixedOrigin(c Case) bool {
	_, fixed := c.started().(model.FixedOrigin)
	return fixed
}

// started is the case's model before its first step.
func (c Case) started() model.Model { return c.startedFrom(seed) }

func (c Case) startedFrom(seed uint64) model.Model {
	m, err := model.New(c.Model, columns, nil, stream.New(seed))
	if err != nil {
		panic("invariance: " + err.Error()) // a model whose defaults are refused
	}
	return m
}

// startsAtRandom says whether the seed decides where the model starts.
func (c Case) startsAtRandom() bool {
	one, other := c.startedFrom(seed).Params(), c.startedFrom(seed+1).Params()
	for i, p := range one {
		if !slices.Equal(p.Value, other[i].Value) {
			return true
		}
	}
	return false
}

func ownUnits(c Case) string {
	if !model.SupportOf(c.started()).Cone() {
		return "the model states a support in units of its own, in which it is fitted"
	}
	return ""
}

// drawsByRow is the reason of whatever draws: a row's stream goes by its place. That the
// estimate's law does not is Law's to check.
func drawsByRow(c Case) string {
	switch {
	case c.estimator().Draws():
		return "a row's draws go by its place in the table: their law is compared"
	case c.objectiveDraws():
		return "the objective draws by the row's place in the table: the law of its draws is compared"
	case c.ordinal():
		return "the numbers behind categories are drawn by the row's place in the table: how far orders move the estimate is compared"
	}
	return ""
}

func countsRows(c Case) string {
	if reason := drawsByRow(c); reason != "" {
		return reason
	}
	if c.estimator().OfMatrix() {
		return "moments of pairs are shrunk by their noise, which is less in twice as many rows"
	}
	return ""
}

func weighsRows(c Case) string {
	if reason := countsRows(c); reason != "" {
		return reason
	}
	if c.Network && c.Bounded {
		return "a network on a support is chosen by losses of completed rows, which count alike: weights are refused"
	}
	return ""
}

func drawsByColumn(c Case) string {
	if reason := drawsByRow(c); reason != "" {
		return reason
	}
	if c.startsAtRandom() {
		return "the model starts at random numbers, which go by the column's place"
	}
	return ""
}

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

// otherSingles is the reason of what has draws of its own in float32.
func otherSingles(c Case) string {
	switch e := c.estimator(); {
	case e.OfMatrix():
		return "it makes no step by an expression graph"
	case e.Trains() || e.Draws() && !c.Bounded:
		return "draws in float32 are others: their law is compared"
	}
	return ""
}

// sameSingles is the reason of what Properties' float32 compares number by number.
func sameSingles(c Case) string {
	if c.estimator().OfMatrix() || otherSingles(c) == "" {
		return "it has no draws of its own in float32"
	}
	return ""
}
