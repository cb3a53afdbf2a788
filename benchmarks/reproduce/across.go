package reproduce

import (
	"slices"

	"missingscore/benchmarks"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/star"
	"missingscore/benchmarks/tables"
)

// Across are the sentences that compare experiments with each other. A new one is a line here.
var Across = slices.Concat(
	twice("dense-missing-less-clear", "… though not as clearly as in the previous example. [tested: its lead over each of the others is larger on the star]", "Unstructured Dense Graphical Model",
		func(treatment string) benchmarks.Joint {
			return benchmarks.Clearer(star.AUC("missing").With("treatment", treatment), "star-missing", "dense-missing", "var", []string{"iw", "em", "zeroed"})
		}),
	twice("naive-structured", "… highly structured graphs like star graphs are much more affected [by] naive marginalisation than unstructured graphs. [tested: Marg-Exact's lead over Zeroed is larger on the star]", "Untruncated Gaussian Model",
		func(treatment string) benchmarks.Joint {
			return benchmarks.Clearer(star.AUC("missing").With("treatment", treatment), "star-missing", "dense-missing", "exact", []string{"zeroed"})
		}),
	twice("em-iw-throughout", "… the performance of EM and Marg-IW being indistinguishable, a pattern we observe throughout our experiments. [tested: at every setting of each experiment]", "Non-Gaussian Estimation", emLikeIW),
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

// emLikeIW takes all experiments that have both.
func emLikeIW(treatment string) benchmarks.Joint {
	cases := []benchmarks.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher},
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns")},
		{Experiment: "ica-n", Measure: quartic.Parameters("rows")},
		{Experiment: "ica-missing", Measure: quartic.Parameters("missing")},
		{Experiment: "sp100", Measure: tables.AUC("closing")},
		{Experiment: "yeast", Measure: tables.AUC("segregants")},
	}
	for _, of := range [][2]string{{"star-missing", "missing"}, {"dense-missing", "missing"}, {"star-centres", "centres"}, {"star-dim", "columns"}, {"star-roc", ""}} {
		cases = append(cases, benchmarks.Case{Experiment: of[0], Measure: star.AUC(of[1]).With("treatment", treatment)})
	}
	return benchmarks.Each(cases, func(m benchmarks.Measure) benchmarks.Test { return benchmarks.Comparable(m, "em", "iw") })
}

// best tests that the methods ahead are better than their rivals.
func best(ahead, rivals []string) func(benchmarks.Measure) benchmarks.Test {
	return func(m benchmarks.Measure) benchmarks.Test { return benchmarks.Best(m, ahead, rivals, false) }
}

// iwSmall takes the small end of each experiment that varies the columns or the rows,
// and the normal models, of 10 columns, of which the paper says that Marg-IW is best. EM
// is no rival there: the paper calls it indistinguishable from Marg-IW.
func iwSmall(treatment string) benchmarks.Joint {
	return benchmarks.Each([]benchmarks.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher},
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: benchmarks.AtSmallest},
		{Experiment: "ica-n", Measure: quartic.Parameters("rows"), At: benchmarks.AtSmallest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: benchmarks.AtSmallest},
	}, best([]string{"iw"}, []string{"var", "zeroed"}))
}

// varLarge takes the large end of the experiments that vary the columns. The real tables,
// which have more, are left to their own claims: their replicates are gaps in one table,
// no sample of settings.
func varLarge(treatment string) benchmarks.Joint {
	return benchmarks.Each([]benchmarks.Case{
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: benchmarks.AtLargest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: benchmarks.AtLargest},
	}, best([]string{"var"}, []string{"iw", "em", "zeroed"}))
}
