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
	"missingscore/internal/testtables"
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
	r := estimate(t, table, mixtureSpec)
	require.True(t, r.Converged, r.Verdict)
	require.Regexp(t, `^converged: \d+ components, chosen among 1 to \d+ by held-out rows`, r.Verdict)
	require.Equal(t, "em-exact", r.Spec.Steps.Method)
	require.InDelta(t, r.Loss, r.Final.Loss, 1e-9)
	require.InDelta(t, r.History[len(r.History)-1].Loss, r.Final.Loss, 0)

	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, r.Save(path))
	saved, err := fitted.Load(path)
	require.NoError(t, err)
	want, err := r.Model.Encode(nil)
	require.NoError(t, err)
	got, err := saved.Encode(nil)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	city := data.Column{Name: "city", Kind: data.Nominal, Levels: []string{"Lima", "Oslo", "Rome"}}
	require.Equal(t, city, saved.Kinds()["city"])
	require.Equal(t, data.Binary, saved.Kinds()["yes"].Kind)
	require.Equal(t, data.Number, saved.Kinds()["income"].Kind)

	f, err := saved.Fitted()
	require.NoError(t, err)
	rows, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: 6000})
	require.NoError(t, err)
	require.Equal(t, "exact", rows.Sampler)
	seen, incomes := make([]float64, 3), make([][]float64, 3)
	for _, v := range table.Column(0) {
		seen[int(v)] += 1 / float64(table.ObservedIn(0))
	}
	for row := range slices.Chunk(rows.Values, 4) {
		incomes[int(row[0])] = append(incomes[int(row[0])], row[1])
	}
	for c, x := range incomes {
		require.InDelta(t, 100+40*float64(c), stat.Mean(x, nil), 3)
		require.InDelta(t, seen[c], float64(len(x))/6000, 0.03)
	}
	_, err = fitted.Sample(t.Context(), f, fitted.SampleConfig{Sampler: "hmc"})
	require.ErrorContains(t, err, "use the sampler exact or auto")

	// The income tells the city.
	drawn, err := fitted.Impute(t.Context(), f, table, fitted.ImputeConfig{Draws: 20, Workers: 2})
	require.NoError(t, err)
	point, err := fitted.Point(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	right, cells := 0., 0.
	for i := range table.N {
		if table.Observed[i*4] || !table.Observed[i*4+1] {
			continue
		}
		told := math.Round((table.Values[i*4+1] - 100) / 40)
		require.Equal(t, told, point.Values[i*4])
		for row := range slices.Chunk(drawn.Values[i*80:(i+1)*80], 4) {
			if cells++; row[0] == told {
				right++
			}
		}
	}
	require.Greater(t, right/cells, 0.98)
}

// Log densities change by the log derivative.
func TestMixtureOfFunctions(t *testing.T) {
	table := cityTable(200)
	s := mixtureSpec
	s.Transform.Columns = map[string]string{"income": "log"}
	r := estimate(t, table, s)
	f, err := r.Model.Fitted()
	require.NoError(t, err)
	scores, err := fitted.Score(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	m := model.MixedOf(r.Model.Model)
	row, observed := slices.Clone(table.Values[:4]), []bool{true, true, true, true}
	require.Equal(t, observed, table.Observed[:4])
	row[1] = math.Log(row[1])
	require.InDelta(t, m.Given(observed).Joint(row, make([]float64, len(m.Weights)))-row[1], scores.LogDensity[0], 1e-12)
	point, err := fitted.Point(t.Context(), f, table, fitted.ImputeConfig{})
	require.NoError(t, err)
	require.Equal(t, "exact", point.Sampler)
	for i, seen := range table.Observed {
		if i%4 == 1 && !seen {
			require.Greater(t, point.Values[i], 70.)
		}
	}
}

func TestMixtureWithLevelsResumed(t *testing.T) {
	table, s, state := cityTable(120), mixtureSpec, &trainers.State{}
	whole := estimate(t, table, s)
	ctx, cancel := context.WithCancel(t.Context())
	s.Steps.Observe = func(p engine.Progress) {
		if p.Iteration == 2 {
			cancel()
		}
	}
	_, err := trainers.Estimate(ctx, table, s, trainers.Run{State: state})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, state.Mixture.Tried, 2)
	resumed := estimate(t, table, mixtureSpec, trainers.Run{State: state})
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
	r := estimate(t, table, mixtureSpec)
	require.Regexp(t, `^size: never observed among up to [23]\d % of the rows; `, r.Warnings[len(r.Warnings)-1])
}

func TestMixtureUnlikeItsTable(t *testing.T) {
	s := mixtureSpec
	s.Model.Options = json.RawMessage(`{"components":1}`)
	r := estimate(t, cityTable(200), s)
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
	r := estimate(t, numbers, trainers.Spec{})
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

func TestSettingsOfScoreMatchingSelectIt(t *testing.T) {
	_, table := testtables.Normal(t, 200, 8)
	require.NotNil(t, model.MixedOf(estimate(t, table, mixtureSpec).Model.Model))
	s := mixtureSpec
	s.Steps.Method, s.Descent.Epochs = "em-full", 3
	require.Nil(t, model.MixedOf(estimate(t, table, s).Model.Model))
}
