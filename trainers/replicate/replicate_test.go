package replicate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/data/network"
)

func TestRun(t *testing.T) {
	square := func(_ context.Context, k int) (int, error) { return k * k, nil }
	done := NewDone[int]("squares")
	done.Put(2, -1) // made before
	seen := 0
	got, err := Run(t.Context(), 5, Config{Workers: 3, Observe: func(done, total int) { seen++; require.Equal(t, 5, total) }}, done, square)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, -1, 9, 16}, got)
	require.Equal(t, 4, seen)

	own := errors.New("own")
	_, err = Run(t.Context(), 5, Config{}, NewDone[int](""), func(context.Context, int) (int, error) { return 0, own })
	require.ErrorIs(t, err, own)
	_, err = Run(t.Context(), 5, Config{Workers: 2}, NewDone[int](""), func(context.Context, int) (int, error) { panic("no luck") })
	require.ErrorContains(t, err, "internal error: no luck")
	_, err = Run(t.Context(), 5, Config{Save: func() error { return own }}, NewDone[int](""), square)
	require.ErrorIs(t, err, own)
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bin")
	done := NewDone[string]("this run")
	done.Put(3, "three")
	require.NoError(t, done.Save(path))
	again, err := Load[string](path, "this run")
	require.NoError(t, err)
	require.Equal(t, done, again)
	_, err = Load[string](path, "another")
	require.ErrorIs(t, err, ErrOtherRun)
	require.NoError(t, os.Truncate(path, 40))
	_, err = Load[string](path, "this run")
	require.ErrorContains(t, err, "is damaged or holds no saved replicates")
	_, err = Load[string](filepath.Join(t.TempDir(), "none"), "this run")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestIdentity(t *testing.T) {
	table := func(hidden float64, last float64) *data.Table {
		made, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, hidden, 5, last}, []bool{true, true, true, false, true, true})
		require.NoError(t, err)
		return made
	}
	of := func(settings any, tables ...*data.Table) string {
		text, err := Identity(settings, tables...)
		require.NoError(t, err)
		return text
	}
	require.Equal(t, of(1, table(0, 6)), of(1, table(9, 6)), "what stands under a missing cell is nothing")
	require.NotEqual(t, of(1, table(0, 6)), of(2, table(0, 6)))
	require.NotEqual(t, of(1, table(0, 6)), of(1, table(0, 7)))
	require.NotEqual(t, of(1, table(0, 6)), of(1, table(0, 6), table(0, 6)))
	_, err := Identity(func() {})
	require.ErrorContains(t, err, "must be JSON")
}

func TestWeights(t *testing.T) {
	n := &network.Network{Nodes: []string{"a", "b", "c", "d"}, Edges: []network.Edge{
		{Ends: [2]int{3, 1}, PartialCorrelation: -0.5}, {Ends: [2]int{0, 2}, PartialCorrelation: 0.25}, {Ends: [2]int{2, 3}, PartialCorrelation: 0.1},
	}}
	require.Equal(t, []float64{0, 0.25, 0, 0, -0.5, 0.1}, Weights(n))
}
