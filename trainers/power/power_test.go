package power

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/internal/data/binormal"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/replicate"
)

func chain(t *testing.T, d int, strength float64) *Truth {
	g := testtables.Must(simulate.Graph("chain", d, 0, strength, stream.New(1)))
	names := strings.Split("abcdefghij", "")[:d]
	truth, err := NewTruth(names, g, nil, 0)
	require.NoError(t, err)
	require.Equal(t, d-1, truth.Edges())
	return truth
}

func ran(t *testing.T, p Problem, c Config, workers int) *Result {
	r, err := Run(t.Context(), p, c, replicate.Config{Workers: workers}, replicate.NewDone[Found](""))
	require.NoError(t, err)
	return r
}

// With P_12 = −r/(1 − r²), |P_12| > τ where |r| > r₀, r₀/(1 − r₀²) = τ; by Fisher's z sensitivity ≈
// Φ(√(n − 3) (atanh ρ − atanh r₀)), which is s at n = 3 + (Φ⁻¹(s)/(atanh ρ − atanh r₀))².
func TestSensitivityAgainstFisher(t *testing.T) {
	const rho, tau = 0.25, 0.2
	spec := trainers.Spec{
		Steps:   engine.Config{Method: "full", Seed: 1},
		Network: &regpath.Config{LambdaMax: 1e-9, LambdaMin: 1e-9, Lambdas: 1, Threshold: tau, Select: regpath.Selection{Kind: "none"}, PathOnly: true, StopTol: 1e-4},
	}
	c := Config{Rows: []int{50, 80, 130, 200}, Tables: 250, Sensitivity: 0.7, Seed: 4}
	r := ran(t, Problem{Truth: chain(t, 2, rho), Spec: spec}, c, 2)
	r0 := (math.Sqrt(1+4*tau*tau) - 1) / (2 * tau)
	distance := math.Atanh(rho) - math.Atanh(r0)
	for _, p := range r.Points {
		want := distuv.UnitNormal.CDF(math.Sqrt(float64(p.Rows-3)) * distance)
		got := p.Means[Sensitivity]
		se := math.Sqrt(want * (1 - want) / 250)
		require.InDelta(t, want, got.Value, 3.5*se+0.01, "%d rows", p.Rows)
		require.InDelta(t, 2*1.96*se, got.High-got.Low, 0.3*se, "the interval's width")
		require.True(t, math.IsNaN(p.Means[specificity].Value), "all pairs are edges")
	}
	want := 3 + math.Pow(distuv.UnitNormal.Quantile(0.7)/distance, 2)
	require.Less(t, r.Needed.Low, want)
	require.Greater(t, r.Needed.High, want)
	require.InDelta(t, want, r.Needed.Rows, 25)
	require.Less(t, r.Needed.Low, r.Needed.Rows)
	require.Greater(t, r.Needed.High, r.Needed.Rows)
}

func TestMeasure(t *testing.T) {
	truth := []float64{0.5, -0.3, 0.2, 0, 0, 0, 0, 0, 0, 0}
	found := []float64{0.4, -0.1, 0, 0.1, 0, 0, 0, 0, 0, 0}
	f := measure(truth, found)
	require.Equal(t, 3, f.Edges)
	require.InDelta(t, 2.0/3, f.Measures[Sensitivity], 1e-15)
	require.InDelta(t, 6.0/7, f.Measures[specificity], 1e-15)
	require.InDelta(t, 2.0/3, f.Measures[precision], 1e-15)
	require.InDelta(t, 1.0/3, f.Measures[FDR], 1e-15)
	require.InDelta(t, 4.0/6, f.Measures[f1], 1e-15)
	require.InDelta(t, 0.8758730376768, f.Measures[correlation], 1e-11) // R 4.2.2: cor(truth, found)
	none := measure(truth, make([]float64, 10))
	for _, zero := range []int{Sensitivity, FDR, f1, correlation} {
		require.Zero(t, none.Measures[zero])
	}
	require.True(t, math.IsNaN(none.Measures[precision]))
}

// By R 4.2.2's isoreg(1:7, c(.1, .3, .2, .5, .45, .4, .9))$yf.
func TestRisingAgainstR(t *testing.T) {
	got := rising([]float64{0.1, 0.3, 0.2, 0.5, 0.45, 0.4, 0.9}, []float64{1, 1, 1, 1, 1, 1, 1})
	require.InDeltaSlice(t, []float64{0.1, 0.25, 0.25, 0.45, 0.45, 0.45, 0.9}, got, 1e-14)
	got = rising([]float64{0.6, 0.3}, []float64{1, 2})
	require.InDeltaSlice(t, []float64{0.4, 0.4}, got, 1e-15, "weighted")
}

