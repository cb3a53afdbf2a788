package claims_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// planted are results whose number for a method at a place is given; "-" where it is NaN.
func planted(replicates int, methods []string, value func(x float64, replicate int, method string) float64) cells.Results {
	r := cells.Results{Columns: []string{"columns", "replicate", "method", "error"}}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, x := range []float64{5, 10, 20} {
			for _, m := range methods {
				text := "-"
				if v := value(x, replicate, m); !math.IsNaN(v) {
					text = fmt.Sprint(v)
				}
				r.Lines = append(r.Lines, []string{fmt.Sprint(x), fmt.Sprint(replicate), m, "9 " + text})
			}
		}
	}
	return r
}

var (
	errorOf = claims.Measure{Column: "error", Name: "error", Smaller: true, Along: "columns"}
	abc     = []string{"a", "b", "c"}
)

// noise that differs between replicates by little, between methods not at all.
func noise(replicate int) float64 { return 0.01 * math.Sin(float64(7*replicate)) }

func TestVerdictsOfPlantedResults(t *testing.T) {
	level := func(a, b, c float64) cells.Results { // errors e^a …, with noise of methods' own
		own := map[string]float64{"a": a, "b": b, "c": c}
		return planted(6, abc, func(x float64, replicate int, m string) float64 {
			return math.Exp(own[m] + 3*noise(replicate) + noise(replicate+int(m[0])))
		})
	}
	near := func(replicates int, lead float64) cells.Results { // a's lead, within 0.02 of it
		return planted(replicates, abc, func(x float64, replicate int, m string) float64 {
			if m == "a" {
				return math.Exp(-lead + 2*noise(replicate))
			}
			return 1
		})
	}
	wobbling := func(replicates int) cells.Results { // a's lead, which neither grows nor shrinks
		return planted(replicates, abc, func(x float64, replicate int, m string) float64 {
			if m == "a" {
				return math.Exp(2 * noise(replicate+int(x)))
			}
			return 1
		})
	}
	overB := claims.Best(errorOf, []string{"a"}, []string{"b"}, false)
	growing := planted(6, abc, func(x float64, replicate int, m string) float64 {
		if m == "a" {
			return math.Exp(noise(replicate))
		}
		return math.Exp(0.3*math.Log2(x) + noise(replicate+1))
	})
	crossing := planted(6, abc, func(x float64, replicate int, m string) float64 { // a: as good as b on average
		if m == "a" {
			return math.Exp(0.5*math.Log2(x/10) + noise(replicate))
		}
		return math.Exp(noise(replicate + int(m[0])))
	})
	cancelling := func(at ...float64) cells.Results { // a's leads at the places, and noise of which the average is free
		return planted(6, abc, func(x float64, replicate int, m string) float64 {
			k := slices.Index([]float64{5, 10, 20}, x)
			if m != "a" {
				return 1
			}
			own := []float64{10 * noise(replicate), 10 * noise(replicate+3)}
			own = append(own, -own[0]-own[1])
			return math.Exp(-at[k] - own[k])
		})
	}
	noLead := func(m claims.Measure) claims.Test { return claims.NoLead(m, "a", []string{"b", "c"}) }
	ahead := func(a, b string) func(claims.Measure) claims.Test {
		return func(m claims.Measure) claims.Test {
			return claims.Best(m, []string{a}, []string{b}, false)
		}
	}
	log2 := claims.Axis{Of: math.Log2, Unit: "per doubling"}
	for name, c := range map[string]struct {
		test    claims.Test
		results cells.Results
		want    claims.Outcome
	}{
		"ahead of both":       {claims.Best(errorOf, []string{"a"}, []string{"b", "c"}, true), level(0, 0.5, 0.3), claims.Holds},
		"behind one":          {claims.Best(errorOf, []string{"a"}, []string{"b", "c"}, false), level(0, 0.5, -0.3), claims.DoesNotHold},
		"equal":               {claims.Best(errorOf, []string{"a"}, []string{"b", "c"}, false), level(0, 0.5, 0), claims.Undecided},
		"no lead to be seen":  {overB, near(8, 0.001), claims.DoesNotHold},
		"too few to say so":   {overB, near(7, 0.001), claims.Undecided},
		"a small lead":        {overB, near(8, 0.05), claims.Holds},
		"perhaps above 1.1":   {overB, planted(8, abc, func(_ float64, r int, m string) float64 { return math.Exp(30 * noise(r*int(m[0]))) }), claims.Undecided},
		"behind by little":    {overB, near(8, -0.05), claims.DoesNotHold},
		"ahead on average":    {claims.Best(errorOf, []string{"a"}, []string{"b"}, false), growing, claims.Holds},
		"comparable":          {claims.Comparable(errorOf, abc...), level(0, 0.03, -0.02), claims.Holds},
		"one apart":           {claims.Comparable(errorOf, abc...), level(0, 0.03, -0.4), claims.DoesNotHold},
		"opposite places":     {claims.Comparable(errorOf, "a", "b"), crossing, claims.DoesNotHold},
		"at one place only":   {claims.Comparable(errorOf, "a", "b"), cancelling(0, -2, 2), claims.DoesNotHold},
		"on average only":     {claims.Comparable(errorOf, "a", "b"), cancelling(0.15, 0.15, 0.15), claims.DoesNotHold},
		"nowhere for certain": {claims.Comparable(errorOf, "a", "b"), cancelling(0, 0, 0), claims.Undecided},
		"one place":           {claims.AtLargest(errorOf, func(m claims.Measure) claims.Test { return claims.Comparable(m, "b", "c") }), crossing, claims.Holds},
		"no lead over one":    {noLead(errorOf), level(0, 0.5, 0.03), claims.Holds},
		"a lead over both":    {noLead(errorOf), level(0, 0.5, 0.3), claims.DoesNotHold},
		"perhaps a lead":      {noLead(errorOf), level(0, 0.5, 0.1), claims.Undecided},
		"both parts":          {claims.All(errorOf, ahead("a", "b"), ahead("c", "b")), level(0, 0.5, 0.3), claims.Holds},
		"one part does not":   {claims.All(errorOf, ahead("a", "b"), ahead("a", "c")), level(0, 0.5, -0.3), claims.DoesNotHold},
		"one part undecided":  {claims.All(errorOf, ahead("a", "b"), ahead("a", "c")), level(0, 0.5, 0), claims.Undecided},
		"gap widens":          {claims.Trend(errorOf, "a", []string{"b", "c"}, log2, 1), growing, claims.Holds},
		"no gap, no trend":    {claims.Trend(errorOf, "a", []string{"b"}, log2, 1), near(8, 0.03), claims.DoesNotHold},
		"too few for a trend": {claims.Trend(errorOf, "a", []string{"b"}, log2, 1), wobbling(7), claims.Undecided},
		"a trend to nothing":  {claims.Trend(errorOf, "a", []string{"b"}, log2, 1), wobbling(8), claims.DoesNotHold},
		"gap does not close":  {claims.Trend(errorOf, "a", []string{"b", "c"}, log2, -1), growing, claims.DoesNotHold},
		"no method of a name": {claims.Best(errorOf, []string{"a"}, []string{"d"}, false), growing, claims.Undecided},
		"nothing run":         {claims.Comparable(errorOf, abc...), planted(0, abc, nil), claims.Undecided},
		"better at the end":   {claims.Against(errorOf, early(errorOf), "a", "b", "x"), growing, claims.Holds},
		"at the largest place": {claims.AtLargest(errorOf, func(m claims.Measure) claims.Test {
			return claims.Best(m, []string{"a"}, []string{"b"}, false)
		}), growing, claims.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := c.test(c.results)
			require.NoError(t, err)
			require.Equal(t, c.want, v.Outcome, "%+v", v)
			if v.Replicates > 0 {
				require.LessOrEqual(t, v.Low, v.Effect)
				require.LessOrEqual(t, v.Effect, v.High)
			}
		})
	}
}

