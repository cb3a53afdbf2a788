package engine

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data/gaussian"
	"missingscore/losses"
)

// Moments is an expectation step of the engine's normal model over rows, which has eta = Pμ (d) and
// the precision p (d, d), by losses with LossNeeds.Moments: what Gradient gives but for the
// gradients and the loss's numbers about draws, in less time.
func (e *Engine) Moments(rows []int, eta, p []float64) (Step, error) {
	if _, ok := e.Estimator.Loss.(losses.GaussianComplete); !ok {
		return e.Gradient(0, rows, 1)
	}
	in, size := e.instead(rows), e.Config.Batch
	n := (len(in.rows) + size - 1) / size
	e.expected.begin(in, n, e.Table.D)
	if err := e.together(n, func(k int) {
		for i := k; i < n; i += len(e.workers) {
			some := in
			some.rows = in.rows[i*size : min((i+1)*size, len(in.rows))]
			e.expected.parts[i].err = e.workers[k].expect(&e.expected, i, some, eta, p)
		}
	}); err != nil {
		return Step{}, err
	}
	var s Step
	for i, part := range e.expected.parts[:n] {
		if part.err != nil {
			return s, part.err
		}
		s.Loss += part.loss
		if s.LogLikelihood += part.logLikelihood; i == 0 {
			s.Moments = part.moments
			continue
		}
		floats.Add(s.Moments, part.moments)
	}
	return s, nil
}

// expected are the parts of expectation steps, and of which rows they are.
type expected struct {
	of    condensed
	keeps bool
	parts []expectedPart
}

type expectedPart struct {
	patterns            *gaussian.RowPatterns // nil: not found yet
	moments             []float64
	loss, logLikelihood float64
	err                 error
}

// keptCells are how many cells rows may have whose patterns are kept from step to step.
const keptCells = 1 << 23

// begin prepares for n parts of rows.
func (x *expected) begin(of condensed, n, d int) {
	same := x.of.table == of.table && len(x.parts) >= n && slices.Equal(x.of.rows, of.rows)
	x.of, x.keeps = of, len(of.rows)*d <= keptCells
	for len(x.parts) < n {
		x.parts = append(x.parts, expectedPart{moments: make([]float64, (d+1)*(d+1))})
	}
	for i := range x.parts {
		if !same || !x.keeps {
			x.parts[i].patterns = nil
		}
	}
}

// expect makes the step over part number i.
func (w *worker) expect(x *expected, i int, of condensed, eta, p []float64) (err error) {
	if w.expectation == nil {
		if w.expectation, err = (losses.GaussianComplete{}).Expectation(len(eta)); err != nil {
			return err
		}
	}
	if !w.batch.Holds(of.table, of.rows, 1) {
		w.batch.Fill(of.table, of.rows, 1)
		if of.counts != nil {
			for k, row := range of.rows {
				w.batch.Weight[k] *= of.counts[row]
			}
		}
	}
	part := &x.parts[i]
	patterns := part.patterns
	if patterns == nil {
		patterns = gaussian.FindPatterns(w.batch.Mask, w.batch.Weight)
		if x.keeps {
			part.patterns = patterns
		}
	}
	if err := w.expectation.Over(eta, p, w.batch.X, w.batch.Mask, w.batch.Weight, patterns); err != nil {
		return err
	}
	part.loss, part.logLikelihood = w.expectation.Moments(part.moments), w.expectation.LogLikelihood
	return nil
}
