package claims_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

var aucOf = claims.Measure{Column: "error", Name: "AUC", Along: "columns"}

// leading are results in which a leads b, and c, by the given differences, one a replicate.
func leading(overB, overC []float64) cells.Results {
	return planted(len(overB), abc, func(x float64, replicate int, m string) float64 {
		return x + map[string]float64{"b": -overB[replicate-1], "c": -overC[replicate-1]}[m]
	})
}

// astray are the results had the first line's method diverge.
func astray(r cells.Results) cells.Results {
	r.Lines[0][3] = "9 -"
	return r
}

// Leads of unlike number and variance. R, x <- 1:4:
//
//	t.test(x, c(.5,.7,.4,.9,.6,.5))$conf.int                          -0.138408313093 3.938408313093 (df 3.07698903967)
//	t.test(x, c(1.3,-.2,2.9,.4,1.1,.7), conf.level = 1 - 0.05/2)$conf.int  -0.889450243448 3.822783576782
//
// Over b the second test's low end is -0.763529083346: c decides.
func TestWelchIntervalOfTwoExperiments(t *testing.T) {
	x, y, z := []float64{1, 2, 3, 4}, []float64{.5, .7, .4, .9, .6, .5}, []float64{1.3, -.2, 2.9, .4, 1.1, .7}
	of := map[string]cells.Results{"star": leading(x, x), "dense": leading(y, z)}
	v, err := claims.Clearer(aucOf, "star", "dense", "a", []string{"b"}).Test(of)
	require.NoError(t, err)
	require.InDelta(t, 1.9, v.Effect, 1e-12)
	require.InDelta(t, -0.138408313093, v.Low, 1e-9)
	require.InDelta(t, 3.938408313093, v.High, 1e-9)
	require.Equal(t, 4, v.Replicates, "those of the smaller sample")
	require.Equal(t, "AUC, a − b: in star against dense (above 0: the lead is larger in star)", v.Measure)
	require.Equal(t, "star, 4 replicates. Means: a 11.7, b 9.17. dense, 6 replicates. Means: a 11.7, b 11.1.", v.Evidence)

	v, err = claims.Clearer(aucOf, "star", "dense", "a", []string{"b", "c"}).Test(of)
	require.NoError(t, err)
	require.InDelta(t, 2.5-6.2/6, v.Effect, 1e-12)
	require.InDelta(t, -0.889450243448, v.Low, 1e-9)
	require.InDelta(t, 3.822783576782, v.High, 1e-9)

	// The same leads as logarithms of ratios of errors.
	for name, leads := range map[string][]float64{"star": x, "dense": y} {
		of[name] = planted(len(leads), abc, func(x float64, replicate int, m string) float64 {
			return x * map[string]float64{"a": math.Exp(-leads[replicate-1]), "b": 1}[m]
		})
	}
	v, err = claims.Clearer(errorOf, "star", "dense", "a", []string{"b"}).Test(of)
	require.NoError(t, err)
	require.InDelta(t, math.Exp(1.9), v.Effect, 1e-9)
	require.InDelta(t, 0.870743083349, v.Low, 1e-9)
	require.InDelta(t, 51.336824085207, v.High, 1e-6)
	require.Equal(t, "error, b / a: in star against dense (above 1: the lead is larger in star)", v.Measure)
}

func TestClearerInOneExperiment(t *testing.T) {
	large, small := []float64{0.5, 0.6, 0.4, 0.5, 0.6}, []float64{0.1, 0.2, 0.1, 0, 0.1}
	nan := math.NaN()
	for name, c := range map[string]struct {
		star, dense cells.Results
		want        claims.Outcome
	}{
		"larger over both":     {leading(large, large), leading(small, small), claims.Holds},
		"smaller over one":     {leading(large, small), leading(small, large), claims.DoesNotHold},
		"alike over one":       {leading(large, large), leading(small, large), claims.Undecided},
		"three replicates":     {leading(large, large), leading(small[:3], small[:3]), claims.Undecided},
		"the other has three":  {leading(large[:3], large[:3]), leading(small, small), claims.Undecided},
		"one of four diverged": {leading(large, large), leading([]float64{nan, 0.2, 0.1, 0}, small[:4]), claims.Undecided},
		"a diverged in one":    {astray(leading(large, large)), leading(small, small), claims.Undecided},
		"nothing varies":       {leading([]float64{2, 2, 2, 2}, []float64{2, 2, 2, 2}), leading([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}), claims.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := claims.Clearer(aucOf, "star", "dense", "a", []string{"b", "c"}).Test(map[string]cells.Results{"star": c.star, "dense": c.dense})
			require.NoError(t, err)
			require.Equal(t, c.want, v.Outcome, "%+v", v)
			if v.Replicates < claims.LeastReplicates {
				require.True(t, math.IsNaN(v.Effect))
				require.Contains(t, v.Evidence, "3 replicates, 4 are needed.")
			}
		})
	}
}

