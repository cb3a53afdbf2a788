package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/graph"
)

// Mixed is a mixture over rows of numbers x and levels c,
//
//	q(x, c) = Σ_k w_k Π_j N(x_j; m_kj, σ_kj²) Π_l π_kl(c_l).
//
// A level is its place in the column's levels, from 0. Within a component cells are independent,
// so that the density of some cells is the same sum with the factors of the other cells left out,
// and cells given others are drawn exactly. Methods that take a row (d) and marks of its observed
// cells (d) are safe for concurrent use.
type Mixed struct {
	levels []int // by column: how many it has; 0: numbers
	place  []int // by column: its place among the numbers, or its first among the shares

	Weights    []float64   // (K)
	Means      [][]float64 // (K, numbers)
	Deviations [][]float64 // (K, numbers)
	Shares     [][]float64 // (K, levels of all columns): π_kl one column after the other
}

// NewMixed has k equal components, N(0, 1) and equal shares. levels are by column, 0 of one of
// numbers.
func NewMixed(k int, levels []int) *Mixed {
	m := &Mixed{levels: levels, Weights: slices.Repeat([]float64{1 / float64(k)}, k)}
	numbers := 0
	var shares []float64
	for _, n := range levels {
		if n == 0 {
			m.place = append(m.place, numbers)
			numbers++
			continue
		}
		m.place = append(m.place, len(shares))
		shares = append(shares, slices.Repeat([]float64{1 / float64(n)}, n)...)
	}
	for range k {
		m.Means = append(m.Means, make([]float64, numbers))
		m.Deviations = append(m.Deviations, slices.Repeat([]float64{1}, numbers))
		m.Shares = append(m.Shares, slices.Clone(shares))
	}
	return m
}

// Levels is how many levels column j has, 0 if it holds numbers.
func (m *Mixed) Levels(j int) int { return m.levels[j] }

// Place is the place of column j's mean in Means[k], or of its first level in Shares[k].
func (m *Mixed) Place(j int) int { return m.place[j] }

func (m *Mixed) Dim() int { return len(m.levels) }

// Params are none: the likelihood determines the components without an expression.
func (m *Mixed) Params() []*graph.Param { return nil }

// Evaluate gives nothing: a level has no derivative.
func (m *Mixed) Evaluate(*graph.Builder, graph.Node) Evaluation { return Evaluation{} }

// Options implements Configured.
func (m *Mixed) Options() any { return MixtureOptions{len(m.Weights), m.levels} }

// Joint writes log w_k + Σ log N + Σ log π of a row's observed cells to to (K), and returns their log
// density, the logarithm of the sum of exponentials.
func (m *Mixed) Joint(row []float64, observed []bool, to []float64) float64 {
	for k := range to {
		log := math.Log(m.Weights[k])
		for j, seen := range observed {
			switch at := m.place[j]; {
			case !seen:
			case m.levels[j] > 0:
				log += math.Log(m.Shares[k][at+int(row[j])])
			default:
				sd := m.Deviations[k][at]
				z := (row[j] - m.Means[k][at]) / sd
				log -= z*z/2 + math.Log(sd) + logRoot2Pi
			}
		}
		to[k] = log
	}
	return floats.LogSumExp(to)
}

const logRoot2Pi = 0.9189385332046727 // log √(2π)

// Posterior writes the components' probabilities given a row's observed cells to to (K), and returns
// the log density of these cells.
func (m *Mixed) Posterior(row []float64, observed []bool, to []float64) float64 {
	log := m.Joint(row, observed, to)
	for k, v := range to {
		to[k] = math.Exp(v - log)
	}
	return log
}

// Score writes ∂/∂x_j log q of the observed cells, Σ_k r_k (m_kj − x_j)/σ_kj², to to (d): NaN for
// levels and missing cells.
func (m *Mixed) Score(row []float64, observed []bool, to []float64) {
	r := make([]float64, len(m.Weights))
	m.Posterior(row, observed, r)
	for j, seen := range observed {
		to[j] = math.NaN()
		if !seen || m.levels[j] > 0 {
			continue
		}
		to[j] = 0
		for k, v := range r {
			sd := m.Deviations[k][m.place[j]]
			to[j] += v * (m.Means[k][m.place[j]] - row[j]) / (sd * sd)
		}
	}
}

// Complete draws a row's missing cells given its observed ones, in place.
func (m *Mixed) Complete(row []float64, observed []bool, rng *rand.Rand) {
	r := make([]float64, len(m.Weights))
	m.Posterior(row, observed, r)
	k := pickBy(r, rng)
	for j, seen := range observed {
		switch at := m.place[j]; {
		case seen:
		case m.levels[j] > 0:
			row[j] = float64(pickBy(m.Shares[k][at:at+m.levels[j]], rng))
		default:
			row[j] = m.Means[k][at] + m.Deviations[k][at]*rng.NormFloat64()
		}
	}
}

