package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/moments"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// chain is a table of normal columns, each of which depends on the one before, in units of
// their own, cells missing; every row has a value.
func chain(t *testing.T, n, d int, missing float64) *data.Table {
	t.Helper()
	rng := stream.New(11, 3)
	var values []float64
	var observed []bool
	var names []string
	for j := range d {
		names = append(names, string(rune('a'+j)))
	}
	for range n {
		x := rng.NormFloat64()
		for j := range d {
			values = append(values, 100+math.Pow(10, float64(j-2))*x)
			observed = append(observed, rng.Float64() >= missing)
			x = 0.6*x + 0.8*rng.NormFloat64()
		}
		if last := observed[len(observed)-d:]; !slices.Contains(last, true) {
			last[0] = true
		}
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	return table
}

// counted is the table as its moments know it.
func counted(t *testing.T, table *data.Table, pairs bool) *data.Table {
	t.Helper()
	m, err := moments.New(table.Names, moments.Options{Pairs: pairs})
	require.NoError(t, err)
	require.NoError(t, m.Add(table.Values, table.Observed))
	out, err := m.Table()
	require.NoError(t, err)
	return out
}

// Networks from the moments of rows are those from the rows.
func TestNetworksFromMoments(t *testing.T) {
	for _, c := range []struct {
		missing float64
		pairs   bool
		spec    trainers.Spec
	}{
		{0, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "l1"}}, Inference: inference.Config{Kind: "model"}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "adaptive", Alpha: 0.1}}}},
		{0.3, false, trainers.Spec{Network: &regpath.Config{Lambdas: 15, Penalty: regpath.Penalty{Kind: "l1"}, Select: regpath.Selection{Kind: "fdr"}}, Inference: inference.Config{Kind: "model"}}},
		{0.3, false, trainers.Spec{Steps: engine.Config{Method: "pairwise"}, Network: &regpath.Config{Lambdas: 15}}},
		{0.3, true, trainers.Spec{Steps: engine.Config{Method: "pairwise"}, Network: &regpath.Config{Lambdas: 15}}},
	} {
		table := chain(t, 1500, 5, c.missing)
		of := func(table *data.Table) *trainers.NetworkResult {
			spec, network := c.spec, *c.spec.Network
			spec.Network = &network
			r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
			require.NoError(t, err)
			require.True(t, r.Converged)
			return r.Network
		}
		want, got := of(table), of(counted(t, table, c.pairs))
		require.Equal(t, want.Adjacency, got.Adjacency)
		require.NotEmpty(t, want.Edges())
		require.Len(t, got.Points, len(want.Points))
		for i, p := range want.Points {
			require.InEpsilon(t, p.Loss, got.Points[i].Loss, 1e-8)
			require.InEpsilon(t, p.Lambda, got.Points[i].Lambda, 1e-8)
			if want.Scores != nil && !math.IsNaN(want.Scores[i]) {
				require.InEpsilon(t, want.Scores[i], got.Scores[i], 1e-8)
			}
		}
		for j := range 5 {
			for k := range 5 {
				unit := math.Sqrt(want.Precision.At(j, j) * want.Precision.At(k, k))
				require.InDelta(t, want.Precision.At(j, k), got.Precision.At(j, k), 1e-8*unit)
			}
		}
		require.InEpsilonSlice(t, want.Mean, got.Mean, 1e-8)
		for i, e := range want.Network.Pairs {
			require.InDelta(t, e.Uncertainty.SE, got.Network.Pairs[i].Uncertainty.SE, 1e-8)
			require.InDelta(t, e.Uncertainty.Estimate, got.Network.Pairs[i].Uncertainty.Estimate, 1e-8)
			require.Equal(t, e.Uncertainty.Rows, got.Network.Pairs[i].Uncertainty.Rows)
		}
	}
}

// exact's path ends at a tolerance, within which rounding decides: the estimates of fits, which
// end at theirs, are the same.
func TestFitsFromMoments(t *testing.T) {
	table := chain(t, 1200, 4, 0.25)
	for _, method := range []string{"em-exact", "exact"} {
		of := func(table *data.Table) *trainers.Result {
			r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Steps: engine.Config{Method: method}}, trainers.Run{})
			require.NoError(t, err)
			require.True(t, r.Converged)
			return r
		}
		want, got := of(table), of(counted(t, table, false))
		require.InEpsilon(t, want.Loss, got.Loss, 1e-8)
		if method == "em-exact" {
			require.InEpsilon(t, want.Final.Likelihood, got.Final.Likelihood, 1e-8)
		}
		for i, p := range want.Model.Model.Params() {
			require.InDeltaSlice(t, p.Value, got.Model.Model.Params()[i].Value, 1e-7)
		}
	}
}

// The shrinkage that moments choose by degrees of freedom is near that which rows held out do.
func TestPilotsShrinkageFromMoments(t *testing.T) {
	table := chain(t, 400, 5, 0.2)
	of := func(table *data.Table) float64 {
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Network: &regpath.Config{Lambdas: 10, Penalty: regpath.Penalty{Kind: "adaptive"}}}, trainers.Run{})
		require.NoError(t, err)
		return r.Network.Penalty.Alpha
	}
	require.InDelta(t, of(table), of(counted(t, table, false)), 0.05)
}
