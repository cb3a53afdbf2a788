package memory_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/memory"
)

func TestLimit(t *testing.T) {
	defer memory.UseVariable()
	t.Setenv(memory.Variable, "")
	limit, err := memory.Limit()
	require.NoError(t, err)
	require.Greater(t, limit, 1e8)
	require.Less(t, limit, 1e14)
	const want = ": expected a size such as 8GB or 500MB"
	for text, want := range map[string]float64{"8GB": 8e9, "500 MB": 5e8, "1.5tb": 1.5e12, "7kB": 7000, "100B": 100} {
		memory.UseVariable()
		t.Setenv(memory.Variable, text)
		for range 2 { // by the variable, then before it
			limit, err := memory.Limit()
			require.NoError(t, err)
			require.InEpsilon(t, want, limit, 1e-12)
			t.Setenv(memory.Variable, "many")
			require.NoError(t, memory.Use(text))
		}
	}
	memory.UseVariable()
	for _, text := range []string{"8", "GB", "-1GB", "0MB", "NaNGB", "InfB", "many"} {
		t.Setenv(memory.Variable, text)
		_, err := memory.Limit()
		require.EqualError(t, err, memory.Variable+"="+text+want)
		require.Error(t, memory.Check(1, "", "x"))
		require.EqualError(t, memory.Use(text), text+want)
	}
}

func TestCheck(t *testing.T) {
	t.Setenv(memory.Variable, "1GB")
	require.NoError(t, memory.Check(1e9, "", "x"))
	require.EqualError(t, memory.Check(3.25e9, "choose fewer", "a table of %d", 5),
		"a table of 5 needs about 3.25 GB of memory, but only 1 GB is available: choose fewer, or set MISSINGSCORE_MEMORY where more is available")
	require.EqualError(t, memory.Check(4e12, "", "it"), "it needs about 4 TB of memory, but only 1 GB is available: set MISSINGSCORE_MEMORY where more is available")
}

func TestReadFile(t *testing.T) {
	t.Setenv(memory.Variable, "10kB")
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, make([]byte, 1000), 0o600))
	text, err := memory.ReadFile(path, 10)
	require.NoError(t, err)
	require.Len(t, text, 1000)
	_, err = memory.ReadFile(path, 11)
	require.ErrorContains(t, err, "f, of more than 909 B, needs about 10 kB of memory, but only 10 kB is available")
	if runtime.GOOS == "linux" {
		_, err = memory.ReadFile("/dev/zero", 1)
		require.ErrorContains(t, err, "/dev/zero")
	}
	_, err = memory.ReadFile(path+"x", 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCollectLeavesRoom(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for limit, want := range map[float64]int64{300e6: 250e6, 60e6: 30e6, 1e30: 1 << 62} {
		memory.Collect(limit)
		require.Equal(t, want, debug.SetMemoryLimit(-1))
	}
}