func early(m claims.Measure) claims.Measure { m.Back = 1; return m }

// Leads 1 … 4 by AUC: mean 2.5, standard error √(5/3)/2, t(0.975; 3) = 3.182446
// (R: t.test(1:4)$conf.int gives 0.4457397432, 4.5542602568).
func TestIntervalOfAVerdict(t *testing.T) {
	r := leading([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4})
	v, err := claims.Best(aucOf, []string{"a"}, []string{"b"}, false)(r)
	require.NoError(t, err)
	require.InDelta(t, 2.5, v.Effect, 1e-12)
	require.InDelta(t, 0.4457397432, v.Low, 1e-9)
	require.InDelta(t, 4.5542602568, v.High, 1e-9)
	require.Equal(t, 4, v.Replicates)
	// R: t.test(1:4, conf.level = 1 - 0.05/2)$conf.int gives -0.1959416506, 5.1959416506.
	v, err = claims.Best(aucOf, []string{"a"}, []string{"b", "c"}, false)(r)
	require.NoError(t, err)
	require.InDelta(t, -0.1959416506, v.Low, 1e-9)
	require.Equal(t, claims.Undecided, v.Outcome)
}

func TestTooFewReplicatesDecideNothing(t *testing.T) {
	clear := func(n int) cells.Results {
		return planted(n, abc, func(x float64, replicate int, m string) float64 {
			if m == "a" {
				return 1
			}
			return 10 + noise(replicate)
		})
	}
	test := claims.Best(errorOf, []string{"a"}, []string{"b"}, false)
	for n := range 4 {
		v, err := test(clear(n))
		require.NoError(t, err)
		require.Equal(t, claims.Undecided, v.Outcome)
		require.True(t, math.IsNaN(v.Effect))
	}
	v, err := test(clear(4))
	require.NoError(t, err)
	require.Equal(t, claims.Holds, v.Outcome)
}

