package deciding

import (
	"slices"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/deciding/README.md"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "deciding-adaptive-auc", Where: where, Quote: "Ours: an adaptive penalty puts edges in better order than plain L1. [tested: AUC, mean over all settings]",
		Test: over(claims.Measure{Column: aucColumn, Name: "AUC"}, "adaptive, ebic", "l1, ebic", everything)},
	{ID: "deciding-auto-auc", Where: where, Quote: "Ours: the penalty auto puts edges in better order than plain L1. [tested: AUC, mean over all settings]",
		Test: over(claims.Measure{Column: aucColumn, Name: "AUC"}, "auto, ebic", "l1, ebic", everything)},
	{ID: "deciding-auto-f1", Where: where, Quote: "Ours: the network that EBIC chooses by the penalty auto is better than that by plain L1. [tested: F1, mean over all settings]",
		Test: over(claims.Measure{Column: f1Column, Name: "F1"}, "auto, ebic", "l1, ebic", everything)},
	{ID: "deciding-auto-star", Where: where, Quote: "Ours: on stars of equal weak edges the penalty auto finds edges as plain L1 does, which an adaptive one does not. [tested: AUC of auto and l1, each place; AUC of l1 above adaptive]",
		Test: claims.All(claims.Measure{Column: aucColumn, Name: "AUC"}, asL1OnStars, l1AheadOnStars)},
}

func everything(string) bool { return true }

// settingColumn joins graph and table, which a measure averages over within a replicate.
const settingColumn = "setting"

// over tests that a method is ahead of another on average over the settings of some graphs.
func over(m claims.Measure, ahead, rival string, of func(graph string) bool) claims.Test {
	return joined(m, of, func(m claims.Measure) claims.Test { return claims.Best(m, []string{ahead}, []string{rival}, false) })
}

func star(graph string) bool { return graph == "star" }

func asL1OnStars(m claims.Measure) claims.Test {
	return joined(m, star, func(m claims.Measure) claims.Test { return claims.Comparable(m, "auto, ebic", "l1, ebic") })
}

func l1AheadOnStars(m claims.Measure) claims.Test { return over(m, "l1, ebic", "adaptive, ebic", star) }

// joined is a test along settings, of the lines of some graphs.
func joined(m claims.Measure, of func(graph string) bool, test func(claims.Measure) claims.Test) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		graph, err := r.Column(graphColumn)
		if err != nil {
			return claims.Verdict{}, err
		}
		table, err := r.Column(tableColumn)
		if err != nil {
			return claims.Verdict{}, err
		}
		j := cells.Results{Columns: append(slices.Clone(r.Columns), settingColumn)}
		for _, line := range r.Lines {
			if of(line[graph]) {
				j.Lines = append(j.Lines, append(slices.Clone(line), line[graph]+", "+line[table]))
			}
		}
		m.Along = settingColumn
		return test(m)(j)
	}
}
