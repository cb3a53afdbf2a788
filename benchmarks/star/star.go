// Package star is the paper's edge recovery on simulated networks (section "Gaussian
// Graphical Model Estimation"): stars, dense networks and several stars, the rows on
// one side of a random plane, and the AUC of the L1 path.
//
// The experiment as the paper describes it violates an assumption of its own lemma:
// where a half-space cuts missing cells their range moves with the observed ones, and
// the expected score is not the marginal score (domain.Tangent). So it is run in several
// treatments of the support:
//
//   - "literal" is the paper's: one g a row, which is 1 where the plane cuts a missing cell,
//     and draws of missing cells from all of R^d;
//   - "honoured" has g by coordinate, draws inside, and the tangential correction;
//   - "uncorrected" is between them: one g a row, draws inside, and no correction;
//   - "ignored" takes the support for all of R^d.
package star

import (
	_ "embed"
	"math"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
)

var (
	//go:embed star-missing.json
	starMissing []byte
	//go:embed dense-missing.json
	denseMissing []byte
	//go:embed collider-missing.json
	colliderMissing []byte
	//go:embed star-centres.json
	starCentres []byte
	//go:embed star-dim.json
	starDim []byte
	//go:embed star-roc.json
	starROC []byte
)

// others are the paper's rivals of Marg-Var.
var others = []string{"iw", "em", "zeroed"}

// AUC of the L1 path, of all treatments together.
func AUC(along string) claims.Measure {
	return claims.Measure{Column: "auc", Name: "AUC", Along: along}
}

// Readings are the treatments that claims are read with, the paper's first.
var Readings = []struct{ Treatment, Words string }{
	{"literal", "as the paper draws"},
	{"honoured", "support honoured"},
}

// read is a claim in each treatment and with each proposal.
func read(id, quote, where string, m claims.Measure, test func(claims.Measure, claims.Proposal) claims.Test) claims.Claim {
	var readings []claims.Reading
	for _, t := range Readings {
		readings = append(readings, claims.WithEach(t.Words, func(p claims.Proposal) claims.Test { return test(m.With("treatment", t.Treatment), p) })...)
	}
	return claims.Claim{ID: id, Quote: quote, Where: where, Test: claims.Readings(readings...)}
}

func varBest(m claims.Measure, p claims.Proposal) claims.Test {
	return claims.Best(m, []string{"var"}, p.Methods(others...), false)
}

// at makes a test of all places one of an end of them.
func at(end func(claims.Measure, func(claims.Measure) claims.Test) claims.Test, test func(claims.Measure, claims.Proposal) claims.Test) func(claims.Measure, claims.Proposal) claims.Test {
	return func(m claims.Measure, p claims.Proposal) claims.Test {
		return end(m, func(m claims.Measure) claims.Test { return test(m, p) })
	}
}

// Missing varies the missing probability on one star.
var Missing = harness.Experiment{
	Name: "star-missing", Title: "Star, truncated: missing probability",
	Source:   "section “Star Shaped Truncated Graphical Model” (figure ggm_starprec_varymiss)",
	Settings: starMissing, Grid: grid, Figures: lines,
	Claims: []claims.Claim{
		read("star-missing-var-best", "As we can see here Marg-Var performs best …", "Star Shaped Truncated Graphical Model", AUC("missing"), varBest),
		read("star-missing-others-comparable", "… with all other approaches performing comparably.", "Star Shaped Truncated Graphical Model", AUC("missing"),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.Comparable(m, p.Methods(others...)...)
			}),
	},
}

// Dense varies it on networks without structure.
var Dense = harness.Experiment{
	Name: "dense-missing", Title: "Dense network, truncated: missing probability",
	Source:   "section “Unstructured Dense Graphical Model” (figure ggm_one_varymiss)",
	Settings: denseMissing, Grid: grid, Figures: lines,
	Claims: []claims.Claim{read("dense-missing-var-best", "Again we can see that our variational approach performs best …", "Unstructured Dense Graphical Model", AUC("missing"), varBest)},
}

