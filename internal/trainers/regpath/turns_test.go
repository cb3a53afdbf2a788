package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTurnsOfManyColumns(t *testing.T) {
	const d = manyColumns + 20
	standard := star(t, d, 150, 0.2)
	config := Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 5, LambdaMin: 0.002, PathOnly: true}
	config.StopTol, config.MaxIter = 1e-5, 200
	var points [2][]Point
	for i, columns := range []int{manyColumns, math.MaxInt} {
		r := started(t, standard, "em-exact", config, &State{})
		require.NoError(t, r.prepare(t.Context(), l1))
		r.weights = make([]float64, len(r.packed()))
		for i := range r.weights {
			r.weights[i] = 0.5 + float64(i%7)/7
		}
		by := newTurns(r.problem, columns)
		require.Equal(t, i == 0, by.em.MostGain > 1)
		r.schedule = by
		require.NoError(t, r.pathTo(t.Context(), 1))
		require.Equal(t, i == 0, !by.lasso.Dense)
		require.NoError(t, r.pathTo(t.Context(), 5))
		points[i] = r.State.Points
	}
	require.Greater(t, points[0][4].Edges, 50)
	sooner := 0
	for k, p := range points[0] {
		require.InDeltaSlice(t, points[1][k].Packed(), p.Packed(), 1e-5)
		require.InDelta(t, points[1][k].Loss, p.Loss, 1e-5)
		require.False(t, p.Unfinished)
		sooner += points[1][k].Iterations - p.Iterations
	}
	require.Positive(t, sooner)
}
