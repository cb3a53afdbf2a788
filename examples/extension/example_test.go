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
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/examples/extension"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/graph/modeltest"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/estimatortest"
)

// The model passes what every model has to pass, and has the score of gonum's
// multivariate t.
func TestStudent(t *testing.T) {
	modeltest.Run(t, func(d int) model.Model {
		return extension.Student{Gaussian: model.NewGaussian(d, model.CholeskyFactor), Freedom: 4}
	})
	m := extension.Student{Gaussian: model.NewGaussian(2, model.CholeskyFactor), Freedom: 4}
	require.NoError(t, m.SetPrecision(mat.NewSymDense(2, []float64{2, -0.6, -0.6, 1})))
	m.SetMean([]float64{1, -1})
	var sigma mat.SymDense
	var c mat.Cholesky
	require.True(t, c.Factorize(m.Precision()))
	require.NoError(t, c.InverseTo(&sigma))
	truth, ok := distmv.NewStudentsT(m.Mean(), &sigma, 4, nil)
	require.True(t, ok)
	p, err := graph.Build(func(b *graph.Builder) { b.Output("log", m.Evaluate(b, b.Input("x", 2, 2)).LogDensity) })
	require.NoError(t, err)
	copy(p.Input("x"), []float64{0.3, 2, -4, 1})
	require.NoError(t, p.Run())
	require.InDelta(t, truth.LogProb([]float64{0.3, 2})-truth.LogProb([]float64{-4, 1}), p.Output("log")[0]-p.Output("log")[1], 1e-12)
}

// Draws of it with gaps give their precision back: the mean over tables is within its error.
func TestStudentIsFound(t *testing.T) {
	const n, tables = 1500, 12
	sigma := mat.NewSymDense(3, []float64{1, 0.6, 0, 0.6, 1, 0.3, 0, 0.3, 1})
	var want mat.Dense
	require.NoError(t, want.Inverse(sigma))
	seen := make([][]float64, 9)
	for k := range uint64(tables) {
		truth, ok := distmv.NewStudentsT([]float64{0, 0, 0}, sigma, 4, rand.NewPCG(1, k))
		require.True(t, ok)
		x := make([]float64, 0, 3*n)
		for range n {
			x = append(x, truth.Rand(nil)...)
		}
		complete, err := data.NewTable([]string{"a", "b", "c"}, x, nil)
		require.NoError(t, err)
		table, err := data.HideMCAR(complete, 0.3, rand.New(rand.NewPCG(2, k)))
		require.NoError(t, err)
		m := extension.Student{Gaussian: model.NewGaussian(3, model.CholeskyFactor), Freedom: 4}
		config := descent.Config{Config: engine.Config{Method: "iw-heavy", Draws: 30, Seed: k}, Epochs: 40}
		_, err = trainers.Fit(context.Background(), table, m, losses.Classical{}, config, &trainers.State{}, nil)
		require.NoError(t, err)
		for i := range seen {
			seen[i] = append(seen[i], m.Precision().At(i/3, i%3))
		}
	}
	quantile := distuv.StudentsT{Sigma: 1, Nu: tables - 1}.Quantile(1 - 1e-3)
	for i, v := range want.RawMatrix().Data {
		mean, sd := stat.MeanStdDev(seen[i], nil)
		tolerance := quantile * stat.StdErr(sd, tables)
		require.InDelta(t, v, mean, tolerance)
		require.Less(t, tolerance, 0.3, "of entries up to 1.8")
	}
}

// The source passes what every estimator has to pass.
func TestHeavy(t *testing.T) { estimatortest.Run(t, "iw-heavy") }

// Weights of 1 are the classical objective, and what has weight 0 has no influence.
func TestColumns(t *testing.T) {
	table, err := data.ReadCSV("../airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Wind", "Temp"}})
	require.NoError(t, err)
	work, _ := data.Standardise(table)
	gradient := func(o losses.Objective) [][]float64 {
		_, g, err := engine.Gradient(work, model.NewGaussian(3, model.FreeSymmetric), o, engine.Config{Method: "iw", Seed: 1}, 0)
		require.NoError(t, err)
		return g
	}
	made, err := losses.NewObjective("columns", []byte(`{"weights":[1,1,1]}`), nil, domain.Weight{})
	require.NoError(t, err)
	require.Equal(t, gradient(losses.Classical{}), gradient(made))
	without := gradient(extension.Columns{Weights: []float64{1, 0, 1}})
	require.InDelta(t, 0, without[1][graph.PackedIndex(3, 1, 1)], 1e-12, "the diagonal of the column that does not count")
}

// A model of one's own, fitted by Marg-Var to a table with missing cells.
func Example() {
	table, err := data.ReadCSV("../airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	work, scale := data.Standardise(table)
	model := extension.Student{Gaussian: model.NewGaussian(4, model.CholeskyFactor), Freedom: 4}
	config := descent.Config{Config: engine.Config{Method: "var", Seed: 1, WarmUp: 500}, Epochs: 200}
	result, err := trainers.Fit(context.Background(), work, model, losses.Classical{}, config, &trainers.State{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := scale.Precision(model.Precision())
	fmt.Println(result.Estimator.Title, result.Converged)
	fmt.Printf("partial correlation of Ozone and Temp %.1f\n", -p.At(0, 3)/math.Sqrt(p.At(0, 0)*p.At(3, 3)))
	// Output:
	// Marg-Var true
	// partial correlation of Ozone and Temp 0.7
}

// The command line with all three linked in.
func TestCommandLine(t *testing.T) {
	out := filepath.Join(t.TempDir(), "model.json")
	run := func(args ...string) string {
		text, err := exec.Command("go", append([]string{"run", "./missingscore"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(text))
		return string(text)
	}
	require.Contains(t, run("fit", "../airquality.csv", "--columns", "Ozone,Wind,Temp", "--model", "student", "--method", "iw-heavy",
		"--objective", "columns", "--objective-options", `{"weights":[1,0.5,1]}`, "--epochs", "150", "--out", out), "student model by Marg-IW, heavy tails")
	require.Contains(t, run("score", out, "../airquality.csv", "--draws", "20", "--out", out+".csv"), "scores of 153 rows")
}
