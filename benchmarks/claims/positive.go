package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Positive tests that a number, one of each replicate, is above 0 on average, as one of k
// tests of which none may be wrong.
func Positive(name string, values []float64, k int) Verdict {
	c := newComparison("", "", "", len(values), 0, func() estimate { return meanOf(values, Measure{}.level(k)) })
	v := Measure{}.decided(decide([]comparison{c}, positive), name, "")
	if c.few() {
		v.Evidence = fmt.Sprintf("%d replicates, %d are needed.", c.replicates, LeastReplicates)
	}
	return v
}

// Weakest is the verdict of several that all have to hold: the first that does not, else
// the undecided one, else the one that holds, whose interval reaches lowest.
func Weakest(verdicts []Verdict) Verdict {
	if len(verdicts) == 0 {
		return Verdict{Outcome: Undecided, Anytime: Undecided, Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	decides := verdicts[decisive(verdicts)].Outcome
	later := anytimeOf(verdicts)
	same := slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool { return v.Outcome != decides })
	v := slices.MinFunc(same, func(a, b Verdict) int { return cmp.Compare(a.Low, b.Low) })
	v.Anytime = later
	return v
}