// At every look a difference is wider by the sum of two widths.
func TestClearerAtAnyLook(t *testing.T) {
	for shift, want := range map[float64]claims.Outcome{2: claims.Undecided, 12: claims.Holds} {
		x, y := []float64{1 + shift, 1.5 + shift, 2 + shift, 2.5 + shift}, []float64{1, 1.5, 2, 2.5}
		v, err := claims.Clearer(aucOf, "star", "dense", "a", []string{"b"}).Test(map[string]cells.Results{"star": leading(x, x), "dense": leading(y, y)})
		require.NoError(t, err)
		require.Equal(t, claims.Holds, v.Outcome)
		require.Equal(t, want, v.Anytime, "%+v", v)
	}
}

// A place that one experiment lacks is left out of both.
func TestLeadsAreComparedWhereBothHaveThem(t *testing.T) {
	star := planted(4, abc, func(x float64, replicate int, m string) float64 {
		if m == "a" {
			return x + noise(replicate) // leads by x
		}
		return 0
	})
	dense, err := leading([]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}).Only(map[string]string{"columns": "20"})
	require.NoError(t, err)
	v, err := claims.Clearer(aucOf, "star", "dense", "a", []string{"b"}).Test(map[string]cells.Results{"star": star, "dense": dense})
	require.NoError(t, err)
	mean := (noise(1) + noise(2) + noise(3) + noise(4)) / 4
	require.InDelta(t, 13+mean, v.Effect, 1e-12)
	require.Contains(t, v.Evidence, "star, 4 replicates. Means: a 20, b 0.")
	v, err = claims.Clearer(aucOf, "dense", "star", "a", []string{"b"}).Test(map[string]cells.Results{"star": star, "dense": dense})
	require.NoError(t, err)
	require.InDelta(t, -13-mean, v.Effect, 1e-12)
	require.Contains(t, v.Evidence, "star, 4 replicates. Means: a 20, b 0.")
}

func TestReplicatesLeftOutOfEitherExperimentAreCounted(t *testing.T) {
	ran, away := []float64{1, 2, 3, 4, 5}, []float64{1, 2, math.NaN(), 4, 5}
	for _, of := range []map[string]cells.Results{
		{"star": leading(ran, ran), "dense": leading(away, away)},
		{"star": leading(away, away), "dense": leading(ran, ran)},
		{"star": leading(away, away), "dense": leading(away, away)},
	} {
		v, err := claims.Clearer(aucOf, "star", "dense", "a", []string{"b"}).Test(of)
		require.NoError(t, err)
		require.Equal(t, 4, v.Replicates)
		require.Regexp(t, `[12] replicates lack a number of either method\.$`, v.Evidence)
	}
}

func aBeatsB(m claims.Measure) claims.Test {
	return claims.Best(m, []string{"a"}, []string{"b"}, false)
}

func TestEachCase(t *testing.T) {
	at := func(at func(claims.Measure, func(claims.Measure) claims.Test) claims.Test) claims.Joint {
		return claims.Each([]claims.Case{{"one", aucOf, nil}, {"other", aucOf, at}}, aBeatsB)
	}
	everywhere := func(lead float64) cells.Results {
		return planted(6, abc, func(x float64, replicate int, m string) float64 {
			return x + map[string]float64{"a": lead + noise(replicate)}[m]
		})
	}
	// a is ahead at 5 columns, level at 10 and behind at 20.
	falling := planted(6, abc, func(x float64, replicate int, m string) float64 {
		return map[string]float64{"a": math.Log2(10/x) + noise(replicate)}[m]
	})
	for name, c := range map[string]struct {
		test       claims.Joint
		one, other cells.Results
		want       claims.Outcome
		measure    string
	}{
		"ahead in both":         {at(claims.AtSmallest), everywhere(1), falling, claims.Holds, "AUC, a − b (above 0: a is the better) in one"},
		"behind in one":         {at(claims.AtLargest), everywhere(1), falling, claims.DoesNotHold, "AUC, a − b (above 0: a is the better) at columns 20 in other"},
		"level on average":      {at(nil), everywhere(1), falling, claims.Undecided, "AUC, a − b (above 0: a is the better) in other"},
		"undecided, and behind": {at(claims.AtLargest), everywhere(0), falling, claims.DoesNotHold, "AUC, a − b (above 0: a is the better) at columns 20 in other"},
		"too few in one":        {at(claims.AtSmallest), everywhere(1), planted(3, abc, func(float64, int, string) float64 { return 1 }), claims.Undecided, "AUC, a − b (above 0: a is the better) at columns 5 in other"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []string{"one", "other"}, c.test.Of)
			v, err := c.test.Test(map[string]cells.Results{"one": c.one, "other": c.other})
			require.NoError(t, err)
			require.Equal(t, c.want, v.Outcome, "%+v", v)
			require.Equal(t, c.measure, v.Measure)
			require.Contains(t, v.Evidence, "one: ")
			require.Contains(t, v.Evidence, " other: ")
		})
	}
}

// Two cases share 0.05: R's t.test(1:4, conf.level = 1 - 0.05/2)$conf.int, as for two rivals.
func TestCasesShareTheLevel(t *testing.T) {
	leads := leading([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4})
	joint := claims.Each([]claims.Case{{"one", aucOf, nil}, {"other", aucOf, nil}}, aBeatsB)
	v, err := joint.Test(map[string]cells.Results{"one": leads, "other": leads})
	require.NoError(t, err)
	require.InDelta(t, -0.195941650636, v.Low, 1e-9)
	require.InDelta(t, 5.195941650636, v.High, 1e-9)
}
