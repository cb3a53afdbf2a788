package trainers_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/data/simulate"
	"missingscore/data/survey"
	"missingscore/data/transform"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// normalFile is a table of n normal rows, a fifth of their cells missing, in a file; and the table
// that is read from it.
func normalFile(t *testing.T, n int, name string) (g simulate.Gaussian, file string, table *data.Table) {
	rng := stream.New(4, 4)
	g, err := simulate.Normal(3, rng)
	require.NoError(t, err)
	table, err = g.Sample(n, rng)
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.2, rng)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), name)
	values := slices.Clone(table.Values)
	for k, seen := range table.Observed {
		if !seen {
			values[k] = math.NaN()
		}
	}
	require.NoError(t, data.WriteNumbers(atomicfile.Write, file, table.Names, values))
	table, err = data.ReadFile(file, data.ReadOptions{})
	require.NoError(t, err)
	return g, file, table
}

// streamed is an estimate from the rows of a file in blocks of so many rows.
func streamed(t *testing.T, file string, block int, s trainers.Spec, run trainers.Run) (*trainers.Result, error) {
	return streamedBy(t.Context(), t, file, block, 2, s, run)
}

func streamedBy(ctx context.Context, t *testing.T, file string, block, workers int, s trainers.Spec, run trainers.Run) (*trainers.Result, error) {
	f, err := data.OpenRows(file, data.ReadOptions{}, block)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	p, err := trainers.PrepareFile(ctx, f, s, survey.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	return p.Estimate(ctx, run)
}

// text is the model's file and the history.
func text(t *testing.T, r *trainers.Result) ([]byte, []descent.Record) {
	b, err := r.Encode()
	require.NoError(t, err)
	for i := range r.History { // NaN is not equal to itself
		if h := &r.History[i]; h.HeldOut != h.HeldOut {
			h.HeldOut = 0
		}
		r.History[i].Gradient, r.History[i].EffectiveSize = 0, 0
	}
	return b, r.History
}

// A file that is one block gives the bytes of the table that it holds, by every method and in a
// neural model, in the units of the table and on a domain.
func TestOneBlockIsTheTable(t *testing.T) {
	_, file, table := normalFile(t, 300, "t.csv")
	low := domain.All(3)
	low.Lower[0] = -20
	specs := []trainers.Spec{
		{Model: trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[8]}`)}, Steps: engine.Config{Method: "em-full"}},
		{Model: trainers.ModelSpec{Kind: "quartic"}, Steps: engine.Config{Method: "iw"}},
		{Steps: engine.Config{Method: "var"}, KeepUnits: true},
		{Steps: engine.Config{Method: "iw"}, Domain: low},
		{Steps: engine.Config{Method: "iw", Batch: 1000}, Transform: transform.Spec{Columns: map[string]string{"x1": "none"}}},
	}
	specs = append(specs, trainers.Spec{Steps: engine.Config{Method: "var", DType: graph.Float32}}, trainers.Spec{Steps: engine.Config{Method: "em-full", DType: graph.Float32}})
	for _, method := range []string{"var", "iw", "variw", "em", "em-full", "em-var", "em-exact", "exact", "zeroed"} {
		specs = append(specs, trainers.Spec{Steps: engine.Config{Method: method}})
	}
	for _, s := range specs {
		s.Steps.WarmUp = new(20)
		s.Descent = descent.Config{Optimiser: "adam", Epochs: 4, Validation: new(0.0)}
		held, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err, s.Steps.Method)
		got, err := streamed(t, file, 0, s, trainers.Run{})
		require.NoError(t, err, s.Steps.Method)
		a, ah := text(t, held)
		b, bh := text(t, got)
		require.Equal(t, ah, bh, s.Steps.Method)
		require.Equal(t, string(a), string(b), s.Steps.Method)
		require.Equal(t, held.MissingAtRandom, got.MissingAtRandom)
	}
}

// windowed is a fit that goes over a file of 1800 rows in seven windows.
func windowed() trainers.Spec {
	return trainers.Spec{
		Steps:   engine.Config{Method: "var", WarmUp: new(10), Batch: 50, ImputerSteps: 3, Draws: 4},
		Descent: descent.Config{Epochs: 3, Validation: new(0.1)},
	}
}

const windowedBlock = 17 // rows

// What is streamed does not depend on the format or the number of workers.
func TestStreamedFormats(t *testing.T) {
	var want []byte
	for _, c := range []struct {
		name    string
		workers int
	}{{"t.csv", 1}, {"t.csv", 4}, {"t.parquet", 3}, {"t.feather", 2}} {
		_, file, _ := normalFile(t, 1800, c.name)
		r, err := streamedBy(t.Context(), t, file, windowedBlock, c.workers, windowed(), trainers.Run{})
		require.NoError(t, err)
		got, _ := text(t, r)
		if want == nil {
			want = got
		}
		require.Equal(t, string(want), string(got), c.name)
	}
}

// A streamed fit that is cut anywhere and taken up again is one that was never cut.
func TestStreamedResumes(t *testing.T) {
	_, file, _ := normalFile(t, 1800, "t.csv")
	r, err := streamed(t, file, windowedBlock, windowed(), trainers.Run{})
	require.NoError(t, err)
	want, wantHistory := text(t, r)
	state := filepath.Join(t.TempDir(), "state")
	cuts := 0
	for at := 7; ; at += 11 {
		ctx, cancel := context.WithCancel(t.Context())
		s := windowed()
		s.Steps.Observe = func(p engine.Progress) {
			if p.Stage == "fit" && p.Iteration == at {
				cancel()
			}
		}
		var from *trainers.State
		if cuts > 0 {
			from, err = trainers.LoadState(state)
			require.NoError(t, err)
		}
		r, err = streamedBy(ctx, t, file, windowedBlock, 2, s, trainers.Run{State: from, Save: func(s *trainers.State) error { return s.Save(state) }})
		cancel()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		cuts++
	}
	require.Greater(t, cuts, 5)
	got, history := text(t, r)
	require.Equal(t, wantHistory, history)
	require.Equal(t, string(want), string(got))

	saved := 0 // a process may be killed after any of them
	_, err = streamed(t, file, windowedBlock, windowed(), trainers.Run{Save: func(s *trainers.State) error {
		saved++
		return s.Save(fmt.Sprint(state, saved))
	}})
	require.NoError(t, err)
	require.Greater(t, saved, 5)
	for k := range saved {
		from, err := trainers.LoadState(fmt.Sprint(state, k+1))
		require.NoError(t, err)
		r, err := streamed(t, file, windowedBlock, windowed(), trainers.Run{State: from})
		require.NoError(t, err, "state %d", k+1)
		got, history := text(t, r)
		require.Equal(t, wantHistory, history, "state %d", k+1)
		require.Equal(t, string(want), string(got), "state %d", k+1)
	}

	from, err := trainers.LoadState(state)
	require.NoError(t, err)
	_, other, _ := normalFile(t, 1799, "t.csv")
	_, err = streamed(t, other, windowedBlock, windowed(), trainers.Run{State: from})
	require.ErrorIs(t, err, trainers.ErrOtherRun)
}

// sortedFile writes the rows of a table by their first column, the worst order for a stochastic gradient.
func sortedFile(t *testing.T, table *data.Table) string {
	rows := table.AllRows()
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(table.Values[a*table.D], table.Values[b*table.D]) })
	sorted, err := table.Rows(rows)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "sorted.csv")
	require.NoError(t, data.WriteCSV(file, sorted))
	return file
}

// A streamed fit, of rows sorted by a column even, ends as near to the truth as one of the table:
// both within five standard errors of the precision's entries, and of each other within what steps
// of this rate leave of noise.
func TestStreamedInLaw(t *testing.T) {
	g, _, table := normalFile(t, 4000, "t.csv")
	file := sortedFile(t, table)
	s := trainers.Spec{Steps: engine.Config{Method: "em-exact", Batch: 100}, Descent: descent.Config{Optimiser: "adam", Epochs: 40, Rate: 0.003, Validation: new(0.0)}}
	held, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	got, err := streamed(t, file, 32, s, trainers.Run{})
	require.NoError(t, err)
	a, b := held.Model.Model.(*model.Gaussian), got.Model.Model.(*model.Gaussian)
	for j := range 3 {
		for k := range 3 {
			se := math.Sqrt((g.Precision.At(j, j)*g.Precision.At(k, k) + math.Pow(g.Precision.At(j, k), 2)) / (0.8 * 0.8 * 4000))
			require.InDelta(t, g.Precision.At(j, k), b.Precision().At(j, k), 5*se)
			require.InDelta(t, a.Precision().At(j, k), b.Precision().At(j, k), 2*se)
		}
		require.InDelta(t, a.Mean()[j], b.Mean()[j], 0.05/math.Sqrt(g.Precision.At(j, j)))
	}
}

// What needs all rows at once is refused, and what a whole table shows only.
func TestStreamedRefusals(t *testing.T) {
	_, file, _ := normalFile(t, 500, "t.csv")
	for words, s := range map[string]trainers.Spec{
		"a network goes by all rows: take their moments":                                {Network: &regpath.Config{}},
		"the chains of method em-chains keep numbers for each missing cell of each row": {Steps: engine.Config{Method: "em-chains"}},
		"standard errors go by all rows":                                                {Inference: inference.Config{Kind: "robust"}, Steps: engine.Config{Method: "iw"}},
		"npn of x2 goes by the ranks of all rows":                                       {Transform: transform.Spec{Columns: map[string]string{"x2": "npn"}}},
		"a law of missing cells is estimated from all rows":                             {Missingness: &missingness.Model{Logistic: missingness.NewLogistic(3), Estimated: true}},
		"lbfgs: it goes over all rows at each iteration, and those of a streamed file":  {Steps: engine.Config{Method: "exact"}, Descent: descent.Config{Optimiser: "lbfgs"}},
		"full is for tables without missing cells":                                      {Steps: engine.Config{Method: "full"}},
	} {
		_, err := streamed(t, file, windowedBlock, s, trainers.Run{})
		require.ErrorContains(t, err, words)
	}
	// a row outside the domain that the sample may not have is named by its line
	low := domain.All(3)
	low.Lower[1] = -1
	_, err := streamed(t, file, windowedBlock, trainers.Spec{Domain: low, Steps: engine.Config{Method: "iw"}}, trainers.Run{})
	var outside *data.RowError
	require.True(t, errors.As(err, &outside))
	require.Positive(t, outside.Line)
}

// Held-out rows stop a streamed fit as they do another.
func TestStreamedStopsByHeldOutRows(t *testing.T) {
	_, file, _ := normalFile(t, 1800, "t.csv")
	s := trainers.Spec{Model: trainers.ModelSpec{Kind: "energy", Options: []byte(`{"hidden":[8]}`)}, Steps: engine.Config{Method: "em-full"}, Descent: descent.Config{Epochs: 12, Patience: 2}}
	r, err := streamed(t, file, windowedBlock, s, trainers.Run{})
	require.NoError(t, err)
	require.InDelta(t, 0.1, *r.Spec.Descent.Validation, 1e-15)
	for _, h := range r.History {
		require.False(t, math.IsNaN(h.HeldOut))
	}
	require.Equal(t, r.Final.HeldOut, r.History[r.Final.Epoch-1].HeldOut)
}

// Progress tells which rows of which pass the steps have gone over, and what is read before them.
func TestStreamedProgress(t *testing.T) {
	_, file, _ := normalFile(t, 1800, "t.csv")
	s := windowed()
	s.Descent.Epochs, s.Descent.Validation = 2, new(0.1)
	var read, steps []engine.Progress
	s.Steps.Observe = func(p engine.Progress) {
		if p.Stage == "reading" {
			read = append(read, p)
		} else {
			steps = append(steps, p)
		}
	}
	_, err := streamed(t, file, windowedBlock, s, trainers.Run{})
	require.NoError(t, err)
	blocks := (1800 + windowedBlock - 1) / windowedBlock
	require.Len(t, read, blocks)
	require.Equal(t, [2]int{blocks, blocks}, [2]int{read[blocks-1].Iteration, read[blocks-1].Total})
	each := len(steps) / 2
	rows := steps[0].Streamed.Rows
	require.InDelta(t, 1620, rows, 60)
	batch := steps[0].Streamed.Done
	require.Equal(t, (rows+batch-1)/batch, each)
	require.Equal(t, engine.Pass{Number: 1, Passes: 2, Done: 2 * batch, Rows: rows}, *steps[1].Streamed)
	require.Equal(t, engine.Pass{Number: 1, Passes: 2, Done: rows, Rows: rows}, *steps[each-1].Streamed)
	require.Equal(t, engine.Pass{Number: 2, Passes: 2, Done: batch, Rows: rows}, *steps[each].Streamed)
}
