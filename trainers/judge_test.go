package trainers

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
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
	m := model.NewGaussian(len(mean), model.CholeskyFactor)
	p := mat.NewSymDense(len(mean), nil)
	for j, v := range deviation {
		p.SetSym(j, j, 1/(v*v))
	}
	require.NoError(t, m.SetPrecision(p))
	m.SetMean(mean)
	return &fitted.Saved{Model: m, Names: []string{"x", "volume"}}
}

// The truth is plausible even if only a tenth of the column is observed.
func TestImplausible(t *testing.T) {
	for _, quantile := range []float64{math.Inf(-1), 0, 1.28} {
		table := seenAbove(2000, quantile)
		require.Empty(t, implausible(table, normalOf(t, []float64{0, 13}, []float64{1, 6}), 2), quantile)
		problems := implausible(table, normalOf(t, []float64{0, -27}, []float64{1, 6}), 2)
		require.Len(t, problems, 1)
		require.Regexp(t, `^the fitted mean of volume is -27, but its values range from \S+ to \S+, with mean \d`, problems[0])
	}
	table := seenAbove(2000, 0)
	problems := implausible(table, normalOf(t, []float64{0, 13}, []float64{0.1, 60}), 2)
	require.Len(t, problems, 2)
	require.Contains(t, problems[0], "the fitted standard deviation of x is 0.1, the observed one ")
	require.Contains(t, problems[1], "the fitted standard deviation of volume is 60, the observed one ")

	far := normalOf(t, []float64{0, -27}, []float64{1, 6})
	far.Domain = domain.All(2)
	far.Domain.Lower[1] = 0
	require.Empty(t, implausible(table, far, 2), "before the restriction it may be")
	far.Domain, far.Missingness = nil, &missingness.Model{Censored: missingness.NewCensored(2)}
	far.Missingness.Censored.Below[1] = 1
	require.Empty(t, implausible(table, far, 2), "a law hides it there")

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
		{table, "zeroed", "gaussian", false, []string{"zeroed fills missing cells with the column's mean, because columns " +
			"are standardised; for the paper's zeros in the table's units add Spec.KeepUnits"}},
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
