package trainers_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
)

// A network from a table with missing cells, in two calls.
func ExampleEstimate() {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{
		Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"},
	})
	if err != nil {
		log.Fatal(err)
	}
	spec := trainers.Spec{Network: &trainers.Network{}}
	result, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("converged:", result.Converged)
	for _, e := range result.Network.Edges()[:3] {
		fmt.Printf("%s – %s %+.2f\n", e.From, e.To, e.PartialCorrelation)
	}
	// Output:
	// converged: true
	// Ozone – Temp +0.61
	// Ozone – Wind -0.44
	// Ozone – Solar.R +0.21
}

// Another model and another objective, by their names.
func ExampleEstimate_model() {
	table := airQuality()
	spec := trainers.Spec{
		Model:     trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden": [16]}`)},
		Objective: trainers.ObjectiveSpec{Kind: "sliced"},
		Steps:     trainers.Steps{Method: "iw", Draws: 20, Seed: 1},
		Descent:   trainers.Descent{Epochs: 50},
	}
	result, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, at most 50 epochs: %t\n", result.Estimator.Title, len(result.History) <= 50)
	fmt.Println("effective draws above 2:", result.Size > 2)
	// Output:
	// Marg-IW, at most 50 epochs: true
	// effective draws above 2: true
}

// An interrupted run continues from its state to the same bytes.
func ExampleState() {
	table, dir := airQuality(), temporary()
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "state.bin")
	save := func(s *trainers.State) error { return s.Save(file) }

	ctx, cancel := context.WithCancel(context.Background())
	spec := trainers.Spec{Steps: trainers.Steps{Method: "iw", Seed: 1}, Descent: trainers.Descent{Epochs: 10}}
	spec.Steps.Observe = func(p trainers.Progress) {
		if p.Iteration == 5 {
			cancel() // as Ctrl-C does
		}
	}
	_, err := trainers.Estimate(ctx, table, spec, trainers.Run{Save: save})
	fmt.Println(err)

	spec.Steps.Observe = nil
	state, err := trainers.LoadState(file)
	if err != nil {
		log.Fatal(err)
	}
	resumed, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{State: state, Save: save})
	if err != nil {
		log.Fatal(err)
	}
	whole, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the same:", resumed.Loss == whole.Loss)
	// Output:
	// context canceled
	// the same: true
}

// A model saved as JSON and used from its file.
func ExampleResult_Encode() {
	table, dir := airQuality(), temporary()
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "model.json")
	result, err := trainers.Estimate(context.Background(), table, trainers.Spec{}, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	text, err := result.Encode()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		log.Fatal(err)
	}

	saved, err := fitted.Load(file)
	if err != nil {
		log.Fatal(err)
	}
	use, err := saved.Fitted()
	if err != nil {
		log.Fatal(err)
	}
	completed, err := fitted.Impute(context.Background(), use, table, fitted.ImputeConfig{Draws: 5, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(saved.Kind, saved.Names, completed.Sampler, len(completed.Values))
	// Output:
	// gaussian [Ozone Solar.R Wind Temp] exact 3060
}

// heavy is the multivariate t density with 10 degrees of freedom,
// log q = −(10+d)/2 log(1 + ‖Wᵀ(x−μ)‖²/10).
func heavy(d int, _ *rand.Rand) (model.Model, error) {
	minus, w := graph.NewParam("minus mu", 1, d), graph.NewParam("w", d, d)
	for j := range d {
		w.Value[j*d+j] = 1
	}
	return model.FromLogDensity(d, []*graph.Param{minus, w}, func(b *graph.Builder, x graph.Node) graph.Node {
		z := b.MatMul(false, false, b.AddRow(x, b.Param(minus)), b.Param(w))
		ratio := b.Map(graph.Complement, b.Scale(-0.1, b.RowDot(z, z))) // 1 + ‖z‖²/10
		return b.Scale(-0.5*float64(10+d), b.Map(graph.Log, ratio))
	}), nil
}

// A user's model is a log density; its score is derived.
func ExampleModelSpec() {
	table := airQuality()
	spec := trainers.Spec{
		Model: trainers.ModelSpec{New: heavy},
		Steps: trainers.Steps{Method: "iw", Seed: 1},
	}
	result, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
	if err != nil {
		log.Fatal(err)
	}
	use, err := result.Model.Fitted()
	if err != nil {
		log.Fatal(err)
	}
	scores, err := fitted.Score(context.Background(), use, table, fitted.ImputeConfig{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	least := 0
	for i, logDensity := range scores.LogDensity { // NaN for days with missing values
		if logDensity < scores.LogDensity[least] {
			least = i
		}
	}
	fmt.Println("converged:", result.Converged)
	fmt.Println("least likely of the complete days:", table.Values[least*table.D:(least+1)*table.D])
	// Output:
	// converged: true
	// least likely of the complete days: [168 238 3.4 81]
}

func airQuality() *data.Table {
	table, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	if err != nil {
		log.Fatal(err)
	}
	return table
}

func temporary() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// Each block of code in the tutorial equals an example, except for indentation and the table's
// path.
func TestTutorialIsInExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/tutorials/go-program.md")
	require.NoError(t, err)
	text, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	code := strings.ReplaceAll("\n"+string(text), "\n\t", "\n")
	code = strings.ReplaceAll(code, `"../examples/`, `"examples/`)
	blocks := strings.Split(string(page), "```go\n")[1:]
	require.Len(t, blocks, 9)
	for _, b := range blocks {
		block, _, closed := strings.Cut(b, "```")
		require.True(t, closed)
		require.True(t, strings.Contains(code, "\n"+block) || strings.Contains(string(text), "\n"+block), block)
	}
	require.NotContains(t, string(page), "TODO")
}
