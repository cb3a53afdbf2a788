package invariance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

const outcomesVariable = "MISSINGSCORE_TEST_OUTCOMES"

// Every case gives the same estimate with OpenBLAS and with gonum's own products, to
// rounding: the second by this test in another process, for a process has one library.
func TestEveryCaseByAnotherLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests that the detector of races runs are the short ones, and this is one of estimates, not of workers")
	}
	library, err := graph.BLAS()
	require.NoError(t, err)
	file := os.Getenv(outcomesVariable)
	if file == "" && strings.HasPrefix(library, "gonum") {
		t.Skip("gonum's products are the only ones here: OpenBLAS is not")
	}
	cases, err := Cases()
	require.NoError(t, err)
	wide, err := Wide()
	require.NoError(t, err)
	here := map[string][]float64{}
	for _, c := range slices.Concat(cases, wide) {
		o, err := c.fit(t.Context(), c.same(), nil)
		require.NoError(t, err)
		here[c.Name()] = append(o.numbers, o.loss)
	}
	if file != "" {
		text, err := json.Marshal(here)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return
	}
	file = filepath.Join(t.TempDir(), "outcomes.json")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEveryCaseByAnotherLibrary$")
	c.Env = append(os.Environ(), outcomesVariable+"="+file, graph.BLASVariable+"=gonum")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var there map[string][]float64
	require.NoError(t, json.Unmarshal(text, &there))
	require.Len(t, there, len(here))
	for name, first := range here {
		if err := differ(outcome{numbers: first}, outcome{numbers: there[name]}, 1e-7); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("here by %s; figures {\"cases\": %d}", library, len(here))
}