func TestARunThatDivergedLeavesItsReplicateOut(t *testing.T) {
	r := planted(6, abc, func(x float64, replicate int, m string) float64 {
		if replicate == 3 && m == "a" && x == 20 {
			return math.NaN()
		}
		return 1 + noise(replicate+int(m[0]))
	})
	v, err := claims.Best(errorOf, []string{"a"}, []string{"b"}, false)(r)
	require.NoError(t, err)
	require.Equal(t, 5, v.Replicates)
	require.Contains(t, v.Evidence, "1 replicates lack a number of either method.")
}

// The other replicates may be those in which the method did well.
func TestNothingHoldsForAMethodThatDiverged(t *testing.T) {
	r := planted(6, abc, func(x float64, replicate int, m string) float64 {
		if m == "a" && replicate == 3 && x == 20 || m == "c" && replicate == 4 {
			return math.NaN()
		}
		return map[string]float64{"a": 1, "b": 10, "c": 20}[m] + noise(replicate)
	})
	for _, c := range []struct {
		a, b string
		want claims.Outcome
	}{{"a", "b", claims.Undecided}, {"b", "a", claims.DoesNotHold}, {"b", "c", claims.Holds}} {
		v, err := claims.Best(errorOf, []string{c.a}, []string{c.b}, false)(r)
		require.NoError(t, err)
		require.Equal(t, c.want, v.Outcome)
		require.Equal(t, c.want == claims.Undecided, strings.Contains(v.Evidence, "It would hold, but for 1 replicates"))
	}
}

// Leads of 1 … 4 at one level for the average, at another for its parts.
func TestPartsShareTheRisk(t *testing.T) {
	r := leading([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4})
	part := func(m claims.Measure) claims.Test {
		return claims.Best(m, []string{"a"}, []string{"b"}, false)
	}
	v, err := claims.All(aucOf, part, part)(r) // R: t.test(1:4, conf.level = 1 - 0.05/2)$conf.int, as above
	require.NoError(t, err)
	require.InDelta(t, -0.1959416506, v.Low, 1e-9)
	require.Contains(t, v.Evidence, "The other part, AUC, a − b (above 0: a is the better): undecided, 2.5 [-0.196, 5.2].")
	// Half of the risk is for the places, three. R: qt(1 - 0.025/3/2, 3)
	v, err = claims.Comparable(aucOf, "a", "b")(r)
	require.NoError(t, err)
	require.Contains(t, v.Measure, "at columns 5")
	require.InDelta(t, 2.5+6.231543480*math.Sqrt(5./3)/2, v.High, 1e-8)
}

// 1, 2, 3, 4: mean 2.5, R: t.test(1:4)$conf.int 0.4457397 4.5542603.
func TestPositive(t *testing.T) {
	v := claims.Positive("x", []float64{1, 2, 3, 4}, 1)
	require.Equal(t, claims.Holds, v.Outcome)
	require.InDelta(t, 0.4457397, v.Low, 1e-6)
	require.Equal(t, claims.Undecided, claims.Positive("x", []float64{1, 2, 3, 4}, 3).Outcome, "three share the risk")
	require.Equal(t, claims.DoesNotHold, claims.Positive("x", []float64{-1, -2, -3, -4}, 1).Outcome)
	few := claims.Positive("x", []float64{1, 2, 3}, 1)
	require.Equal(t, claims.Undecided, few.Outcome)
	require.Equal(t, "3 replicates, 4 are needed.", few.Evidence)
	clear := claims.Positive("y", []float64{8, 9, 10, 11}, 1)
	require.Equal(t, v, claims.Weakest([]claims.Verdict{clear, v}))
	require.Equal(t, few.Outcome, claims.Weakest([]claims.Verdict{clear, few}).Outcome)
	require.Equal(t, claims.Undecided, claims.Weakest(nil).Outcome)
}

