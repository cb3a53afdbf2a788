package outside

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
	"missingscore/data"
)

// Stands in for Python.
const interpreter = `#!/bin/sh
[ "$1" = -c ] && { echo 'numpy 1.2 python 3.4'; exit 0; }
[ "$4" = broken ] && { echo 'no such method' >&2; exit 1; }
[ "$(head -1 "$2")" = a,b ] || exit 1
cat "$1" "$1" > "$3"
[ "$OMP_NUM_THREADS" = 1 ] && echo done
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "python3"), []byte(interpreter), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	table, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 3, 5}, nil)
	require.NoError(t, err)
	p := Python("twice.py", []byte("1,NA\n"), "numpy")
	version, err := p.Version()
	require.NoError(t, err)
	require.Equal(t, "numpy 1.2 python 3.4", version)
	numbers, printed, err := p.Run(t.Context(), table)
	require.NoError(t, err)
	require.Len(t, numbers, 2)
	require.Equal(t, 1., numbers[1][0])
	require.True(t, math.IsNaN(numbers[1][1]))
	require.Equal(t, "done\n", printed)
	_, _, err = p.Run(t.Context(), table, "broken")
	require.EqualError(t, err, "twice.py: exit status 1: no such method")
	_, _, err = Python("words.py", []byte("one\n"), "numpy").Run(t.Context(), table)
	require.ErrorContains(t, err, `words.py: output "one"`)
}

func TestAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, _, err := R("x.R", nil, "glasso").Run(t.Context(), nil)
	require.ErrorIs(t, err, harness.ErrAbsent)
	require.ErrorContains(t, err, "Rscript with glasso")
}