func TestCrossing(t *testing.T) {
	rows, y := []int{100, 400, 800}, []float64{0.2, 0.6, 0.9}
	require.InDelta(t, 200, crossing(rows, y, 0.4), 1e-9, "half way on a log scale")
	require.InDelta(t, 400, crossing(rows, y, 0.6), 1e-9)
	require.Zero(t, crossing(rows, y, 0.2))
	require.True(t, math.IsInf(crossing(rows, y, 0.95), 1))
}

// The binomial errors of the two sizes, by the delta method.
func TestNeededInterval(t *testing.T) {
	share := func(k, n int) []float64 {
		x := make([]float64, n)
		for i := range k {
			x[i] = 1
		}
		return x
	}
	c := Config{Rows: []int{100, 400}, Sensitivity: 0.5, Level: 0.95, Seed: 1}
	got := needed(c, [][]float64{share(480, 1600), share(1120, 1600)})
	require.InDelta(t, 200, got.Rows, 1e-9)
	// log n* = log 100 + log 4 (½ − p)/(q − p), p = 0.3, q = 0.7: both derivatives are −1.25 log 4.
	se := math.Log(4) * 0.5 / 0.4 * math.Sqrt(2*0.3*0.7/1600)
	require.InDelta(t, 200*math.Exp(-1.96*se), got.Low, 1.2)
	require.InDelta(t, 200*math.Exp(1.96*se), got.High, 1.2)
	never := needed(c, [][]float64{share(0, 50), share(10, 50)})
	require.True(t, math.IsInf(never.Rows, 1) && math.IsInf(never.High, 1))
}

func TestGapsLikeATable(t *testing.T) {
	truth := chain(t, 3, 0.3)
	like, err := data.NewTable(truth.Names, []float64{1, 0, 3, 4, 5, 6, 7, 8, 0, 2, 4, 0}, []bool{true, false, true, true, true, true, true, true, false, true, true, false})
	require.NoError(t, err)
	p := Problem{Truth: truth, Gaps: Gaps{Like: like}}
	drawn := testtables.Must(p.Draw(4000, 0, 1))
	require.Equal(t, truth.Names, drawn.Names)
	count := map[[3]bool]float64{}
	for i := range drawn.N {
		count[[3]bool(drawn.Observed[3*i:3*i+3])]++
	}
	require.Len(t, count, 3)
	se := math.Sqrt(4000 * 0.25 * 0.75)
	require.InDelta(t, 1000, count[[3]bool{true, false, true}], 4*se)
	require.InDelta(t, 1000, count[[3]bool{true, true, true}], 4*se)
	require.InDelta(t, 2000, count[[3]bool{true, true, false}], 4*se)
	again := testtables.Must(p.Draw(4000, 1, 1))
	require.NotEqual(t, drawn.Values, again.Values)

	p.Gaps = Gaps{Share: 0.4}
	drawn = testtables.Must(p.Draw(4000, 0, 1))
	require.InDelta(t, 0.4, float64(drawn.Missing())/12000, 4*math.Sqrt(0.4*0.6/12000))
}

func TestWorkers(t *testing.T) {
	spec := trainers.Spec{Steps: engine.Config{Method: "em-exact", Seed: 1}, Network: &regpath.Config{Lambdas: 10}}
	p := Problem{Truth: chain(t, 5, 0.4), Gaps: Gaps{Share: 0.2}, Spec: spec}
	c := Config{Rows: []int{30, 60, 120}, Tables: 6, Seed: 2}
	whole := ran(t, p, c, 3)
	require.Greater(t, whole.Points[2].Means[Sensitivity].Value, whole.Points[0].Means[Sensitivity].Value)
	require.Equal(t, whole, ran(t, p, c, 1))
	var text strings.Builder
	require.NoError(t, whole.Write(&text))
	require.Contains(t, text.String(), "rows,tables,failed,unconverged,sensitivity,sensitivity_low,sensitivity_high,specificity,")
	of, err := p.Identity(c)
	require.NoError(t, err)
	c.Sensitivity = 0.5
	same, err := p.Identity(c)
	require.NoError(t, err)
	require.Equal(t, of, same)
}

func TestSummed(t *testing.T) {
	good := Found{Converged: true, Measures: [measures]float64{0.5, 1, 1, 0, 0.6, 0.7}}
	slow := good
	slow.Converged = false
	c := Config{Rows: []int{40}, Sensitivity: 0.8, Level: 0.95}
	r, err := summarise([][]Found{{good, {Failure: "no luck"}, slow, good}}, c)
	require.NoError(t, err)
	p := r.Points[0]
	require.Equal(t, []int{40, 3, 1, 1}, []int{p.Rows, p.Tables, p.Failed, p.Unconverged})
	require.Equal(t, []string{"1 of 4 tables of 40 rows gave no network and are left out; the first failure: no luck",
		"of 3 tables of 40 rows, the network of 1 did not converge; it is used as it is"}, r.Warnings)
	require.False(t, r.Converged())
	_, err = summarise([][]Found{{{Failure: "no luck"}}}, c)
	require.ErrorContains(t, err, "none of 1 tables of 40 rows gave a network; the first failure: no luck")
}

