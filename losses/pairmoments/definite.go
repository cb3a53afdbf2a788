package pairmoments

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/lanczos"
)

// Shrink makes the moments positive semidefinite, which gaps can keep them from
// (docs/theory/pairwise.md#eq-pairwise-shrink):
//
//	S ← (1 − α) S + α D,   α = max(α_noise, α_definite) < 1,   D the diagonal of S
//
// With r the correlations and μ the smallest eigenvalue of D^(−½) S D^(−½),
//
//	α_definite = max(0, −μ) / (1 − μ),   α_noise = min(0.95, Σ_{j<k} (1 − r_jk²)² (1/n_jk − 1/n) / Σ_{j<k} r_jk²)
//
// the share of the correlations' squares that is variance added by gaps (Schäfer & Strimmer
// 2005 have 1/n_jk in its place). Columns' own moments stay; without gaps nothing is
// moved, and with more and more rows α goes to 0. It sets Lowest, Noise, Shrunk and Moved, and fails
// where a column is 0 in all rows.
func (m *Moments) Shrink(ctx context.Context, workers int) error {
	for j := range m.D {
		if !(m.Element(j, j) > 0) {
			return fmt.Errorf("column %d is constant where it is observed", j+1)
		}
	}
	if m.complete() && !m.latent { // a sum of squares
		return nil
	}
	least, err := m.lowest(ctx, workers)
	if err != nil {
		return err
	}
	m.Lowest = least
	if m.square > 0 {
		m.Noise = min(mostNoise, m.noise/m.square)
	}
	m.Shrunk = max(m.Noise, max(0, -least)/(1-least))
	m.Moved = m.Shrunk * m.largest
	m.ShrinkTo(m.Shrunk)
	return nil
}

const mostNoise = 0.95 // of the correlations' squares: α_noise is never more

// ShrinkTo makes S that with another α < 1; 0: the moments as they came.
func (m *Moments) ShrinkTo(alpha float64) {
	m.scale((1 - alpha) / (1 - m.now))
	m.now = alpha
}

// At is S_jk with another α, whatever S is.
func (m *Moments) At(alpha float64, j, k int) float64 {
	if j == k {
		return m.Element(j, j)
	}
	return m.Element(j, k) * (1 - alpha) / (1 - m.now)
}

// Levels are α from 0 to Shrunk, by doubling from what gaps' noise makes of it: for estimates
// of few pairs, whose moments need less than all together to be positive definite.
func (m *Moments) Levels() []float64 {
	levels := []float64{0}
	for alpha := max(m.Noise, leastLevel); alpha < m.Shrunk; alpha *= 2 {
		levels = append(levels, alpha)
	}
	if m.Shrunk > 0 {
		levels = append(levels, m.Shrunk)
	}
	return levels
}

const leastLevel = 0.01

// scale takes all but the diagonal times a factor.
func (m *Moments) scale(factor float64) {
	if m.Half != nil {
		m.Half.scale(factor)
		return
	}
	for j := range m.D {
		own := m.S[j*m.D+j]
		floats.Scale(factor, m.S[j*m.D:(j+1)*m.D])
		m.S[j*m.D+j] = own
	}
}

// complete tells whether the rows have all the columns.
func (m *Moments) complete() bool {
	for _, n := range m.Own {
		if n != m.Own[0] {
			return false
		}
	}
	return m.D < 2 || m.Least == m.Own[0]
}

// lowest is the smallest eigenvalue of the correlations, or a little less.
func (m *Moments) lowest(ctx context.Context, workers int) (float64, error) {
	d, unit := m.D, make([]float64, m.D)
	for j := range unit {
		if own := m.Element(j, j); own > 0 {
			unit[j] = 1 / math.Sqrt(own)
		}
	}
	scaled := make([]float64, d)
	workers = max(1, min(workers, d/tile))
	spaces := make([][]float64, workers)
	return lanczos.Smallest(ctx, d, func(y, x []float64) {
		floats.MulTo(scaled, unit, x)
		var pool errgroup.Group
		for w := range workers {
			pool.Go(func() error {
				if m.Half != nil && spaces[w] == nil {
					spaces[w] = make([]float64, together*d)
				}
				m.eachRow(w*d/workers, (w+1)*d/workers, spaces[w], func(j int, row []float64) { y[j] = unit[j] * floats.Dot(row, scaled) })
				return nil
			})
		}
		_ = pool.Wait() // none fails
	})
}

// eachRow visits rows of S; of a Half space holds some of them.
func (m *Moments) eachRow(from, to int, space []float64, visit func(j int, row []float64)) {
	d := m.D
	if m.Half == nil {
		for j := from; j < to; j++ {
			visit(j, m.S[j*d:(j+1)*d])
		}
		return
	}
	for j := from; j < to; {
		number := min(to, (j/together+1)*together) - j // within a tile, for a tile has a multiple of them
		m.Half.rows(j, space[:number*d])
		for i := range number {
			visit(j+i, space[i*d:(i+1)*d])
		}
		j += number
	}
}