func TestNumbersWithinReplicates(t *testing.T) {
	r := planted(2, abc, func(x float64, replicate int, m string) float64 {
		if m == "c" && replicate == 2 {
			return math.NaN()
		}
		return float64(replicate) + map[string]float64{"a": 0, "b": 1, "c": 2}[m]
	})
	n, err := claims.Measure{Column: "error"}.With("columns", "10").Read(r)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2}, n.Of("", "a"))
	require.Equal(t, []float64{3}, n.Of("", "c"))
	require.Equal(t, []float64{2}, claims.Differences(n, "c", n, "a"))
	require.Equal(t, []float64{2, 1.5}, claims.Ratios(n, "b", n, "a"))
}

// Leads of 1 … 4, with a half width of 2.05 by Student's t and of 3.6 at every look: what holds
// and what does not, and each way of putting tests together, by both intervals.
func TestVerdictAtAnyLook(t *testing.T) {
	near, far := []float64{1, 2, 3, 4}, []float64{8, 9, 10, 11}
	r := leading(near, far)
	ahead := func(a, b string) claims.Test { return claims.Best(aucOf, []string{a}, []string{b}, false) }
	part := func(a, b string) func(claims.Measure) claims.Test {
		return func(m claims.Measure) claims.Test { return claims.Best(m, []string{a}, []string{b}, false) }
	}
	wide := aucOf
	wide.Margin = 5
	each := func(a string, bs ...string) claims.Test {
		var cases []claims.Case
		of := map[string]cells.Results{}
		for i := range bs {
			cases, of[fmt.Sprint(i)] = append(cases, claims.Case{Experiment: fmt.Sprint(i), Measure: aucOf}), r
		}
		k := 0
		return func(cells.Results) (claims.Verdict, error) {
			return claims.Each(cases, func(m claims.Measure) claims.Test { k++; return part(a, bs[k-1])(m) }).Test(of)
		}
	}
	for name, c := range map[string]struct {
		test          claims.Test
		once, anytime claims.Outcome
	}{
		"clear":             {ahead("a", "c"), claims.Holds, claims.Holds},
		"clearly not":       {ahead("c", "a"), claims.DoesNotHold, claims.DoesNotHold},
		"by one look":       {ahead("a", "b"), claims.Holds, claims.Undecided},
		"not by one look":   {ahead("b", "a"), claims.DoesNotHold, claims.Undecided},
		"no lead, wide":     {claims.NoLead(wide, "a", []string{"b"}), claims.Holds, claims.Undecided},
		"a lead, narrow":    {claims.NoLead(aucOf, "a", []string{"c"}), claims.DoesNotHold, claims.DoesNotHold},
		"apart":             {claims.AtLargest(aucOf, func(m claims.Measure) claims.Test { return claims.Comparable(m, "a", "c") }), claims.DoesNotHold, claims.DoesNotHold},
		"apart by one look": {claims.AtLargest(aucOf, func(m claims.Measure) claims.Test { return claims.Comparable(m, "a", "b") }), claims.DoesNotHold, claims.Undecided},
		"parts":             {claims.All(aucOf, part("a", "c"), part("b", "c")), claims.Holds, claims.Holds},
		"a part not":        {claims.All(aucOf, part("a", "c"), part("c", "b")), claims.DoesNotHold, claims.DoesNotHold},
		"each":              {each("a", "c", "c"), claims.Holds, claims.Holds},
		"each, one not":     {each("b", "c", "a"), claims.Undecided, claims.Undecided},
		"readings":          {claims.Readings(claims.Reading{"one", ahead("a", "b")}, claims.Reading{"other", ahead("c", "a")}), claims.Depends, claims.Undecided},
		"readings, clear":   {claims.Readings(claims.Reading{"one", ahead("a", "c")}, claims.Reading{"other", ahead("c", "a")}), claims.Depends, claims.Depends},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := c.test(r)
			require.NoError(t, err)
			require.Equal(t, c.once, v.Outcome)
			require.Equal(t, c.anytime, v.Anytime)
		})
	}
	require.Equal(t, claims.Undecided, claims.Positive("x", near, 1).Anytime)
	require.Equal(t, claims.Holds, claims.Positive("x", far, 1).Anytime)
	require.Equal(t, claims.Undecided, claims.Weakest([]claims.Verdict{claims.Positive("x", near, 1), claims.Positive("x", far, 1)}).Anytime)
	without := claims.Positive("x", far, 1)
	without.Anytime = ""
	require.Empty(t, claims.Weakest([]claims.Verdict{claims.Positive("x", far, 1), without}).Anytime)

	// Nothing holds for a method that diverged, by either interval.
	v, err := ahead("a", "c")(astray(leading(append(near, 5), append(far, 12))))
	require.NoError(t, err)
	require.Equal(t, claims.Undecided, v.Anytime, v.Evidence)
}
