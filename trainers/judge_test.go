package trainers

import (
	"math"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	_ "missingscore/internal/trainers/inference/bootstrap"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers/fitted"
)

// x and y correlate by 0.9; y is observed in the share of rows with the largest x.
func seenAbove(n int, quantile float64) *data.Table {
	rng := stream.New(3)
	t := &data.Table{Names: []string{"x", "volume"}, N: n, D: 2}
	for range n {
		x := rng.NormFloat64()
		t.Values = append(t.Values, x, 13+6*(0.9*x+math.Sqrt(0.19)*rng.NormFloat64()))
		t.Observed = append(t.Observed, true, x > quantile)
	}
	return t
}

func normalOf(t *testing.T, mean, deviation []float64) *fitted.Saved {
	t.Helper()
	p := mat.NewSymDense(len(mean), nil)
	for j, v := range deviation {
		p.SetSym(j, j, 1/(v*v))
	}
	m := testtables.At(t, simulate.Gaussian{Mean: mean, Precision: p})
	return &fitted.Saved{Model: m, Names: []string{"x", "volume"}}
}

// The truth is plausible even if only a tenth of the column is observed.
func TestImplausible(t *testing.T) {
	for _, quantile := range []float64{math.Inf(-1), 0, 1.28} {
		table := seenAbove(2000, quantile)
		require.Empty(t, implausible(table, normalOf(t, []float64{0, 13}, []float64{1, 6})), quantile)
		problems := implausible(table, normalOf(t, []float64{0, -27}, []float64{1, 6}))
		require.Len(t, problems, 1)
		require.Regexp(t, `^the fitted mean of volume is -27, but its values range from \S+ to \S+, with mean \d`, problems[0])
	}
	table := seenAbove(2000, 0)
	problems := implausible(table, normalOf(t, []float64{0, 13}, []float64{0.1, 60}))
	require.Len(t, problems, 2)
	require.Contains(t, problems[0], "the fitted standard deviation of x is 0.1, the observed one ")
	require.Contains(t, problems[1], "the fitted standard deviation of volume is 60, the observed one ")

	far := normalOf(t, []float64{0, -27}, []float64{1, 6})
	far.Domain = domain.All(2)
	far.Domain.Lower[1] = 0
	require.Empty(t, implausible(table, far), "before the restriction it may be")
	far.Domain, far.Missingness = nil, &missingness.Model{Censored: domain.All(2)}
	far.Missingness.Censored.Lower[1] = 1
	require.Empty(t, implausible(table, far), "a law hides it there")

	r := &Result{Converged: true, Verdict: "converged: so"}
	r.doubt(problems)
	require.False(t, r.Converged)
	require.Regexp(t, "^NOT plausible: the fitted standard deviation of x .*; the fitted standard deviation of volume .* The fit: converged: so$", r.Verdict)
}

func TestZeroedIsMeanFilling(t *testing.T) {
	_, table := testtables.Normal(t, 60, 3)
	whole := *table
	whole.Observed = slices.Repeat([]bool{true}, len(table.Observed))
	for _, c := range []struct {
		table         *data.Table
		method, model string
		keepUnits     bool
		warnings      []string
	}{
		{table, "zeroed", "gaussian", false, []string{"zeroed fills missing cells with the column's mean, " +
			"because columns are standardised; for the paper's zeros in the table's units add Spec.KeepUnits"}},
		{table, "zeroed", "gaussian", true, nil},
		{&whole, "zeroed", "gaussian", false, nil},
		{table, "exact", "gaussian", false, nil},
		{table, "auto", "score-network", false, nil},
		{table, "zeroed", "quartic", false, nil},
	} {
		s := Spec{Model: ModelSpec{Kind: c.model}, KeepUnits: c.keepUnits}
		s.Steps.Method = c.method
		p, err := Prepare(c.table, s)
		require.NoError(t, err)
		found, err := p.Findings()
		require.NoError(t, err)
		var warnings []string
		for _, f := range found {
			warnings = append(warnings, f.Message)
		}
		require.Equal(t, c.warnings, warnings, "%v", c)
	}
}

