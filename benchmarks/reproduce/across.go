package reproduce

import (
	"slices"

	"missingscore/benchmarks"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/star"
)

// Across are the sentences that compare experiments with each other. A new one is a line here.
var Across = slices.Concat(
	twice("dense-missing-less-clear", "… though not as clearly as in the previous example. [tested: its lead over each of the others is larger on the star]", "Unstructured Dense Graphical Model",
		func(treatment string) benchmarks.Joint {
			return benchmarks.Clearer(star.AUC("missing").With("treatment", treatment), "star-missing", "dense-missing", "var", []string{"iw", "em", "zeroed"})
		}),
	twice("conclusion-iw-small", "… IW performing best in lower dimensional settings with less data … [abstract: “especially strong performance in small sample lower dimensional cases”; tested: ahead of Marg-Var and Zeroed on both normal models, at the fewest columns of ica-dim and star-dim, and at the fewest rows of ica-n]", "Conclusion", iwSmall),
	twice("conclusion-var-large", "… and the variational approach performing best in more complicated higher dimensional settings. [abstract: “strongest in more complex high-dimensional settings”; tested: at the most columns of ica-dim and star-dim]", "Conclusion", varLarge),
)

// twice is a claim about stars tested with both treatments of their support.
func twice(id, quote, where string, test func(treatment string) benchmarks.Joint) (claims []benchmarks.Across) {
	for _, t := range star.Tested {
		claims = append(claims, benchmarks.Across{ID: id + t.ID, Quote: quote + t.Words, Where: where, Joint: test(t.Treatment)})
	}
	return claims
}

// iwSmall takes the small end of each experiment that varies the columns or the rows,
// and the normal models, of 10 columns, of which the paper says that Marg-IW is best. EM
// is no rival there: the paper calls it indistinguishable from Marg-IW.
func iwSmall(treatment string) benchmarks.Joint {
	return benchmarks.BestIn([]benchmarks.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher},
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: benchmarks.AtSmallest},
		{Experiment: "ica-n", Measure: quartic.Parameters("rows"), At: benchmarks.AtSmallest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: benchmarks.AtSmallest},
	}, []string{"iw"}, []string{"var", "zeroed"})
}

// varLarge takes the large end of the experiments that vary the columns. The real tables,
// which have more, are left to their own claims: their replicates are gaps in one table,
// no sample of settings.
func varLarge(treatment string) benchmarks.Joint {
	return benchmarks.BestIn([]benchmarks.Case{
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: benchmarks.AtLargest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: benchmarks.AtLargest},
	}, []string{"var"}, []string{"iw", "em", "zeroed"})
}
