package quartic

import (
	"encoding/json"
	"fmt"
	"slices"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/training"
)

// epochs are those that sentences are read at. The paper gives none: by 50 all methods fit
// the rows more closely than the truth, and 7 to 15 is where most are nearest to it.
var epochs = []int{50, 15, 7}

// Dimensions are the measures of Dim: the two
// that the paper names, at each of the epochs, first the error of the parameters, which its
// text names. The caption of its figures says Fisher divergence.
func Dimensions() []claims.Measure { return measures(dim, "columns") }

// Sizes are the measures of Rows.
func Sizes() []claims.Measure { return measures(rows, "rows") }

// Probabilities are the measures of Missing.
func Probabilities() []claims.Measure { return measures(missing, "missing") }

// errors are the two measures, by column.
var errors = []struct{ column, words string }{{"quartic_error", "error of the parameters"}, {"fisher_divergence", "Fisher divergence"}}

// whenStopped are the words for held-out stopping.
const whenStopped = ", stopped by rows held out"

// after are the words for an epoch.
func after(epoch int) string { return fmt.Sprintf(" after epoch %d", epoch) }

// stoppedMeasures are those of Penalised, at the end of a fit.
func stoppedMeasures() (all []claims.Measure) {
	for _, e := range errors {
		all = append(all, claims.Measure{Column: e.column, Name: e.words + whenStopped, Smaller: true, Along: "columns"})
	}
	return all
}

func measures(settings []byte, along string) (all []claims.Measure) {
	for _, e := range errors {
		for _, epoch := range epochs {
			all = append(all, claims.Measure{Column: e.column, Name: e.words + after(epoch), Smaller: true, Along: along, Back: back(settings, epoch)})
		}
	}
	return all
}

// back is how many places before the last an epoch stands in the traces of a full-size run.
func back(text []byte, epoch int) int {
	var s struct{ Full struct{ Epochs int } }
	if err := json.Unmarshal(text, &s); err != nil {
		panic(fmt.Sprintf("the settings built in are not JSON: %v", err))
	}
	at := training.Epochs(s.Full.Epochs)
	return len(at) - 1 - slices.Index(at, epoch)
}

// read is a claim by each measure and with each proposal.
func read(id, quote, where string, measures []claims.Measure, test func(claims.Measure, claims.Proposal) claims.Test) claims.Claim {
	var readings []claims.Reading
	for _, m := range measures {
		readings = append(readings, claims.WithEach(m.Name, func(p claims.Proposal) claims.Test { return test(m, p) })...)
	}
	return claims.Claim{ID: id, Quote: quote, Where: where, Test: claims.Readings(readings...)}
}

// The words for the two ways to compare errors.
const byRatio, byDifference = " (ratio)", " (difference)"

// differences are the measures compared by differences as well as by ratios.
func differences(measures []claims.Measure) (both []claims.Measure) {
	for _, m := range measures {
		ratio, difference := m, m
		ratio.Name += byRatio
		difference.Name += byDifference
		difference.Differences = true
		both = append(both, ratio, difference)
	}
	return both
}
