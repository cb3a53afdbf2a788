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
		Test: whole(claims.Measure{Column: aucColumn, Name: "AUC"}, ours, "exact", func(_, law string) bool { return !mcar(law) })},
	{ID: "networks-default", Where: where, Quote: "Ours: the network that em-exact chooses by default, --penalty auto, is better than that of cglasso and of EM with the graphical lasso. [tested: F1 at the λ of EBIC, mean over all networks on R^d and laws, stars included]",
		Test: aheadOn(claims.Measure{Column: chosenColumn, Name: "F1"}, "em-exact, auto", "")},
	{ID: "networks-ridge-ahead", Where: where, Quote: "Ours: on random networks the order that --penalty ridge gives em-exact is better than that of cglasso and of EM with the graphical lasso. [tested: AUC, mean over all random networks on R^d and laws]",
		Test: aheadOn(claims.Measure{Column: aucColumn, Name: "AUC"}, ridge, "random")},
	{ID: "networks-ridge-100", Where: where, Quote: "Ours: of random networks of 100 columns it is as good as cglasso's. [tested: AUC, mean over the laws: cglasso is not ahead by more than the margin]",
		Test: claims.NoLead(claims.Measure{Column: aucColumn, Name: "AUC", Along: lawColumn, Where: map[string]string{networkColumn: "random 100"}}, "cglasso", []string{ridge})},
}

// ridge puts pairs in the order of the sizes of partial correlations.
const ridge = "em-exact, ridge"

// aheadOn tests that a method is better than cglasso and than EM with the graphical lasso, on
// average over the networks whose name begins so and the laws that both were run on.
func aheadOn(m claims.Measure, method, begins string) claims.Test {
	rivals := []string{"cglasso", "glasso"}
	m.Risk = 0.05 / float64(len(rivals))
	return func(r cells.Results) (claims.Verdict, error) {
		var verdicts []claims.Verdict
		for _, rival := range rivals {
			v, err := whole(m, method, rival, func(network, _ string) bool { return strings.HasPrefix(network, begins) })(r)
			if err != nil {
				return v, err
			}
			verdicts = append(verdicts, v)
		}
		return claims.Weakest(verdicts), nil
	}
}

func mcar(law string) bool { return strings.HasPrefix(law, "MCAR") }

func completelyAtRandom(m claims.Measure, rival string) claims.Test {
	return whole(m, ours, rival, func(_, law string) bool { return mcar(law) })
}

// settingColumn joins network and law, which a measure averages over within a replicate.
const settingColumn = "setting"

// whole tests that a method is better than a rival on average over the networks on R^d and the
// laws that both were run on.
func whole(m claims.Measure, method, rival string, of func(network, law string) bool) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		joined, err := settingsOf(r, []string{method, rival}, of)
		if err != nil {
			return claims.Verdict{}, err
		}
		m.Along = settingColumn
		return claims.Best(m, []string{method}, []string{rival}, false)(joined)
	}
}

// settingsOf are the lines of the settings on R^d that all of the methods were run on, with a
// column that names them.
func settingsOf(r cells.Results, methods []string, of func(network, law string) bool) (joined cells.Results, err error) {
	var at [3]int
	for i, name := range []string{networkColumn, lawColumn, "method"} {
		if at[i], err = r.Column(name); err != nil {
			return joined, err
		}
	}
	setting := func(line []string) string { return line[at[0]] + ", " + line[at[1]] }
	has := map[[2]string]bool{}
	for _, line := range r.Lines {
		has[[2]string{setting(line), line[at[2]]}] = true
	}
	joined.Columns = append(slices.Clone(r.Columns), settingColumn)
	for _, line := range r.Lines {
		lacks := func(method string) bool { return !has[[2]string{setting(line), method}] }
		if of(line[at[0]], line[at[1]]) && !strings.HasPrefix(line[at[0]], "truncated") && !slices.ContainsFunc(methods, lacks) {
			joined.Lines = append(joined.Lines, append(slices.Clone(line), setting(line)))
		}
	}
	return joined, nil
}