// Expect writes into a row's missing cells their means given its observed ones, and of levels the
// most probable one.
func (m *Mixed) Expect(row []float64, observed []bool) {
	r := make([]float64, len(m.Weights))
	m.Posterior(row, observed, r)
	for j, seen := range observed {
		at := m.place[j]
		if seen {
			continue
		}
		shares := make([]float64, max(1, m.levels[j]))
		for k, v := range r {
			if m.levels[j] == 0 {
				shares[0] += v * m.Means[k][at]
			} else {
				floats.AddScaled(shares, v, m.Shares[k][at:at+len(shares)])
			}
		}
		row[j] = shares[0]
		if m.levels[j] > 0 {
			row[j] = float64(floats.MaxIdx(shares))
		}
	}
}

// pickBy draws an index with probabilities p.
func pickBy(p []float64, rng *rand.Rand) int {
	u := rng.Float64() * floats.Sum(p)
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return floats.MaxIdx(p) // rounding
}

// SampleRows implements Sampler, on all of R^d.
func (m *Mixed) SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error) {
	if s.Bounded() {
		return nil, ErrNoExactSampler
	}
	d := m.Dim()
	values, none := make([]float64, n*d), make([]bool, d)
	for i := 0; i < len(values); i += d {
		m.Complete(values[i:i+d], none, rng)
	}
	return values, nil
}

// Quantities are weights (K, 1), means (K, numbers), deviations (K, numbers) and shares (K, levels of
// all columns).
func (m *Mixed) Quantities() []Quantity {
	k, numbers := len(m.Weights), len(m.Means[0])
	qs := []Quantity{{Name: "weights", Rows: k, Cols: 1, Value: slices.Clone(m.Weights), Range: Share}}
	if numbers > 0 {
		qs = append(qs, Quantity{Name: "means", Rows: k, Cols: numbers, Value: slices.Concat(m.Means...)},
			Quantity{Name: "deviations", Rows: k, Cols: numbers, Value: slices.Concat(m.Deviations...), Range: Positive})
	}
	return append(qs, Quantity{Name: "shares", Rows: k, Cols: len(m.Shares[0]), Value: slices.Concat(m.Shares...), Range: Share})
}

// SetQuantities implements Parametric.
func (m *Mixed) SetQuantities(qs []Quantity) error {
	for _, q := range m.Quantities() {
		v, err := pick(qs, q.Name, q.Rows, q.Cols)
		if err != nil {
			return err
		}
		switch q.Name {
		case "weights":
			copy(m.Weights, v)
		case "means":
			m.Means = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		case "deviations":
			m.Deviations = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		case "shares":
			m.Shares = slices.Collect(slices.Chunk(slices.Clone(v), q.Cols))
		}
	}
	return m.check()
}

// check refuses weights and shares that do not sum to 1, and normals that are none.
func (m *Mixed) check() error {
	if len(m.Means[0]) > 0 {
		if err := (simulate.Mixture{Weights: m.Weights, Means: m.Means, Deviations: m.Deviations}).Check(); err != nil {
			return err
		}
	}
	for k, shares := range m.Shares {
		for j, n := range m.levels {
			if n == 0 {
				continue
			}
			p := shares[m.place[j] : m.place[j]+n]
			if !(floats.Min(p) >= 0) || !(math.Abs(floats.Sum(p)-1) < 1e-6) {
				return fmt.Errorf("shares: those of component %d in column %d are no probabilities: they must not be negative and must sum to 1", k+1, j+1)
			}
		}
	}
	return nil
}

// Rescale implements Parametric: it changes the numbers, and takes no notice of mean and deviation of
// columns of levels.
func (m *Mixed) Rescale(mean, deviation []float64) error {
	for j, n := range m.levels {
		if n > 0 {
			continue
		}
		for k := range m.Means {
			m.Means[k][m.place[j]] = mean[j] + deviation[j]*m.Means[k][m.place[j]]
			m.Deviations[k][m.place[j]] *= deviation[j]
		}
	}
	return nil
}

// checkLevels refuses options whose levels are not those of d columns.
func checkLevels(levels []int, d int) error {
	if len(levels) != d {
		return fmt.Errorf("levels of %d columns, %d are needed", len(levels), d)
	}
	if slices.Min(levels) < 0 || slices.Max(levels) == 0 {
		return errors.New("levels: a number of levels for each column is needed, 0 of numbers, and one above 0")
	}
	return nil
}
