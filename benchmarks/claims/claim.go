package claims

import "missingscore/benchmarks/cells"

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
)

// Verdict is what the cells run say about a claim: the effect that decides, paired
// over replicates, with its 95 % interval.
type Verdict struct {
	Outcome           Outcome
	Measure           string // what the effect is, in words, and its unit
	Effect, Low, High float64
	Replicates        int
	Evidence          string // one or two sentences: numbers per method, and why where it fails
}

// Test is that of a Claim.
type Test = func(cells.Results) (Verdict, error)
