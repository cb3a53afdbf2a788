package mcem

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/optim"
)

// Superfluous edges lower nψ by the Judge's expectation on average.
func TestEdgesAreWhatSuperfluousOnesLowerTheLossBy(t *testing.T) {
	const tables, n, d = 60, 250, 3
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: mat.NewSymDense(d, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})}
	s := domain.All(d)
	s.Lower[0], s.Lower[1], s.Upper[1] = -0.5, -0.8, 1
	all := Everything(d)
	none := NewSupport(network.Adjacency{D: d, Edge: make([]bool, 3)})
	for name, on := range map[string]*Support{"all": all, "none": none} {
		t.Run(name, func(t *testing.T) {
			var over, expected []float64
			for k := range uint64(tables) {
				table := testtables.Sampled(t, g, s, n, 0.4, stream.New(k, stream.Simulate))
				r, ok, err := Setting{Table: table, Domain: s, Draws: 10, Seed: k}.ByPattern().Root(t.Context(), model.NewGaussian(d, model.Natural), on, &optim.PositiveDefinite{Floor: 1e-3}, 1e-3, 60)
				require.NoError(t, err)
				require.True(t, ok)
				j, ok, err := NewJudge(r)
				require.NoError(t, err)
				require.True(t, ok)
				of := func(on *Support) Verdict {
					n, ok, err := j.Network(on)
					require.NoError(t, err)
					require.True(t, ok)
					return n
				}
				few, many := of(none), of(all)
				require.InDelta(t, 0, few.Edges, 1e-9)
				over = append(over, n*(few.Loss-many.Loss)-many.Edges)
				expected = append(expected, many.Edges)
			}
			mean, sd := stat.MeanStdDev(over, nil)
			t.Logf("expected %.2f, more than that by %.2f (standard error %.2f)", stat.Mean(expected, nil), mean, sd/math.Sqrt(tables))
			require.InDelta(t, 0, mean, 3*sd/math.Sqrt(tables))
			require.Greater(t, stat.Mean(expected, nil), 5*sd/math.Sqrt(tables), "a factor of 2 would be seen")
		})
	}
}
