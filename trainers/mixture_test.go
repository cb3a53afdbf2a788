package trainers_test

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
)

// A number depends on a city, another on a binary column.
func cityTable(n int) *data.Table {
	t := &data.Table{Names: []string{"city", "income", "yes", "size"}, N: n, D: 4, Levels: [][]string{{"Lima", "Oslo", "Rome"}, nil, {"no", "yes"}, nil},
		Kinds: []data.Kind{data.Nominal, data.Number, data.Binary, data.Number}}
	rng := stream.New(3)
	for range n {
		city, yes := float64(rng.IntN(3)), float64(rng.IntN(2))
		t.Values = append(t.Values, city, 100+40*city+5*rng.NormFloat64(), yes, yes-0.2*city+0.3*rng.NormFloat64())
		t.Observed = append(t.Observed, rng.Float64() > 0.1, rng.Float64() > 0.1, true, true)
	}
	return t
}

var mixtureSpec = trainers.Spec{Model: trainers.ModelSpec{Kind: "mixture"}}

func TestMixtureWithLevels(t *testing.T) {
	table := cityTable(400)
	r, err := trainers.Estimate(t.Context(), table, mixtureSpec, trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	require.Regexp(t, `^converged: \d+ components, chosen among 1 to \d+ by held-out rows`, r.Verdict)
	require.Equal(t, "em-exact", r.Spec.Steps.Method)
	require.InDelta(t, r.Loss, r.Final.Loss, 1e-9)
	require.InDelta(t, r.History[len(r.History)-1].Loss, r.Final.Loss, 0)

	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, r.Save(path))
	saved, err := fitted.Load(path)
	require.NoError(t, err)
	require.Equal(t, r.Model.Levels, saved.Levels)
	want, err := r.Model.Encode(nil)
	require.NoError(t, err)
	got, err := saved.Encode(nil)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.Equal(t, data.Column{Name: "city", Kind: data.Nominal, Levels: []string{"Lima", "Oslo", "Rome"}}, saved.Kinds()["city"])
	require.Equal(t, data.Binary, saved.Kinds()["yes"].Kind)
	require.Equal(t, data.Number, saved.Kinds()["income"].Kind)

	f, err := saved.Fitted()
	require.NoError(t, err)
	rows, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: 6000})
	require.NoError(t, err)
	require.Equal(t, "exact", rows.Sampler)
	for c, mean := range []float64{100, 140, 180} {
		var x []float64
		for row := range slices.Chunk(rows.Values, 4) {
			if int(row[0]) == c {
				x = append(x, row[1])
			}
		}
		require.InDelta(t, mean, stat.Mean(x, nil), 3)
		seen, cells := 0., 0.
		for i := range table.N {
			if table.Observed[i*4] {
				cells++
				if int(table.Values[i*4]) == c {
					seen++
				}
			}
		}
		require.InDelta(t, seen/cells, float64(len(x))/6000, 0.03)
	}
	_, err = fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: "hmc"})
	require.ErrorContains(t, err, "the model has levels and is drawn exactly")

	drawn, err := fitted.Impute(t.Context(), f, table, fitted.ImputeConfig{Draws: 20, Workers: 2})
	require.NoError(t, err)
	right, cells := 0., 0.
	for i := range table.N {
		for k := range 20 {
			if row := drawn.Values[(i*20+k)*4:]; !table.Observed[i*4] && table.Observed[i*4+1] {
				cells++
				if math.Round((row[1]-100)/40) == row[0] {
					right++
				}
			}
		}
	}
	require.Greater(t, right/cells, 0.98, "the income tells the city")
	point, err := fitted.Point(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	for i := range table.N {
		if row := point.Values[i*4 : (i+1)*4]; !table.Observed[i*4] && table.Observed[i*4+1] {
			require.Equal(t, math.Round((row[1]-100)/40), row[0])
		}
	}
}

