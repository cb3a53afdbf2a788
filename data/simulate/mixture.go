package simulate

import (
	"fmt"
	"math/rand/v2"

	"missingscore/data"

	"gonum.org/v1/gonum/floats"
)

// Mixture is the distribution Σ_k w_k N(mean_k, diag(deviation_k²)) on R^d.
type Mixture struct {
	Weights    []float64   // (K): positive; only their ratios count
	Means      [][]float64 // (K, d)
	Deviations [][]float64 // (K, d): positive
}

// Check fails unless there is a component and a column, all shapes agree, and weights
// and deviations are positive.
func (m Mixture) Check() error {
	if len(m.Weights) == 0 || len(m.Means) != len(m.Weights) || len(m.Deviations) != len(m.Weights) {
		return fmt.Errorf("%d weights, %d means and %d deviations make no mixture", len(m.Weights), len(m.Means), len(m.Deviations))
	}
	d := len(m.Means[0])
	for k, w := range m.Weights {
		if d == 0 || len(m.Means[k]) != d || len(m.Deviations[k]) != d {
			return fmt.Errorf("component %d has %d means and %d deviations, the first has %d means", k+1, len(m.Means[k]), len(m.Deviations[k]), d)
		}
		if !(w > 0) || !(floats.Min(m.Deviations[k]) > 0) {
			return fmt.Errorf("component %d: the weight %v and deviations %v must be positive", k+1, w, m.Deviations[k])
		}
	}
	return nil
}

// Draw gives n rows (n, d), row-major, of a mixture that passes Check.
func (m Mixture) Draw(n int, rng *rand.Rand) []float64 {
	ends := floats.CumSum(make([]float64, len(m.Weights)), m.Weights)
	total := ends[len(ends)-1]
	x := make([]float64, 0, n*len(m.Means[0]))
	for range n {
		k, u := 0, total*rng.Float64()
		for k < len(ends)-1 && u >= ends[k] {
			k++
		}
		for j, mean := range m.Means[k] {
			x = append(x, mean+m.Deviations[k][j]*rng.NormFloat64())
		}
	}
	return x
}

// Sample is Draw as a complete table with the columns x1 … xd. It fails as Check does,
// or if n is below 2.
func (m Mixture) Sample(n int, rng *rand.Rand) (*data.Table, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if n < 2 {
		return nil, fmt.Errorf("a sample of %d rows: at least 2 are needed", n)
	}
	names := make([]string, len(m.Means[0]))
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j+1)
	}
	return data.NewTable(names, m.Draw(n, rng), nil)
}
