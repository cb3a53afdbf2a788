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