// A chain x – home – sex – w – grade of latent variables: home has three levels, sex two, grade
// four ordered ones; order numbers the levels of home.
func mixedTable(t *testing.T, order [3]int) *data.Table {
	t.Helper()
	p := mat.NewSymDense(6, []float64{ // x, home: town, home: city, sex, w, grade
		1, -0.45, 0.2, 0, 0, 0,
		0, 1, -0.1, 0, 0, 0,
		0, 0, 1, -0.5, 0, 0,
		0, 0, 0, 1, 0.4, 0,
		0, 0, 0, 0, 1, -0.45,
		0, 0, 0, 0, 0, 1,
	})
	rng := stream.New(3, 1)
	z, err := simulate.Gaussian{Mean: make([]float64, 6), Precision: p}.Sample(700, rng)
	require.NoError(t, err)
	levels := make([]string, 3)
	for k, name := range []string{"village", "town", "city"} {
		levels[order[k]] = name
	}
	var values []float64
	var observed []bool
	for z := range slices.Chunk(z.Values, 6) {
		home, sex := floats.MaxIdx([]float64{0, z[1], z[2]}), 0.
		if z[3] > 0.3 {
			sex = 1
		}
		grade := sort.SearchFloat64s([]float64{-0.8, 0, 0.9}, z[5])
		values = append(values, z[0], float64(order[home]), sex, 10+3*z[4], float64(grade))
		for range 5 {
			observed = append(observed, rng.Float64() >= 0.1)
		}
	}
	table := testtables.Must(data.NewTable([]string{"x", "home", "sex", "w", "grade"}, values, observed))
	table.Kinds = []data.Kind{data.Number, data.Nominal, data.Binary, data.Number, data.Ordered}
	table.Levels = [][]string{nil, levels, {"f", "m"}, nil, {"low", "some", "good", "best"}}
	return table
}

func edgesOf(t *testing.T, table *data.Table) (*Result, map[string]network.Edge) {
	t.Helper()
	r, err := Estimate(t.Context(), table, Spec{Network: &regpath.Config{}}, Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	edges := map[string]network.Edge{}
	for _, e := range r.Network.Edges() {
		edges[e.From+"-"+e.To] = e
	}
	return r, edges
}

func association(t *testing.T, e network.Edge, from, to string) float64 {
	t.Helper()
	i := slices.IndexFunc(e.Together, func(p network.LevelPair) bool { return p.From == from && p.To == to })
	require.GreaterOrEqual(t, i, 0, "%s, %s", from, to)
	return e.Together[i].Association
}

// For x and home the strength is √(a'P_hh⁻¹a), a = (-0.45, 0.2), 0.476.
func TestNetworkOfLevels(t *testing.T) {
	strengths := map[string]float64{"x-home": 0.476, "home-sex": 0.503, "sex-w": -0.4, "w-grade": 0.45}
	r, edges := edgesOf(t, mixedTable(t, [3]int{0, 1, 2}))
	require.Equal(t, "em-latent", r.Spec.Steps.Method)
	require.Equal(t, []string{"x", "home", "sex", "w", "grade"}, r.Network.Names)
	for name, strength := range strengths {
		require.InDelta(t, strength, edges[name].PartialCorrelation, 0.12, name)
	}
	require.LessOrEqual(t, len(edges), 5)
	require.True(t, edges["x-home"].Unsigned && edges["home-sex"].Unsigned && !edges["sex-w"].Unsigned)
	require.Greater(t, association(t, edges["x-home"], "", "town"), 0.3)
	require.Greater(t, association(t, edges["home-sex"], "city", "m"), 0.25)
	require.Equal(t, -edges["sex-w"].PartialCorrelation, association(t, edges["sex-w"], "f", ""))
	require.Nil(t, edges["w-grade"].Together)

	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, r.Save(path))
	saved, err := fitted.Load(path)
	require.NoError(t, err)
	require.Equal(t, r.Model.Blocks, saved.Blocks)
	require.Equal(t, data.Block{Name: "home", First: 1, Width: 2, Levels: []string{"village", "town", "city"}}, saved.Blocks[1])
	require.Equal(t, 6, saved.Model.Dim())
	_, err = saved.Fitted()
	require.ErrorContains(t, err, "impute TABLE")

	_, other := edgesOf(t, mixedTable(t, [3]int{2, 0, 1}))
	require.Len(t, other, len(edges))
	for name, e := range edges {
		require.InDelta(t, e.PartialCorrelation, other[name].PartialCorrelation, 0.03, name)
		for _, p := range e.Together {
			require.InDelta(t, p.Association, association(t, other[name], p.From, p.To), 0.05, "%s %v", name, p)
		}
	}
}
