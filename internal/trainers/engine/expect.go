package engine

import (
	"math"
	"slices"

	"missingscore/internal/data/gaussian"
	"missingscore/losses"
)

// keptCells is the maximum number of cells for which patterns are cached.
const keptCells = 1 << 23

// Moments is the expectation step at eta = Pμ (d) and p (d, d). With pairs (gaussian.Expectation) it
// has no loss.
func (e *Engine) Moments(rows []int, eta, p []float64, pairs [][2]int32) (Step, error) {
	in, d := e.instead(rows), e.Table.D
	keeps := len(in.rows)*d <= keptCells
	if !keeps || e.expected.table != in.table || !slices.Equal(e.expected.rows, in.rows) {
		for i := range e.parts {
			e.parts[i].patterns = nil
		}
	}
	e.expected = in
	return e.run(in, 0, 1, func(_ *Engine, w *worker, to *part, _, _ int, in condensed, _ float64) (err error) {
		if w.expectation == nil {
			if w.expectation, err = losses.NewExpectation(d); err != nil {
				return err
			}
		}
		w.fill(in, 1)
		patterns := to.patterns
		if patterns == nil {
			patterns = gaussian.FindPatterns(w.batch.Mask, w.batch.Weight)
			if keeps {
				to.patterns = patterns
			}
		}
		if err := w.expectation.Over(eta, p, w.batch.X, w.batch.Mask, w.batch.Weight, patterns, pairs); err != nil {
			return err
		}
		square := (d + 1) * (d + 1)
		to.Grads, to.Moments = nil, slices.Grow(to.Moments[:0], square)[:square]
		w.expectation.Moments(to.Moments)
		to.Loss, to.LogLikelihood = math.NaN(), w.expectation.LogLikelihood
		if pairs == nil {
			to.Loss = w.expectation.Loss()
		}
		return nil
	})
}
