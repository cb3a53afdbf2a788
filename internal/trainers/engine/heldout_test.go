package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func TestHeldOutLossOfChainsRepeats(t *testing.T) {
	truth := simulate.Modes(3, 2, stream.New(1, stream.Simulate))
	complete, err := truth.Sample(40, stream.New(2, stream.Simulate))
	require.NoError(t, err)
	table, err := data.HideMCAR(complete, 0.4, stream.New(3, stream.Hide))
	require.NoError(t, err)
	rows := []int{0, 3, 4, 9, 12, 17, 21, 30}
	held := func(method string) (first, again float64) {
		m, err := model.New("mixture", table.D, []byte(`{"components":2}`), stream.New(4, stream.Initial))
		require.NoError(t, err)
		e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: method, Draws: 5, Batch: 10, Seed: 6})
		require.NoError(t, err)
		h, err := e.HoldOut(e.Table, rows)
		require.NoError(t, err)
		first, err = h.Loss()
		require.NoError(t, err)
		again, err = h.Loss()
		require.NoError(t, err)
		return first, again
	}
	want, _ := held("iw")
	for _, method := range []string{"chains", "em-chains", "em-full"} {
		first, again := held(method)
		require.Equal(t, first, again, method)
		require.Equal(t, want, first, method)
	}
}
