package engine

import (
	"slices"

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
	return e.expect(rows, square, func(x *gaussian.Expectation, b *data.Batch, of *gaussian.RowPatterns, part *part) error {
		if err := x.Over(eta, p, b.X, b.Mask, b.Weight, of); err != nil {
			return err
		}
		part.Loss = x.Moments(part.Moments)
		return nil
	})
}

// Within is Moments at a network, for any estimator; Step.Moments is Expectation.Elements,
// Step.Loss is not set.
func (e *Engine) Within(rows []int, at gaussian.Network) (Step, error) {
	return e.expect(rows, 1+2*e.Table.D+len(at.Pairs), func(x *gaussian.Expectation, b *data.Batch, of *gaussian.RowPatterns, part *part) error {
		if err := x.Within(at, b.X, b.Mask, b.Weight, of); err != nil {
			return err
		}
		x.Elements(part.Moments)
		return nil
	})
}

// keptCells is the maximum number of cells for which patterns are cached.
const keptCells = 1 << 23

func (e *Engine) expect(rows []int, moments int, step func(*gaussian.Expectation, *data.Batch, *gaussian.RowPatterns, *part) error) (Step, error) {
	in, d := e.instead(rows), e.Table.D
	keeps := len(in.rows)*d <= keptCells
	if !keeps || e.expected.table != in.table || !slices.Equal(e.expected.rows, in.rows) {
		for i := range e.parts {
			e.parts[i].patterns = nil
		}
	}
	e.expected = in
	return e.run(in, func(w *worker, p *part, _ int, in condensed) (err error) {
		if w.expectation == nil {
			if w.expectation, err = losses.NewExpectation(d); err != nil {
				return err
			}
		}
		w.fill(in, 1)
		patterns := p.patterns
		if patterns == nil {
			patterns = gaussian.FindPatterns(w.batch.Mask, w.batch.Weight)
			if keeps {
				p.patterns = patterns
			}
		}
		p.Loss, p.Grads, p.Moments = 0, nil, slices.Grow(p.Moments[:0], moments)[:moments]
		if err := step(w.expectation, w.batch, patterns, p); err != nil {
			return err
		}
		p.LogLikelihood = w.expectation.LogLikelihood
		return nil
	})
}
