package likelihood

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/harness"
)

// rscript stands in for R: it says that the package is there, and writes an empty network
// and one of the first edge.
const rscript = `#!/bin/sh
[ "$1" = -e ] && exit 0
head -1 "$1" | grep -q 'Gaussian graphical model' || exit 1
[ "$(head -1 "$2" | tr ',' '\n' | wc -l)" = 3 ] || exit 1
printf '1,0,0,1,0,1\n1,0.5,0,1,0,1\n' > "$3"
echo 1.5 7
`

func TestRival(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Rscript"), []byte(rscript), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	own := `{"full": {"replicates": 1, "networks": [{"columns": 3, "missing": 0.2}], "rows": 50, "lambdas": 2, "ratio": 0.1, "repeats": 1, "path": {}}}`
	failed, err := harness.Run(t.Context(), []harness.Experiment{Experiment}, harness.Options{Out: out, Config: []byte(own)})
	require.NoError(t, err)
	require.Zero(t, failed)
	l, err := harness.Load(Experiment, out)
	require.NoError(t, err)
	// The star's two edges: the path finds one of them, and no false one: the area under
	// (0, 0), (0, 1/2), (1, 1).
	require.Equal(t, []string{"3", "0.2", "1", rival, "0.7500", "7", "1", "1.50"}, l.Results.Lines[1])
	made, err := tables(l.Settings, l.Results)
	require.NoError(t, err)
	require.Len(t, made[0].Lines, 1)
	require.Len(t, made[1].Lines, 1)

	_, err = decode([]byte(strings.Replace(string(l.Settings), "0.1", "2", 1)))
	require.EqualError(t, err, "settings: ratio: 2: it must be between 0 and 1")
	_, err = precisions([][]float64{{1, 2}}, 3)
	require.EqualError(t, err, "emglasso.R wrote 2 numbers a line, not 6")
}