// By R 4.2.2's t.test(c(.2, .4, .5, .9))$conf.int.
func TestMeanOf(t *testing.T) {
	m := meanOf([]float64{0.2, 0.4, 0.5, 0.9}, 0.95, false)
	require.InDelta(t, 0.5, m.Value, 1e-15)
	require.InDelta(t, 0.03155658769676, m.Low, 1e-9)
	require.InDelta(t, 0.96844341230324, m.High, 1e-9)
}

func TestResolve(t *testing.T) {
	c, err := Config{}.Resolve(40)
	require.NoError(t, err)
	require.Equal(t, Config{Rows: []int{80, 160, 320, 640, 1280, 2560}, Tables: 100, Sensitivity: 0.8, Level: 0.95}, c)
	_, err = NewTruth([]string{"a", "b"}, chain(t, 2, 0.3).Gaussian, nil, 0.5)
	require.ErrorContains(t, err, "has no edge")
	rounded := chain(t, 4, 0.3).Gaussian
	rounded.Precision.SetSym(0, 3, 1e-17) // as model.json has it
	truth, err := NewTruth(strings.Split("abcd", ""), rounded, nil, 0)
	require.NoError(t, err)
	require.Equal(t, 3, truth.Edges())
	for _, bad := range []Config{{Rows: []int{50}}, {Rows: []int{50, 50}}, {Rows: []int{90, 50}}, {Rows: []int{2, 50}}, {Tables: 1}, {Sensitivity: 1}, {Level: 2}} {
		_, err := bad.Resolve(4)
		require.Error(t, err, "%v", bad)
	}
}

// Shares of levels in closed form.
func TestLevelsAreDrawn(t *testing.T) {
	// Columns u, v of home; z of ill, cut at 0.5; x.
	p := mat.NewSymDense(4, []float64{1, 0, 0, -0.3, 0, 1, 0, 0.4, 0, 0, 1, -0.2, -0.3, 0.4, -0.2, 1})
	blocks := []data.Block{{Name: "home", First: 0, Width: 2, Levels: []string{"flat", "house", "tent"}}, {Name: "ill", First: 2, Width: 1, Levels: []string{"no", "yes"}}, {Name: "x", First: 3, Width: 1}}
	truth, err := NewLatentTruth(simulate.Gaussian{Mean: []float64{0.5, 0, 0, 0}, Precision: p}, blocks, [][]float64{nil, nil, {0.5}, nil}, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"home", "ill", "x"}, truth.Names)
	require.InDeltaSlice(t, []float64{0, 0.5, 0.2}, truth.Weights, 1e-12, "strength √(0.3² + 0.4²), partial correlation 0.2")

	const n = 40000
	table, err := Problem{Truth: truth, Gaps: Gaps{Share: 0.1}}.Draw(n, 0, 1)
	require.NoError(t, err)
	require.Equal(t, []data.Kind{data.Nominal, data.Binary, data.Number}, table.Kinds)
	require.Equal(t, [][]string{blocks[0].Levels, blocks[1].Levels, nil}, table.Levels)
	share := func(j int, level float64) float64 {
		x := table.Column(j)
		return float64(floats.Count(func(v float64) bool { return v == level }, x)) / float64(len(x))
	}
	sigma := testtables.Inverse(t, p)
	sd := func(j int) float64 { return math.Sqrt(sigma.At(j, j)) }
	require.InDelta(t, 1-distuv.UnitNormal.CDF(0.5/sd(2)), share(1, 1), 0.01)
	// Flat where u, v < 0, a house where −u, v − u < 0.
	su, sv, both := sd(0), sd(1), sigma.At(0, 1)
	apart := math.Sqrt(su*su + sv*sv - 2*both)
	require.InDelta(t, binormal.CDF(-0.5/su, 0, both/su/sv), share(0, 0), 0.01)
	require.InDelta(t, binormal.CDF(0.5/su, 0.5/apart, (su*su-both)/su/apart), share(0, 1), 0.01)

	few, err := Problem{Truth: truth, Gaps: Gaps{Share: 0.1}}.Draw(80, 0, 1)
	require.NoError(t, err)
	prepared, err := trainers.Prepare(few, trainers.Spec{Network: &regpath.Config{}, Steps: engine.Config{Method: "auto"}})
	require.NoError(t, err)
	require.Equal(t, "em-latent", prepared.Spec.Steps.Method)
}
