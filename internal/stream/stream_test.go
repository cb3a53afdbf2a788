package stream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

func TestStreamsDependOnSeedAndPlaceOnly(t *testing.T) {
	first := func(seed uint64, keys ...uint64) uint64 { return stream.New(seed, keys...).Uint64() }
	require.Equal(t, first(1, 2, 3), first(1, 2, 3))
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		for a := range uint64(20) {
			seen[first(seed, a)] = true
			for b := range uint64(20) { // (a, b), (b, a) and (a) are different places
				seen[first(seed, a, b)] = true
			}
		}
	}
	require.Len(t, seen, 20*20*21)
}

func TestSinglesDependOnTheStreamOnly(t *testing.T) {
	var s stream.Stream
	draw := func(key uint64, lengths ...int) (x []float32) {
		var g stream.Singles
		g.From(s.At(1, key))
		for _, n := range lengths {
			part := make([]float32, n)
			g.Normals(part)
			x = append(x, part...)
		}
		return x
	}
	require.Equal(t, draw(1, 100), draw(1, 100))
	require.Equal(t, draw(1, 100)[:96], draw(1, 16, 32, 48), "blocks follow each other")
	require.Equal(t, draw(1, 100)[:5], draw(1, 5, 20)[:5])
	require.Equal(t, draw(1, 100)[16:36], draw(1, 5, 20)[5:], "the rest of a block is left out")
	require.NotContains(t, draw(2, 100), draw(1, 1)[0])
	require.NotContains(t, draw(1, 100), float32(0))
	var g stream.Singles
	var x [100]float32
	require.Zero(t, testing.AllocsPerRun(10, func() { g.From(s.At(1, 2)); g.Normals(x[:]) }))
}
