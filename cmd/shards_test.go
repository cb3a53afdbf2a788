package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shards are found in whatever folders they are, in their order, and all or none of them.
func TestFindShards(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	put := func(dir, name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	none, err := findShards(shardFile, []string{a, b})
	require.NoError(t, err)
	require.Empty(t, none)
	third, first := put(a, "shard-3-of-3.bin"), put(b, "shard-1-of-3.bin")
	put(a, "shard-2-of-3.bin.old")
	put(b, "moments-2-of-3.bin")
	_, err = findShards(shardFile, []string{a, b})
	require.EqualError(t, err, "--merge: the files of shards 2/3 are missing: run them, or name their folders too")
	far := t.TempDir()
	put(far, "shard-3-of-1000000000000.bin")
	put(far, "shard-0-of-5.bin")
	_, err = findShards(shardFile, []string{far})
	require.ErrorContains(t, err, "shards 1/1000000000000, 2/1000000000000, 4/1000000000000, ")
	require.ErrorContains(t, err, ", 11/1000000000000 and 999999999989 more are missing")
	second := put(b, "shard-2-of-3.bin")
	all, err := findShards(shardFile, []string{a, b})
	require.NoError(t, err)
	require.Equal(t, []string{first, second, third}, all)
	put(b, "shard-1-of-2.bin")
	_, err = findShards(shardFile, []string{a, b})
	require.EqualError(t, err, "--merge: there are shards of 3 and of 2: remove those that are not meant")
}
