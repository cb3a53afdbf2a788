package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/losses"
	"missingscore/trainers/engine"
)

// refitted is maximum likelihood with the edges of another network.
func refitted(t *testing.T, table *data.Table, truth *mat.SymDense) *model.Gaussian {
	t.Helper()
	d := table.D
	m := model.NewGaussian(d, model.Natural)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact", Batch: 250, Workers: 1})
	require.NoError(t, err)
	start := make([]float64, d*(d+1)/2)
	for j := range d {
		for k := j; k < d; k++ {
			if truth.At(j, k) != 0 {
				start[graph.PackedIndex(d, j, k)] = 0.01
			}
		}
	}
	support, turns := em.NewSupport(start, d), em.Turns{Engine: e, Model: m, Rows: e.Table.AllRows()}
	var s em.State
	for s.Count == 0 || s.Relative > 1e-3 {
		require.NoError(t, turns.Turn(t.Context(), &s, support.Minimise))
		require.Less(t, s.Count, 500)
	}
	turns.Settle(&s)
	return m
}

// hide hides cells of a table: by 0.3, or at random, by 0.4 in the mean, columns 2 and 4
// where the first one and the third are large.
func hide(t *data.Table, atRandom bool, seed uint64) {
	rng := stream.New(seed, stream.Hide)
	for i := range t.N {
		row, seen := t.Values[i*t.D:(i+1)*t.D], t.Observed[i*t.D:(i+1)*t.D]
		for j := range row {
			p := 0.3
			if atRandom {
				if p = 0; j%2 == 1 {
					p = 1 / (1 + math.Exp(0.4-2*row[j-1]))
				}
			}
			seen[j] = rng.Float64() >= p
		}
	}
}
