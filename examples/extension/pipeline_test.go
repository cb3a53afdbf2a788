package extension_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/estimatortest"
)

func TestEstimators(t *testing.T) {
	for _, name := range []string{"iw-heavy", "iw-hot-deck", "iw-tempered", "blend"} {
		t.Run(name, func(t *testing.T) { estimatortest.Run(t, name) })
	}
}

func hide(t *testing.T, names []string, x []float64, seed uint64) *data.Table {
	t.Helper()
	complete, err := data.NewTable(names, x, nil)
	require.NoError(t, err)
	table, err := data.HideMCAR(complete, 0.3, rand.New(rand.NewPCG(2, seed)))
	require.NoError(t, err)
	return table
}

// K is diag(1, 2).
func TestRootsAreFound(t *testing.T) {
	const n = 2000
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 0, 2*n)
	for range n {
		x = append(x, rng.ExpFloat64(), rng.ExpFloat64()/2)
	}
	table, m := hide(t, []string{"a", "b"}, x, 1), roots(t, 2)
	r, err := trainers.Estimate(t.Context(), table, trainers.Spec{
		Model:     trainers.ModelSpec{New: func(int, *rand.Rand) (model.Model, error) { return m, nil }},
		KeepUnits: true,
		Steps:     trainers.Steps{Method: "iw", Draws: 20, Seed: 1},
		Descent:   trainers.Descent{Epochs: 60, Validation: new(0.0)},
	}, trainers.Run{})
	require.NoError(t, err)
	require.Equal(t, "truncated", r.Spec.Objective.Kind, "the model states its support")
	require.Equal(t, model.SupportOf(m), r.Model.Domain)
	packed := m.Params()[1].Value
	require.InDelta(t, 1, math.Exp(2*packed[0]), 0.4)
	require.InDelta(t, 2, math.Exp(2*packed[2])+packed[1]*packed[1], 0.7)
}

// A model of one's own, fitted by Marg-Var to a table with missing cells.
func Example() {
	table, err := data.ReadCSV("../airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := trainers.Spec{
		Model: trainers.ModelSpec{Kind: "student"},
		Steps: trainers.Steps{Method: "var", Seed: 1},
	}
	result, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Estimator.Title)
	p := result.Model.Model.(model.Parametric).Quantities()[1]
	fmt.Printf("partial correlation of Ozone and Temp %.1f\n", -p.Value[3]/math.Sqrt(p.Value[0]*p.Value[15]))
	// Output:
	// Marg-Var
	// partial correlation of Ozone and Temp 0.7
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "missingscore.exe"), filepath.Join(dir, "model.json") // a name that runs on every system
	text, err := exec.Command("go", "build", "-o", program, "./missingscore").CombinedOutput()
	require.NoError(t, err, string(text))
	run := func(args ...string) string {
		text, err := exec.Command(program, args...).CombinedOutput()
		require.NoError(t, err, string(text))
		return string(text)
	}
	require.Contains(t, run("fit", "../airquality.csv", "--columns", "Ozone,Wind,Temp", "--model", "student", "--method", "iw-heavy",
		"--objective", "columns", "--objective-options", `{"weights":[1,0.5,1]}`, "--epochs", "150", "--out", out), "student model by Marg-IW, heavy tails")
	require.Contains(t, run("score", out, "../airquality.csv", "--draws", "20", "--out", out+".csv"), "scores of 153 rows")
}
