// Package layers checks that dependencies point downwards.
package layers

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

// allowed lists what each package of ours may import of ours, internal apart.
var allowed = map[string][]string{
	"data":     {},
	"graph":    {"data"},
	"nets":     {"graph", "data"},
	"losses":   {"graph", "nets", "data"},
	"trainers": {"losses", "nets", "graph", "data"},
}

func TestDependenciesPointDownwards(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "missingscore/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		own := top(p.ImportPath)
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "gorgonia.org/") {
				require.Contains(t, []string{"graph", "nets", "losses"}, own, "%s imports %s", p.ImportPath, imported)
			}
			other := top(imported)
			if rules, ok := allowed[own]; ok && strings.HasPrefix(imported, "missingscore/") && other != own && other != "internal" {
				require.True(t, slices.Contains(rules, other), "%s must not import %s", p.ImportPath, imported)
			}
		}
		if _, ok := allowed[own]; ok {
			seen++
		}
	}
	require.GreaterOrEqual(t, seen, len(allowed))
}

// top is the folder under the module's root.
func top(path string) string {
	rest, ok := strings.CutPrefix(path, "missingscore/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}
