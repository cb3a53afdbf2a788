package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/slowtest"
)

// The examples in Python and R run, and say the same of the same table: edges, centralities,
// and a slope over twenty imputed tables, by numpy and by the R package mice.
func TestExamplesInOtherLanguages(t *testing.T) {
	slowtest.Skip(t, "runs Python and R; 20 s")
	t.Parallel()
	numbers := regexp.MustCompile(`(?m)^(x\d - x\d: .*|x\d: strength .*|x2 ~ x1: .*)$`)
	said := map[string][]string{}
	for _, example := range []struct{ program, check, script string }{
		{"python3", "import pandas, networkx", "../examples/python/network.py"},
		{"Rscript", `for (p in c("qgraph", "igraph", "mice")) stopifnot(requireNamespace(p, quietly = TRUE))`, "../examples/r/network.R"},
	} {
		t.Run(example.program, func(t *testing.T) {
			if _, err := exec.LookPath(example.program); err != nil {
				t.Skipf("%s is not here", example.program)
			}
			flag := "-e"
			if example.program == "python3" {
				flag = "-c"
			}
			whole := exec.CommandContext(t.Context(), example.program, flag, example.check).Run() == nil
			dir := t.TempDir()
			run := exec.CommandContext(t.Context(), example.program, example.script, dir)
			run.Env = append(os.Environ(), "MISSINGSCORE_BLAS=gonum", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
			out, err := run.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "400 rows, 8 columns, ")
			require.FileExists(t, filepath.Join(dir, "network", "report.html"))
			require.FileExists(t, filepath.Join(dir, "completed.csv"))
			if !whole {
				t.Skipf("run without the packages of Debian (python3-pandas, python3-networkx; r-cran-qgraph, r-cran-igraph, r-cran-mice): %s", out)
			}
			said[example.program] = numbers.FindAllString(string(out), -1)
			require.Greater(t, len(said[example.program]), 7, string(out))
		})
	}
	if len(said) == 2 {
		require.Equal(t, said["python3"], said["Rscript"])
	}
}

// What a script gets for a mistake is the message of the program.
func TestExampleSaysWhatIsWrong(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here")
	}
	script := `import sys; sys.path.insert(0, "../examples/python"); import network; network.missingscore("network", "nothere.csv")`
	run := exec.CommandContext(t.Context(), "python3", "-c", script)
	run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := run.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "RuntimeError: nothere.csv: no such file")
}
