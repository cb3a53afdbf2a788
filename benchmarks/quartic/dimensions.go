package quartic

import (
	"math"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// Across are the sentences on the number of columns. They are read on the cells of Dim, at each
// epoch, and on those of Penalised that were stopped by rows held out; Penalised has 10 and 20
// columns, 1000 rows and half of the cells missing alone, so that sentences on rows and on missing
// probabilities have no such reading.
var Across = []claims.Across{
	onColumns("ica-dim-var-best", "Our variational method (Marg-Var) consistently yields the lowest error.", false,
		func(m claims.Measure, of named) claims.Test {
			return claims.Best(m, of("var"), of(others...), true)
		}),
	onColumns("ica-dim-gap-widens", "Moreover, as the dimensionality increases, the performance gap between Marg-Var and the other methods widens.", true,
		func(m claims.Measure, of named) claims.Test {
			return claims.Trend(m, of("var")[0], of(others...), claims.Axis{Of: math.Log2, Unit: "per doubling of the columns"}, 1)
		}),
	onColumns("ica-dim-others-comparable", "We note that all other methods perform comparably …", false,
		func(m claims.Measure, of named) claims.Test {
			return claims.Comparable(m, of(others...)...)
		}),
	onColumns("ica-dim-em-iw", "… with the performance of EM and Marg-IW being indistinguishable, a pattern we observe throughout our experiments.", false,
		func(m claims.Measure, of named) claims.Test {
			return claims.Comparable(m, of("iw", "em")...)
		}),
}

// named gives the names of methods' runs in a reading.
type named func(methods ...string) []string

// stopped are the names of runs of Penalised that rows held out stopped.
func stopped(methods ...string) (names []string) {
	for _, m := range methods {
		names = append(names, m+", "+heldOut)
	}
	return names
}

// onColumns is a sentence by each measure, epoch and proposal, and at held-out stopping, with the
// one proposal that Penalised has. A gap may be a ratio or a difference.
func onColumns(id, quote string, gap bool, test func(claims.Measure, named) claims.Test) claims.Across {
	epochs, held := Dimensions(), stoppedMeasures()
	if gap {
		epochs, held = differences(epochs), differences(held)
	}
	var readings []claims.JointReading
	add := func(experiment, words string, further bool, t claims.Test) {
		readings = append(readings, claims.JointReading{Words: words, Further: further, Joint: claims.Joint{Of: []string{experiment},
			Test: func(of map[string]cells.Results) (claims.Verdict, error) { return t(of[experiment]) }}})
	}
	for _, m := range epochs {
		for _, p := range claims.Proposals {
			add(Dim.Name, m.Name+", "+p.Words, false, test(m, p.Methods))
		}
	}
	unit := claims.Proposals[1]
	for _, m := range held {
		add(Penalised.Name, m.Name+", "+unit.Words, true, test(m, stopped))
	}
	return claims.Across{ID: id, Quote: quote, Where: section, Joint: claims.JointReadings(readings...)}
}
