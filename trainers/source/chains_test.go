package source

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// The second column is at −apart or apart, independent of the first, and mostly missing.
func twoPeaks(t *testing.T, apart float64) (model.Model, *data.Table) {
	t.Helper()
	mixture := simulate.Mixture{Weights: []float64{0.5, 0.5}, Means: [][]float64{{0, -apart}, {0, apart}}, Deviations: [][]float64{{1, 0.5}, {1, 0.5}}}
	m := model.NewMixture(mixture)
	table := &data.Table{Names: []string{"a", "b"}, N: 20, D: 2}
	rng := stream.New(3)
	for i := range table.N {
		table.Values = append(table.Values, rng.NormFloat64(), apart*float64(2*(i%2)-1))
		table.Observed = append(table.Observed, true, i%3 == 0) // observed cells determine where chains start
	}
	return m, table
}

// chainsOf makes the source for a table, and the given number of moves.
func chainsOf(t *testing.T, m model.Model, table *data.Table, s *domain.Domain, draws, steps int) (*chains, *data.Batch) {
	t.Helper()
	from, err := newChains(Setting{Model: m, Table: table, Batch: table.N + 2, Draws: draws, Domain: s})
	require.NoError(t, err)
	b := data.NewBatch(table.N+2, table.D) // two rows of padding
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	b.Fill(table, rows, 1)
	x, log := slice(b.Size*draws*b.D), slice(b.Size*draws)
	for k := range steps {
		require.NoError(t, from.Complete(b, x, log, new(Stream).At(1, uint64(k))))
	}
	return from.(*chains), b
}

func TestRHatOfChains(t *testing.T) {
	for _, c := range []struct {
		apart, least, most float64
	}{{0.3, 0.99, 1.06}, {4, 2, math.Inf(1)}} {
		m, table := twoPeaks(t, c.apart)
		from, b := chainsOf(t, m, table, nil, 8, 40)
		before := from.kept.Capture()
		rhat, err := from.RHat(b, new(Stream).At(5))
		require.NoError(t, err)
		require.Equal(t, before, from.kept.Capture(), "asking moves nothing")
		require.Len(t, rhat, table.N)
		for i, v := range rhat {
			if table.Observed[2*i+1] {
				require.Zero(t, v)
			} else {
				require.Greater(t, v, c.least, "row %d", i)
				require.Less(t, v, c.most, "row %d", i)
			}
		}
	}
}

func TestChainsGoOnFromTheirMemory(t *testing.T) {
	m, table := twoPeaks(t, 0.3)
	s := domain.All(2)
	s.Lower[1] = -1
	for i := 1; i < len(table.Values); i += 2 {
		table.Values[i] = 0
	}
	from, b := chainsOf(t, m, table, s, 4, 3)
	memory := from.kept.Capture()
	draw := func() []float64 {
		x, log := slice(b.Size*4*b.D), slice(b.Size*4)
		require.NoError(t, from.Complete(b, x, log, new(Stream).At(7)))
		for i := 1; i < table.N*4*2; i += 2 {
			require.GreaterOrEqual(t, x[i], -1.)
		}
		return x
	}
	want := draw()
	require.NotEqual(t, want, draw(), "the chains have moved on")
	from.kept.Restore(memory)
	require.Equal(t, want, draw())
}

func TestTooManyChains(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b"}, N: 100, D: 2, Values: make([]float64, 200), Observed: make([]bool, 200)}
	_, err := newChainMemory(Setting{Table: table, Draws: 1e7})
	var refused *setting.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "draws", refused.Field)
	require.ErrorContains(t, err, "need 16 GB of memory; use fewer draws")
}