// Colliders varies it on a network on which ranking pairs by their correlations fails.
var Colliders = harness.Experiment{
	Name: "collider-missing", Title: "Colliders and a star, truncated: missing probability",
	Source:   "ours: on the paper's stars all edges are alike, and ranking by correlations finds them as well",
	Settings: colliderMissing, Grid: grid, Figures: lines,
	Claims: []claims.Claim{
		{ID: "collider-correlations", Quote: "Ours: where correlations mislead, score matching finds edges that ranking by correlations does not. [tested: Marg-Exact, support honoured, against pairwise correlations]", Where: "benchmarks/README.md",
			Test: claims.Best(AUC("missing").With("treatment", "honoured"), []string{"exact"}, []string{byMarginal}, false)},
		{ID: "collider-sizes", Quote: "Ours: there sizes of partial correlations order pairs better than pairwise ones, which no single distribution has. [tested: em-exact by its ridge order, support ignored, against pairwise partial correlations]", Where: "benchmarks/README.md",
			Test: claims.Best(AUC("missing").With("treatment", "honoured"), []string{completeRidge}, []string{byPartial}, false)},
	},
}

// Centres varies the number of star centres, the expected number of edges kept.
var Centres = harness.Experiment{
	Name: "star-centres", Title: "Increasing number of stars",
	Source:   "section “Increasing Number of Stars” (figure GGM_vary_centres), appendix “Varying Number of Star Centres” (figures star_marginalisation, 5star_marginalisation)",
	Settings: starCentres, Grid: grid, Figures: centreFigures,
	Claims: []claims.Claim{
		read("star-centres-lead-shrinks", "As we increase the number of star centres, Marg-Var no longer noticeably outperforms the other approaches. [tested: its lead shrinks, and at the most centres it is below the margin over one of them]", "Increasing Number of Stars", AUC("centres"),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.All(m, func(m claims.Measure) claims.Test {
					return claims.Trend(m, "var", p.Methods(others...), claims.Axis{Of: func(k float64) float64 { return k }, Unit: "per centre"}, -1)
				}, func(m claims.Measure) claims.Test {
					return claims.AtLargest(m, func(m claims.Measure) claims.Test { return claims.NoLead(m, "var", p.Methods(others...)) })
				})
			}),
		{
			ID: "star-centres-naive", Quote: "… in the 5 centre case, the naive marginalisation picks up most of the structure as there are fewer negative terms which it ignores and also lots of additional positive terms which it does successfully pick up.", Where: "Varying Number of Star Centres",
			Test: claims.Between(
				claims.Fact{Column: "naive_misses", Where: map[string]string{"centres": "1"}}, claims.Fact{Column: "naive_misses", Where: map[string]string{"centres": "5"}},
				"share of the true marginal precision that the naive one misses, 1 centre − 5 centres"),
		},
	},
}

// Dim varies the number of columns of a star.
var Dim = harness.Experiment{
	Name: "star-dim", Title: "Star, truncated: number of columns",
	Source:   "appendix “Varying Number of Dimensions” (figure GGM_vary_dim)",
	Settings: starDim, Grid: grid, Figures: lines,
	Claims: []claims.Claim{
		read("star-dim-high", "As we can see, for higher dimensions the variational approach clearly performs best …", "Varying Number of Dimensions", AUC("columns"),
			at(claims.AtLargest, varBest)),
		read("star-dim-low", "… however at lower dimensions the other approach catch up and even overtake it. [tested: its lead grows with the columns, and at the fewest each of the others is ahead]", "Varying Number of Dimensions", AUC("columns"),
			func(m claims.Measure, p claims.Proposal) claims.Test {
				return claims.All(m, func(m claims.Measure) claims.Test {
					return claims.Trend(m, "var", p.Methods(others...), claims.Axis{Of: math.Log2, Unit: "per doubling of the columns"}, 1)
				}, func(m claims.Measure) claims.Test {
					return claims.AtSmallest(m, func(m claims.Measure) claims.Test {
						return claims.Best(m, p.Methods(others...), []string{"var"}, false)
					})
				})
			}),
	},
}

// ROC draws the curves of the first runs.
var ROC = harness.Experiment{
	Name: "star-roc", Title: "Star, truncated: individual ROC curves",
	Source:   "appendix “Individual ROC Curves” (figure GGM_starprec_ROC)",
	Settings: starROC, Grid: grid, Figures: panels,
	Claims: []claims.Claim{read("star-roc-var-best", "We observe that Marg-Var has consistently the best ROC curves of any of the methods.", "Individual ROC Curves", AUC(""), varBest)},
}
