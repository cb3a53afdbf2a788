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
	n := 0
	for seed := range uint64(20) {
		for a := range uint64(20) {
			seen[first(seed, a)] = true
			n++
			for b := range uint64(20) { // (a, b), (b, a) and (a) are different places
				seen[first(seed, a, b)] = true
				n++
			}
		}
	}
	require.Len(t, seen, n)
}

// Many, so that strips' edges and the tail are met.
func TestNormalsAreThoseOfTheStandardLibrary(t *testing.T) {
	var s stream.Stream
	for seed := range uint64(20) {
		want := stream.New(seed, 1)
		s.At(seed, 1)
		for _, n := range []int{0, 1, 2, 17, 300_000} {
			got := make([]float64, n)
			s.Normals(got)
			for i, v := range got {
				if w := want.NormFloat64(); v != w {
					t.Fatalf("seed %d, number %d of %d: %v is %v there", seed, i, n, v, w)
				}
			}
			require.Equal(t, want.Uint64(), s.Uint64(), "the stream goes on")
		}
	}
	var x [100]float64
	require.Zero(t, testing.AllocsPerRun(10, func() { s.At(1, 2).Normals(x[:]) }))
}
