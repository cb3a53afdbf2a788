package networks

import (
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/networks/README.md"

// ours is the method that sentences are about.
const ours = "em-exact"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "networks-auc-exact", Where: where, Quote: "Ours: completely at random em-exact finds edges better than exact. [tested: AUC, mean over all networks on R^d]",
		Test: completelyAtRandom(claims.Measure{Column: aucColumn, Name: "AUC"}, "exact")},
	{ID: "networks-auc-glasso", Where: where, Quote: "Ours: completely at random em-exact finds edges better than EM and the graphical lasso. [tested: AUC, mean over all networks on R^d]",
		Test: completelyAtRandom(claims.Measure{Column: aucColumn, Name: "AUC"}, "glasso")},
	{ID: "networks-auc-cglasso", Where: where, Quote: "Ours: completely at random em-exact finds edges better than cglasso. [tested: AUC, mean over all networks on R^d]",
		Test: completelyAtRandom(claims.Measure{Column: aucColumn, Name: "AUC"}, "cglasso")},
	{ID: "networks-precision-exact", Where: where, Quote: "Ours: completely at random the precision of em-exact is nearer to the truth than that of exact. [tested: ‖P̂ − P‖/‖P‖ at the λ of EBIC, all networks on R^d]",
		Test: completelyAtRandom(claims.Measure{Column: errorColumn, Name: "error of the precision", Smaller: true}, "exact")},
	{ID: "networks-precision-glasso", Where: where, Quote: "Ours: completely at random the precision of em-exact is nearer to the truth than that of EM and the graphical lasso. [tested: ‖P̂ − P‖/‖P‖ at the λ of EBIC, all networks on R^d]",
		Test: completelyAtRandom(claims.Measure{Column: errorColumn, Name: "error of the precision", Smaller: true}, "glasso")},
	{ID: "networks-mar-exact", Where: where, Quote: "Ours: at random em-exact finds edges better than exact. [tested: AUC, mean over all networks on R^d and laws]",
		Test: whole(claims.Measure{Column: aucColumn, Name: "AUC"}, "exact", func(law string) bool { return !mcar(law) })},
}

func mcar(law string) bool { return strings.HasPrefix(law, "MCAR") }

func completelyAtRandom(m claims.Measure, rival string) claims.Test { return whole(m, rival, mcar) }

// settingColumn joins network and law, which a measure averages over within a replicate.
const settingColumn = "setting"

// whole tests that ours is better than the rival on average over the networks and laws that
// both were run on, of those on R^d.
func whole(m claims.Measure, rival string, of func(law string) bool) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		joined, err := settingsOf(r, rival, of)
		if err != nil {
			return claims.Verdict{}, err
		}
		m.Along = settingColumn
		return claims.Best(m, []string{ours}, []string{rival}, false)(joined)
	}
}

// settingsOf are the lines of the settings that the rival was run on, with a column that names them.
func settingsOf(r cells.Results, rival string, of func(law string) bool) (joined cells.Results, err error) {
	var at [3]int
	for i, name := range []string{networkColumn, lawColumn, "method"} {
		if at[i], err = r.Column(name); err != nil {
			return joined, err
		}
	}
	setting := func(line []string) string { return line[at[0]] + ", " + line[at[1]] }
	rivals := map[string]bool{}
	for _, line := range r.Lines {
		if line[at[2]] == rival {
			rivals[setting(line)] = true
		}
	}
	joined.Columns = append(slices.Clone(r.Columns), settingColumn)
	for _, line := range r.Lines {
		if of(line[at[1]]) && rivals[setting(line)] && !strings.HasPrefix(line[at[0]], "truncated") {
			joined.Lines = append(joined.Lines, append(slices.Clone(line), setting(line)))
		}
	}
	return joined, nil
}
