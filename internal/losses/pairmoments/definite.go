package pairmoments

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/lanczos"
)

// Shrink makes the moments positive semidefinite, which missing cells can violate
// (docs/theory/pairwise.md#eq-pairwise-shrink):
//
//	S ← (1 − α) S + α D,   α = max(α_noise, α_definite) < 1,   D the diagonal of S
//
// With r the correlations and μ the smallest eigenvalue of D^(−½) S D^(−½),
//
//	α_definite = max(0, −μ) / (1 − μ),   α_noise = min(0.95, Σ_{j<k} (1 − r_jk²)² (1/n_jk − 1/n) / Σ_{j<k} r_jk²)
//
// The diagonal stays. It sets Lowest, Noise, Shrunk and Moved, and fails if a column is 0 in all
// rows.
func (m *Moments) Shrink(ctx context.Context, workers int) error {
	for j := range m.D {
		if !(m.Element(j, j) > 0) {
			return fmt.Errorf("column %d is constant where it is observed", j+1)
		}
	}
	if m.complete() && !m.latent { // semidefinite already
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

const mostNoise = 0.95 // upper limit of α_noise

// ShrinkTo sets S to the matrix with another α < 1.
func (m *Moments) ShrinkTo(alpha float64) {
	m.scale((1 - alpha) / (1 - m.now))
	m.now = alpha
}

// At returns S_jk for another α, independent of the current α.
func (m *Moments) At(alpha float64, j, k int) float64 {
	if j == k {
		return m.Element(j, j)
	}
	return m.Element(j, k) * (1 - alpha) / (1 - m.now)
}

// Levels returns α from 0 to Shrunk, doubling from α_noise.
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

func (m *Moments) scale(factor float64) {
	for j := range m.D {
		own := m.S[j*m.D+j]
		floats.Scale(factor, m.S[j*m.D:(j+1)*m.D])
		m.S[j*m.D+j] = own
	}
}

func (m *Moments) complete() bool {
	for _, n := range m.Own {
		if n != m.Own[0] {
			return false
		}
	}
	return m.D < 2 || m.Least == m.Own[0]
}

// lowest returns a close lower bound of the smallest eigenvalue of the correlations.
func (m *Moments) lowest(ctx context.Context, workers int) (float64, error) {
	d, unit := m.D, make([]float64, m.D)
	for j := range unit {
		if own := m.Element(j, j); own > 0 {
			unit[j] = 1 / math.Sqrt(own)
		}
	}
	scaled := make([]float64, d)
	workers = max(1, min(workers, d/tile))
	return lanczos.Smallest(ctx, d, func(y, x []float64) {
		floats.MulTo(scaled, unit, x)
		var pool errgroup.Group
		for w := range workers {
			pool.Go(func() error {
				for j := w * d / workers; j < (w+1)*d/workers; j++ {
					y[j] = unit[j] * floats.Dot(m.S[j*d:(j+1)*d], scaled)
				}
				return nil
			})
		}
		_ = pool.Wait() // no task fails
	})
}
