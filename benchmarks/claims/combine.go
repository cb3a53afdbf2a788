package claims

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
)

// All tests the parts of a sentence: it holds where all do, and does not where one does
// not. They share the risk.
func All(m Measure, parts ...func(Measure) Test) Test {
	return func(r cells.Results) (Verdict, error) {
		var verdicts []Verdict
		var others []string
		for _, part := range parts {
			v, err := part(m.share(len(parts)))(r)
			if err != nil {
				return v, err
			}
			verdicts = append(verdicts, v)
		}
		decides := decisive(verdicts)
		for i, v := range verdicts {
			if i != decides {
				others = append(others, fmt.Sprintf(" The other part, %s: %s, %.3g [%.3g, %.3g].", v.Measure, v.Outcome, v.Effect, v.Low, v.High))
			}
		}
		v := verdicts[decides]
		v.Anytime = anytimeOf(verdicts)
		v.Evidence += strings.Join(others, "")
		return v, nil
	}
}

// decisive is the first verdict that does not hold, else the first undecided, else the first.
func decisive(verdicts []Verdict) int {
	for _, o := range []Outcome{DoesNotHold, Undecided} {
		if i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Outcome == o }); i >= 0 {
			return i
		}
	}
	return 0
}

// anytimeOf is the outcome of all together by the intervals that hold at every look; empty where
// one has none.
func anytimeOf(verdicts []Verdict) Outcome {
	for _, o := range []Outcome{"", DoesNotHold, Undecided} {
		if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Anytime == o }) {
			return o
		}
	}
	return Holds
}

// AtLargest makes a test at the largest place only.
func AtLargest(m Measure, test func(Measure) Test) Test { return atEnd(m, slices.Max, test) }

// AtSmallest makes a test at the smallest place only.
func AtSmallest(m Measure, test func(Measure) Test) Test { return atEnd(m, slices.Min, test) }

func atEnd(m Measure, end func([]float64) float64, test func(Measure) Test) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := m.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		x, err := n.Positions(m.Along)
		if err != nil {
			return Verdict{}, err
		}
		if len(x) == 0 {
			return test(m)(r)
		}
		at := n.Places[slices.Index(x, end(x))]
		v, err := test(m.With(m.Along, at))(r)
		v.Measure += fmt.Sprintf(" at %s %s", m.Along, at)
		return v, err
	}
}
