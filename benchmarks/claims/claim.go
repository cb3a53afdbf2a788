package claims

import (
	"fmt"
	"math"
	"strings"

	"missingscore/benchmarks/cells"
)

// Claim is a sentence of the paper that states an outcome, with its test.
type Claim struct {
	ID    string
	Quote string // the paper's words
	Where string // section of the paper
	Test  Test
}

// Outcome of a claim.
type Outcome string

const (
	Holds       Outcome = "holds"
	DoesNotHold Outcome = "does not hold"
	Undecided   Outcome = "undecided"
	// Depends is a sentence that holds in one reading of what the paper leaves open and not
	// in another.
	Depends Outcome = "depends on what the paper leaves open"
)

// Verdict is what the cells run say about a claim: the effect that decides, paired
// over replicates, with its 95 % interval.
type Verdict struct {
	Outcome Outcome
	// Anytime is the outcome by intervals that hold at every number of replicates at once, so that
	// stopping when a look pleases does not make it wrong more often; empty where there are none.
	Anytime           Outcome
	Measure           string // what the effect is, in words, and its unit
	Effect, Low, High float64
	Replicates        int
	Evidence          string // one or two sentences: numbers per method, and why where it fails
	Readings          []Read // where the paper leaves something open
}

// Test is that of a Claim.
type Test = func(cells.Results) (Verdict, error)

// Interval is the effect as it is read; empty where there is none.
func (v Verdict) Interval() string {
	if math.IsNaN(v.Effect) || v.Outcome == Undecided && v.Low == v.High {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprintf("%.3g [%.3g, %.3g]", v.Effect, v.Low, v.High), "-", "−")
}
