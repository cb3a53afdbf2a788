package quartic

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/benchmarks/claims"
)

// Signs are the readings of a sentence in a small table: a line for each error, and for ratios
// and differences where the sentence is about gaps; a column for each epoch and for held-out
// stopping. A cell has one sign for each of claims.Proposals: + where the sentence holds, − where
// it does not, ? where that is undecided and · where it has not been run. Readings that are not
// by epoch and proposal have no lines.
func Signs(readings []claims.Read) (header []string, lines [][]string) {
	header = []string{"measured by"}
	var when []string
	for _, epoch := range slices.Backward(epochs) {
		header, when = append(header, fmt.Sprintf("epoch %d", epoch)), append(when, after(epoch))
	}
	header, when = append(header, "held out"), append(when, whenStopped)
	for _, e := range errors {
		for _, kind := range []string{"", byRatio, byDifference} {
			line := []string{e.words + kind}
			for _, w := range when {
				line = append(line, signs(readings, e.words+w+kind))
			}
			if slices.ContainsFunc(line[1:], func(cell string) bool { return strings.ContainsAny(cell, "+−?") }) {
				lines = append(lines, line)
			}
		}
	}
	return header, lines
}

// signs of the readings whose words begin so, one for each proposal.
func signs(readings []claims.Read, words string) string {
	of := map[claims.Outcome]string{claims.Holds: "+", claims.DoesNotHold: "−", claims.Undecided: "?"}
	var cell []string
	for _, p := range claims.Proposals {
		sign := "·"
		if k := slices.IndexFunc(readings, func(r claims.Read) bool { return r.Words == words+", "+p.Words }); k >= 0 {
			sign = of[readings[k].Outcome]
		}
		cell = append(cell, sign)
	}
	return strings.Join(cell, " ")
}
