// Package checks tests the source as a whole.
package checks

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

// layers from the bottom up. A package may import lower layers, and packages before it in its line.
var layers = [][]string{
	{"internal/slowtest", "internal/simd", "internal/stream", "internal/panics", "internal/spelling", "internal/shell", "internal/printable", "internal/setting", "internal/memory", "internal/strictjson", "internal/atomicfile", "internal/checkedfile", "internal/fuzztest", "internal/lanczos"},
	{"internal/data/mixture", "internal/data/truncnorm", "internal/data/binormal", "internal/data/noise", "data/domain", "data/format", "data", "data/arrow", "data/excel", "data/parquet", "internal/data/simulate", "data/missingness", "internal/data/gaussian", "internal/data/mcar", "internal/data/transform", "internal/data/diagnose", "internal/data/network", "internal/data/moments", "internal/data/survey"},
	{"graph", "graph/model", "graph/gradcheck", "graph/modeltest"},
	{"nets"},
	{"internal/losses/pairmoments", "internal/losses/latent", "losses"},
	{"internal/testtables", "internal/trainers/optim", "internal/trainers/mcmc", "trainers/source", "trainers/estimator", "internal/trainers/engine"},
	{"internal/trainers/mixed", "internal/trainers/posterior", "internal/trainers/fitted/diffusion", "trainers/fitted", "internal/trainers/evaluate"},
	{"internal/trainers/rows", "internal/trainers/gaussian/mcem", "internal/trainers/gaussian/em", "trainers/penalty", "internal/trainers/descent", "internal/trainers/gaussian/sparse", "internal/trainers/regpath", "internal/trainers/inference", "internal/trainers/inference/debias", "internal/trainers/inference/bootstrap", "internal/trainers/inference/sandwich"},
	{"trainers", "trainers/estimatortest", "trainers/replicate", "trainers/compare", "trainers/power"},
	{"cmd/words", "cmd/picture", "cmd/report", "cmd"},
}

const module = "missingscore/"

func layer(pkg string) (level, place int, ok bool) {
	if pkg == "cmd/missingscore" {
		pkg = "cmd"
	}
	for level, packages := range layers {
		if place := slices.Index(packages, pkg); place >= 0 {
			return level, place, true
		}
	}
	return 0, 0, false
}

// exempt packages have no layer: tests, generators and examples.
func exempt(pkg string) bool {
	return pkg == "internal/checks" || slices.Contains([]string{"trainers/invariance", "trainers/calibration", "trainers/certified"}, pkg) || strings.HasPrefix(pkg, "internal/simd/") || strings.HasPrefix(pkg, "examples/") || strings.HasPrefix(pkg, "benchmarks")
}

func TestDependenciesPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
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
		own := strings.TrimPrefix(p.ImportPath, module)
		if exempt(own) {
			continue
		}
		level, place, ok := layer(own)
		require.True(t, ok, "package %s has no place in the layers: give it one", own)
		seen++
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "gorgonia.org/") {
				top, _, _ := strings.Cut(own, "/")
				require.Contains(t, []string{"graph"}, top, "%s imports %s", own, imported)
			}
			other, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			below, before, ok := layer(other)
			require.True(t, ok, "package %s has no place in the layers: give it one", other)
			same := level == below && (before < place || own == other || layers[level][place] == layers[below][before])
			require.True(t, below < level || same, "%s must not import %s", own, other)
		}
	}
	require.Greater(t, seen, 20)
}

func TestFormatsAreImportedByThemselves(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"data").Output()
	require.NoError(t, err)
	for _, library := range []string{"arrow", "parquet", "excel"} {
		require.NotContains(t, string(out), library)
	}
}
