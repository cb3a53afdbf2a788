package claims_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// says is a test with a known end.
func says(o claims.Outcome) claims.Test {
	return func(cells.Results) (claims.Verdict, error) {
		return claims.Verdict{Outcome: o, Effect: 2, Low: 1, High: 3, Measure: "x"}, nil
	}
}

func TestReadingsTogether(t *testing.T) {
	holds, not, open := says(claims.Holds), says(claims.DoesNotHold), says(claims.Undecided)
	for _, c := range []struct {
		of   []claims.Test
		want claims.Outcome
	}{
		{[]claims.Test{holds, holds}, claims.Holds},
		{[]claims.Test{not, not}, claims.DoesNotHold},
		{[]claims.Test{holds, not}, claims.Depends},
		{[]claims.Test{not, open, holds}, claims.Depends},
		{[]claims.Test{holds, open}, claims.Undecided},
		{[]claims.Test{open, not}, claims.Undecided},
		{[]claims.Test{open}, claims.Undecided},
	} {
		var readings []claims.Reading
		var joint []claims.JointReading
		for _, test := range c.of {
			readings = append(readings, claims.Reading{Words: "r", Test: test})
			joint = append(joint, claims.JointReading{Words: "r", Joint: claims.Joint{Of: []string{"b", "a"}, Test: func(of map[string]cells.Results) (claims.Verdict, error) { return test(of["a"]) }}})
		}
		v, err := claims.Readings(readings...)(cells.Results{})
		require.NoError(t, err)
		require.Equal(t, c.want, v.Outcome)
		require.Equal(t, "r: x", v.Measure)
		require.Equal(t, 2.0, v.Effect)
		require.Len(t, v.Readings, len(c.of))
		together := claims.JointReadings(joint...)
		require.Equal(t, []string{"b", "a"}, together.Of)
		w, err := together.Test(nil)
		require.NoError(t, err)
		require.Equal(t, v, w)
	}
	v, err := claims.Readings(claims.Reading{"one", not}, claims.Reading{"other", holds}, claims.Reading{"third", not})(cells.Results{})
	require.NoError(t, err)
	require.Equal(t, "holds: other. does not hold: one; third", v.Listed())
	require.Equal(t, "holds: 1, does not hold: 2", v.Counted())
	require.Equal(t, "holds: other 2 [1, 3]. does not hold: one 2 [1, 3]; third 2 [1, 3]", v.Measured())
	v, err = claims.Readings(append(claims.WithEach("early", func(claims.Proposal) claims.Test { return not }),
		claims.WithEach("late", func(p claims.Proposal) claims.Test {
			return map[string]claims.Test{"iw": holds, "iw-unit": not}[p.Methods("iw")[0]]
		})...)...)(cells.Results{})
	require.NoError(t, err)
	require.Equal(t, "holds: late, proposal N(0, 16 I). does not hold: early, either proposal; late, proposal N(0, I)", v.Listed())
	v, err = claims.Readings(claims.WithEach("", func(claims.Proposal) claims.Test { return open })...)(cells.Results{})
	require.NoError(t, err)
	require.Equal(t, "undecided: all 2", v.Listed())
	fault := errors.New("no column")
	_, err = claims.Readings(claims.Reading{"one", func(cells.Results) (claims.Verdict, error) { return claims.Verdict{}, fault }})(cells.Results{})
	require.EqualError(t, err, "one: no column")
}

func TestProposals(t *testing.T) {
	r := claims.WithEach("support honoured", func(p claims.Proposal) claims.Test {
		return claims.Best(errorOf, []string{"var"}, p.Methods("iw", "em", "zeroed"), false)
	})
	require.Equal(t, "support honoured, proposal N(0, 16 I)", r[0].Words)
	require.Equal(t, "support honoured, proposal N(0, I)", r[1].Words)
	require.Equal(t, []string{"iw-unit", "var", "em-unit"}, claims.Proposals[1].Methods("iw", "var", "em"))
	// Marg-Var is ahead of the runs with one proposal, behind those with the other.
	of := planted(6, []string{"var", "iw", "em", "zeroed", "iw-unit", "em-unit"}, func(_ float64, replicate int, m string) float64 {
		size := map[string]float64{"var": 2, "iw-unit": 1, "em-unit": 1}[m]
		if size == 0 {
			size = 3
		}
		return size * math.Exp(noise(replicate+len(m)))
	})
	v, err := claims.Readings(r...)(of)
	require.NoError(t, err)
	require.Equal(t, claims.Depends, v.Outcome)
}

// Errors compared by differences: a's is 1 below b's everywhere, so the ratio widens where
// both fall and the difference does not.
func TestDifferencesOfErrors(t *testing.T) {
	of := planted(6, abc, func(x float64, replicate int, m string) float64 {
		return map[string]float64{"a": 0, "b": 1, "c": 1}[m] + 20/x + noise(replicate+int(m[0]))
	})
	m := errorOf
	m.Differences = true
	v, err := claims.Best(m, []string{"a"}, []string{"b"}, true)(of)
	require.NoError(t, err)
	require.Equal(t, claims.Holds, v.Outcome)
	require.InDelta(t, 1, v.Effect, 0.03)
	require.Contains(t, v.Measure, "error, b − a (above 0: a is the better)")
	slope := func(m claims.Measure) claims.Verdict {
		v, err := claims.Trend(m, "a", []string{"b"}, claims.Axis{Of: math.Log2, Unit: "per doubling"}, 1)(of)
		require.NoError(t, err)
		return v
	}
	require.Equal(t, claims.Holds, slope(errorOf).Outcome)
	require.Equal(t, claims.Undecided, slope(m).Outcome)
	require.Contains(t, slope(m).Measure, "change of the difference per doubling: error, b − a")
}