// Log densities change by the log derivative.
func TestMixtureOfFunctions(t *testing.T) {
	table := cityTable(200)
	s := mixtureSpec
	s.Transform.Columns = map[string]string{"income": "log"}
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	f, err := r.Model.Fitted()
	require.NoError(t, err)
	scores, err := fitted.Score(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	m := model.MixedOf(r.Model.Model)
	row, observed := slices.Clone(table.Values[:4]), []bool{true, true, true, true}
	require.Equal(t, observed, table.Observed[:4])
	row[1] = math.Log(row[1])
	require.InDelta(t, m.Given(observed).Joint(row, make([]float64, len(m.Weights)))-row[1], scores.LogDensity[0], 1e-12)
	hidden, err := data.HideMCAR(table, 0.2, stream.New(1))
	require.NoError(t, err)
	require.Equal(t, table.Levels, hidden.Levels)
	point, err := fitted.Point(t.Context(), f, hidden, fitted.ImputeConfig{})
	require.NoError(t, err)
	require.Equal(t, "exact", point.Sampler)
	for row := range slices.Chunk(point.Values, 4) {
		require.Contains(t, []float64{0, 1, 2}, row[0])
		require.Greater(t, row[1], 0.)
	}
}

func TestMixtureWithLevelsResumed(t *testing.T) {
	table, s, state := cityTable(120), mixtureSpec, &trainers.State{}
	whole, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	s.Steps.Observe = func(p engine.Progress) {
		if p.Iteration == 2 {
			cancel()
		}
	}
	_, err = trainers.Estimate(ctx, table, s, trainers.Run{State: state})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, state.Mixture.Tried, 2)
	resumed, err := trainers.Estimate(t.Context(), table, mixtureSpec, trainers.Run{State: state})
	require.NoError(t, err)
	require.Equal(t, whole.Model, resumed.Model)
	s.Steps.Seed = 9
	_, err = trainers.Estimate(t.Context(), table, s, trainers.Run{State: state})
	require.ErrorIs(t, err, trainers.ErrOtherRun)
}

func TestMixtureUnseen(t *testing.T) {
	table := cityTable(200)
	for i := range table.N {
		if table.Values[i*4] == 2 {
			table.Observed[i*4+3] = false
		}
	}
	r, err := trainers.Estimate(t.Context(), table, mixtureSpec, trainers.Run{})
	require.NoError(t, err)
	require.Regexp(t, `^size: never observed among up to [23]\d % of the rows; `, r.Warnings[len(r.Warnings)-1])
}

func TestMixtureUnlikeItsTable(t *testing.T) {
	s := mixtureSpec
	s.Model.Options = json.RawMessage(`{"components":1}`)
	r, err := trainers.Estimate(t.Context(), cityTable(200), s, trainers.Run{})
	require.NoError(t, err)
	require.False(t, r.Converged)
	require.Regexp(t, `^NOT reliable: rows drawn from the model differ from the table: the mean of income where city = Lima is (99|1\d\d)[.\d]*, drawn 1\d\d[.\d]*; `, r.Verdict)
	require.Contains(t, r.Verdict, `try more components (Spec.Model.Options '{"components":2}')`)
	require.Equal(t, r.Verdict, r.Model.Outcome.Verdict)
	require.Contains(t, r.Warnings[0], "one component: drawn levels are independent of the other columns")
}

func TestLevelsAsNumbers(t *testing.T) {
	table := cityTable(200)
	numbers, err := table.Select([]string{"income", "yes", "size"})
	require.NoError(t, err)
	for i := 0; i < len(numbers.Values); i += 9 {
		numbers.Observed[i+1-i%3] = false
	}
	r, err := trainers.Estimate(t.Context(), numbers, trainers.Spec{}, trainers.Run{})
	require.NoError(t, err)
	text, err := r.Encode()
	require.NoError(t, err)
	require.Contains(t, string(text), `"yes": [`)
	f, err := r.Model.Fitted()
	require.NoError(t, err)
	drawn, err := fitted.Impute(t.Context(), f, numbers, fitted.ImputeConfig{Draws: 5})
	require.NoError(t, err)
	point, err := fitted.Point(t.Context(), f, numbers, fitted.ImputeConfig{})
	require.NoError(t, err)
	for _, values := range [][]float64{drawn.Values, point.Values} {
		for row := range slices.Chunk(values, 3) {
			require.Contains(t, []float64{0, 1}, row[1])
		}
	}
}

// Two components by EM; settings of score matching select score matching.
func TestMixtureOfNumbers(t *testing.T) {
	rng := stream.New(8)
	table := &data.Table{Names: []string{"x", "y", "z"}, N: 600, D: 3}
	for range table.N {
		x, e := rng.NormFloat64(), rng.NormFloat64()
		y := 0.9*x + 0.3*e
		if rng.Float64() < 0.3 {
			y = 6 - 0.9*x + 0.3*e
		}
		table.Values = append(table.Values, x, y, 100+10*y+rng.NormFloat64())
		table.Observed = append(table.Observed, true, true, rng.Float64() > 0.2)
	}
	r, err := trainers.Estimate(t.Context(), table, mixtureSpec, trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	m := model.MixedOf(r.Model.Model)
	require.Len(t, m.Weights, 2)
	require.InDelta(t, 0.7, m.Weights[0], 0.06)
	require.InDelta(t, 0.9, m.Covariances[0][1], 0.15)
	require.InDelta(t, -0.9, m.Covariances[1][1], 0.2)

	s := mixtureSpec
	s.Steps.Method, s.Descent.Epochs = "em-full", 3
	scores, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.Nil(t, model.MixedOf(scores.Model.Model))
}
