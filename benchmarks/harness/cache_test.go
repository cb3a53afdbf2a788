package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
)

func TestRecentCache(t *testing.T) {
	made := 0
	l := harness.NewRecentCache[int, int](2)
	get := func(key int) {
		v, err := l.Get(key, func() (int, error) { made++; return key * key, nil })
		require.NoError(t, err)
		require.Equal(t, key*key, v)
	}
	for _, key := range []int{1, 1, 2, 1, 3} {
		get(key)
	}
	require.Equal(t, 3, made)
	get(1)
	require.Equal(t, 4, made, "the third key evicted the first")
}
