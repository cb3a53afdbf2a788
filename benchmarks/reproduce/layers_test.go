package reproduce

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What experiments are made with does not know them: a package imports those before it.
func TestTheHarnessKnowsNoExperiment(t *testing.T) {
	order := []string{"cells", "claims", "markdown", "figures", "marginal", "training", "timing", "harness", "report"}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "missingscore/benchmarks/...").Output()
	require.NoError(t, err)
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		own := slices.Index(order, strings.TrimPrefix(p.ImportPath, "missingscore/benchmarks/"))
		if own < 0 {
			continue
		}
		seen++
		for _, imported := range p.Imports {
			if name, ok := strings.CutPrefix(imported, "missingscore/benchmarks/"); ok {
				require.Contains(t, order[:own], name, "%s must not import %s", p.ImportPath, imported)
			}
		}
	}
	require.Equal(t, len(order), seen)
}
