package trainers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// Errors by the model are warned of where rows have heavier tails than normal ones, errors by the
// rows are not.
func TestTailsAreWarnedOf(t *testing.T) {
	const n = 300
	for _, heavy := range []bool{false, true} {
		_, table := testtables.Star(t, 6, n, 0.2)
		for i := range n {
			if heavy && i%2 == 0 {
				for j := range table.D {
					table.Values[i*table.D+j] *= 3
				}
			}
		}
		for _, kind := range []string{"model", "robust"} {
			s := trainers.Spec{Network: &regpath.Config{Lambdas: 12}, Inference: inference.Config{Kind: kind}}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			warned := strings.Contains(strings.Join(r.Network.Inference.Warnings, "; "), "heavier tails")
			require.Equal(t, heavy && kind == "model", warned, "%v %s", heavy, kind)
		}
	}
}

// Few rows are warned of: ten for a column by the model, fifteen by the rows, counted by pairs of
// columns that both have a value.
func TestFewRowsAreWarnedOf(t *testing.T) {
	const d = 6
	for _, c := range []struct {
		rows          int
		missing       float64
		model, robust bool
	}{{9 * d, 0, true, true}, {12 * d, 0, false, true}, {16 * d, 0, false, false}, {20 * d, 0.3, true, true}, {40 * d, 0.3, false, false}} {
		_, table := testtables.Star(t, d, c.rows, c.missing)
		for kind, want := range map[string]bool{"model": c.model, "robust": c.robust} {
			s := trainers.Spec{Network: &regpath.Config{Lambdas: 6}, Inference: inference.Config{Kind: kind}}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			told := strings.Join(r.Network.Inference.Warnings, "; ")
			require.Equal(t, want, strings.Contains(told, "intervals and p values are for tables with more rows"), "%d rows, %s: %s", c.rows, kind, told)
			if want && kind == "robust" {
				require.Contains(t, told, "15 times the 6 columns are needed for intervals that cover as often as they say (10 by --inference model, if rows are normal)")
			}
		}
	}
}

// With --select fdr the edges are the pairs of small q values, their sizes are the estimates
// made for inference, and both are the same whether the bootstrap comes after or not.
func TestEdgesByTheirTests(t *testing.T) {
	const rate = 0.1
	_, table := testtables.Star(t, 8, 300, 0.3)
	byTests := func(c inference.Config) *trainers.NetworkResult {
		s := trainers.Spec{Network: &regpath.Config{Select: regpath.Selection{Kind: "fdr", Rate: rate}, Lambdas: 12}, Inference: c}
		r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err)
		require.True(t, r.Converged, r.Verdict)
		return r.Network
	}
	n := byTests(inference.Config{})
	edges := map[[2]string]float64{}
	for _, e := range n.Edges() {
		edges[[2]string{e.From, e.To}] = e.PartialCorrelation
	}
	require.NotEmpty(t, edges)
	require.Less(t, len(edges), len(n.Network.Pairs))
	for _, pair := range n.Network.Pairs {
		size, edge := edges[[2]string{pair.From, pair.To}]
		require.Equal(t, edge, pair.Uncertainty.Q <= rate, "%s – %s has q = %g", pair.From, pair.To, pair.Uncertainty.Q)
		if edge {
			require.Equal(t, pair.Uncertainty.Estimate, size)
			require.NotEqual(t, pair.PartialCorrelation, size, "the fit's own is another number")
		}
	}
	resampled := byTests(inference.Config{Kind: "bootstrap", Resamples: 10})
	require.Len(t, resampled.Edges(), len(edges))
	for _, e := range resampled.Edges() {
		require.Equal(t, edges[[2]string{e.From, e.To}], e.PartialCorrelation)
		require.False(t, math.IsNaN(e.Uncertainty.Inclusion))
	}
}

// From R 4.2.2 and lavaan 0.6-14, partial correlations of a saturated normal model of airquality's
// Ozone, Solar.R, Wind and Temp by maximum likelihood of the observed cells:
//
//	f <- lavCor(x, missing = "fiml", output = "fit", se = "none", control = list(rel.tol = 1e-14))
//	-cov2cor(solve(lavInspect(f, "cov.ov")))
var lavaanAir = []float64{0.2431855, -0.4200682, 0.5377976, 0.1780861, 0.1045274, -0.1274072}

// Estimates of --inference are maximum likelihood's with all pairs free, which R has, and those of
// the command fit, whatever the path's penalty chose.
func TestEstimatesAreUnpenalised(t *testing.T) {
	air, err := data.ReadCSV("../examples/airquality.csv", data.ReadOptions{Columns: []string{"Ozone", "Solar.R", "Wind", "Temp"}})
	require.NoError(t, err)
	_, star := testtables.Star(t, 6, 200, 0.3)
	for name, table := range map[string]*data.Table{"air": air, "star": star} {
		fit, err := trainers.Estimate(t.Context(), table, trainers.Spec{}, trainers.Run{})
		require.NoError(t, err)
		precision := fit.Model.Model.(*model.Gaussian).Precision()
		for _, kind := range []string{"model", "robust"} {
			s := trainers.Spec{Network: &regpath.Config{Lambdas: 6, Select: regpath.Selection{Kind: "density", Density: 0.3}}, Inference: inference.Config{Kind: kind}}
			r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
			require.NoError(t, err)
			require.Contains(t, r.Network.Inference.Rests, "maximum likelihood with all pairs free")
			i := 0
			for j := range table.D {
				for k := j + 1; k < table.D; k++ {
					u := r.Network.Inference.Pairs[i]
					require.InDelta(t, network.PartialCorrelation(precision, j, k), u.Estimate, 1e-6, "%s %s %d %d", name, kind, j, k)
					require.True(t, u.Low < u.Estimate && u.Estimate < u.High)
					if name == "air" {
						require.InDelta(t, lavaanAir[i], u.Estimate, 1e-6)
					}
					i++
				}
			}
		}
	}
}

// Where rows are too few for all pairs to be free, where the likelihood has no maximum, and by the
// marginal loss, estimates are one step from the network, and are said to be.
func TestFewRowsTakeOneStep(t *testing.T) {
	_, few := testtables.Star(t, 12, 60, 0.3)
	nan, rng := math.NaN(), stream.New(1)
	rows := [][]float64{{-1.1, -1, nan}, {0.9, 1, nan}} // a and b are together in two rows, and these on a line
	for range 30 {
		rows = append(rows, []float64{rng.NormFloat64(), nan, rng.NormFloat64()}, []float64{nan, rng.NormFloat64(), rng.NormFloat64()})
	}
	apart := fromRows(t, []string{"a", "b", "c"}, rows)
	_, many := testtables.Star(t, 4, 200, 0.2)
	for _, c := range []struct {
		table  *data.Table
		method string
	}{{few, "em-exact"}, {apart, "em-exact"}, {many, "exact"}} {
		s := trainers.Spec{Steps: engine.Config{Method: c.method}, Network: &regpath.Config{Lambdas: 6}, Inference: inference.Config{Kind: "model"}}
		r, err := trainers.Estimate(t.Context(), c.table, s, trainers.Run{})
		require.NoError(t, err)
		require.Contains(t, r.Network.Inference.Rests, "one Newton step from the ")
		require.NotContains(t, r.Network.Inference.Rests, "with all pairs free")
	}
}
