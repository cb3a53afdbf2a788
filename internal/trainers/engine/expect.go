package engine

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/internal/data/gaussian"
	"missingscore/losses"
)

// Moments is the expectation step at eta = Pμ (d) and p (d, d) for losses with LossNeeds.Moments.
func (e *Engine) Moments(rows []int, eta, p []float64) (Step, error) {
	if e.Estimator.Loss != losses.GaussianComplete {
		return e.Gradient(0, rows, 1)
	}
	square := (e.Table.D + 1) * (e.Table.D + 1)
	return e.expect(rows, square, func(x *gaussian.Expectation, b *data.Batch, of *gaussian.RowPatterns, part *expectedPart) error {
		if err := x.Over(eta, p, b.X, b.Mask, b.Weight, of); err != nil {
			return err
		}
		part.loss = x.Moments(part.moments)
		return nil
	})
}

// Within is Moments at a network, for any estimator; Step.Moments is Expectation.Elements,
// Step.Loss is not set.
func (e *Engine) Within(rows []int, at gaussian.Network) (Step, error) {
	return e.expect(rows, 1+2*e.Table.D+len(at.Pairs), func(x *gaussian.Expectation, b *data.Batch, of *gaussian.RowPatterns, part *expectedPart) error {
		if err := x.Within(at, b.X, b.Mask, b.Weight, of); err != nil {
			return err
		}
		x.Elements(part.moments)
		return nil
	})
}

func (e *Engine) expect(rows []int, moments int, step expectationStep) (s Step, err error) {
	in, size := e.instead(rows), e.Config.Batch
	n := (len(in.rows) + size - 1) / size
	e.expected.begin(in, n, moments)
	if err := e.together(n, func(k int) {
		for i := k; i < n; i += len(e.workers) {
			some := in
			some.rows = in.rows[i*size : min((i+1)*size, len(in.rows))]
			e.expected.parts[i].err = e.workers[k].expect(&e.expected, i, some, e.Table.D, step)
		}
	}); err != nil {
		return s, err
	}
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

type expectationStep func(x *gaussian.Expectation, b *data.Batch, of *gaussian.RowPatterns, part *expectedPart) error

type expected struct {
	of    condensed
	keeps bool
	parts []expectedPart
}

type expectedPart struct {
	patterns            *gaussian.RowPatterns // nil: not computed yet
	moments             []float64
	loss, logLikelihood float64
	err                 error
}

// keptCells is the maximum number of cells for which patterns are cached.
const keptCells = 1 << 23

func (x *expected) begin(of condensed, n, moments int) {
	same := x.of.table == of.table && len(x.parts) >= n && slices.Equal(x.of.rows, of.rows)
	x.of, x.keeps = of, len(of.rows)*of.table.D <= keptCells
	x.parts = append(x.parts, make([]expectedPart, max(0, n-len(x.parts)))...)
	for i := range x.parts {
		if part := &x.parts[i]; i < n && len(part.moments) != moments {
			part.moments = slices.Grow(part.moments[:0], moments)[:moments]
		}
		if !same || !x.keeps {
			x.parts[i].patterns = nil
		}
	}
}

func (w *worker) expect(x *expected, i int, of condensed, d int, step expectationStep) (err error) {
	if w.expectation == nil {
		if w.expectation, err = losses.NewExpectation(d); err != nil {
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
	if err := step(w.expectation, w.batch, patterns, part); err != nil {
		return err
	}
	part.logLikelihood = w.expectation.LogLikelihood
	return nil
}
