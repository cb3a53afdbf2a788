package invariance

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
)

// Loss and scores at complete rows of a fit, loss and partial correlations of a network, in the
// units and order of the first table.
type outcome struct {
	loss    float64
	numbers []float64
}

// trainers.Estimate, or resumed.
type estimate func(context.Context, *data.Table, trainers.Spec, trainers.Run) (*trainers.Result, error)

func (c Case) rewritten(w rewriting, change func(*trainers.Spec)) (*data.Table, trainers.Spec) {
	s := c.spec()
	s.Domain = w.domain(s.Domain)
	if change != nil {
		change(&s)
	}
	return w.apply(c.table()), s
}

func (c Case) fit(ctx context.Context, by estimate, w rewriting, change func(*trainers.Spec)) outcome {
	t, s := c.rewritten(w, change)
	r := must(by(ctx, t, s, trainers.Run{}))
	switch {
	case c.Network:
		return partials(r.Loss, r.Network.Precision, w)
	case c.ordinal():
		return partials(r.Loss, r.Model.Model.(model.Normal).Precision(), w)
	}
	return scores(ctx, r, w, c.points())
}

func partials(loss float64, p mat.Matrix, w rewriting) outcome {
	d := len(w.columns)
	out := outcome{loss: loss, numbers: make([]float64, d*d)}
	for a, j := range w.columns {
		for b, k := range w.columns {
			out.numbers[j*d+k] = p.At(a, b) / math.Sqrt(p.At(a, a)) / math.Sqrt(p.At(b, b))
		}
	}
	return out
}

func scores(ctx context.Context, r *trainers.Result, w rewriting, at *data.Table) outcome {
	there := w
	there.rows, there.weights = upTo(at.N), nil
	score := scoreOf(ctx, r.Model, there.apply(at))
	out := outcome{loss: r.Loss, numbers: make([]float64, at.N*at.D)}
	for i := range at.N {
		for a, j := range w.columns {
			out.numbers[i*at.D+j] = score[i*at.D+a] * w.scale[j]
		}
	}
	return out
}

// By the command score, or for a score without a density by the model itself.
func scoreOf(ctx context.Context, m *fitted.Saved, t *data.Table) []float64 {
	f := must(m.Fitted())
	if _, alongLevels := f.Model.(model.NoiseConditional); must(model.CapabilitiesOf(f.Model)).Density || alongLevels {
		return must(fitted.Score(ctx, f, t, fitted.ImputeConfig{})).Score
	}
	_, score, err := must(model.NewEvaluator(m.InUnits(), t.N, true)).At(t.Values)
	return must(score, err)
}

// The first step.
func (c Case) gradient(w rewriting, change func(*trainers.Spec)) outcome {
	t, s := c.rewritten(w, change)
	loss, blocks, err := engine.Gradient(must(must(trainers.Prepare(t, s)).Problem(0)), s.Steps, 0)
	return outcome{loss: loss, numbers: must(slices.Concat(blocks...), err)}
}

// The difference relative to the size of the first.
func differ(first, second outcome, tolerance float64) error {
	size, gap := math.Abs(first.loss), math.Abs(first.loss-second.loss)
	if !(gap <= tolerance*math.Max(size, 1)) {
		return fmt.Errorf("the loss is %.17g, and %.17g before", second.loss, first.loss)
	}
	size = 0
	for _, v := range first.numbers {
		size = math.Max(size, math.Abs(v))
	}
	for i, v := range first.numbers {
		if gap := math.Abs(v - second.numbers[i]); !(gap <= tolerance*size) {
			return fmt.Errorf("number %d of %d is %.17g, and %.17g before", i+1, len(first.numbers), second.numbers[i], v)
		}
	}
	return nil
}

// Row i is row Rows[i] of the first table, column a is column j = Columns[a] as Scale[j]·(x +
// Shift[j]).
type rewriting struct {
	rows, columns []int
	scale, shift  []float64 // by the first table's columns
	weights       []float64 // of rows; nil: all alike
	poisoned      bool      // NaN stands under missing cells
}

func same(n, d int) rewriting {
	return rewriting{rows: upTo(n), columns: upTo(d), scale: slices.Repeat([]float64{1}, d), shift: make([]float64, d)}
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func (w rewriting) apply(t *data.Table) *data.Table {
	out := &data.Table{N: len(w.rows), D: t.D}
	for _, j := range w.columns {
		out.Names = append(out.Names, t.Names[j])
	}
	for _, i := range w.rows {
		for _, j := range w.columns {
			out.Values = append(out.Values, w.scale[j]*(t.Values[i*t.D+j]+w.shift[j]))
			out.Observed = append(out.Observed, t.Observed[i*t.D+j])
			if w.poisoned && !t.Observed[i*t.D+j] {
				out.Values[len(out.Values)-1] = math.NaN()
			}
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

// Resumed from the middle of the saved states.
func resumed(ctx context.Context, t *data.Table, s trainers.Spec, _ trainers.Run) (*trainers.Result, error) {
	var saved [][]byte
	r, err := trainers.Estimate(ctx, t, s, trainers.Run{Save: func(s *trainers.State) error {
		var text bytes.Buffer
		err := gob.NewEncoder(&text).Encode(s)
		saved = append(saved, text.Bytes())
		return err
	}})
	if err != nil || len(saved) == 0 {
		return r, err
	}
	var state trainers.State
	if err := gob.NewDecoder(bytes.NewReader(saved[len(saved)/2])).Decode(&state); err != nil {
		return nil, err
	}
	return trainers.Estimate(ctx, t, s, trainers.Run{State: &state})
}
