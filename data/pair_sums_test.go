package data

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

// Of every pair, the sums of a loop over the rows; complete ones among them, and counted ones.
func TestPairSums(t *testing.T) {
	const n, d = 1300, 3 // more rows than are multiplied at a time
	rng := stream.New(2)
	table := &Table{N: n, D: d}
	for i := range n {
		for range d {
			table.Values, table.Observed = append(table.Values, rng.NormFloat64()), append(table.Observed, i < 700 || rng.Float64() < 0.7)
		}
	}
	var weights []float64
	for i := range n {
		weights = append(weights, float64(i%4)/3)
	}
	for name, weigh := range map[string]func(){
		"once":     func() {},
		"counted":  func() { table.Counted = &Counted{Counts: weights} },
		"weighted": func() { table.Weights = weights },
	} {
		table.Counted, table.Weights = nil, nil
		weigh()
		got := table.PairSums()
		for j := range d {
			for k := range d {
				var cross, number float64
				for i := range n {
					if table.Observed[i*d+j] && table.Observed[i*d+k] {
						cross += table.Weight(i) * table.Values[i*d+j] * table.Values[i*d+k]
						number += table.Weight(i)
					}
				}
				require.InDelta(t, cross, got.Cross[j*d+k], 1e-10, name)
				require.InDelta(t, number, got.Number[j*d+k], 1e-10, name)
			}
		}
	}
}
