package reproduce

import (
	"slices"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/star"
	"missingscore/benchmarks/tables"
)

// Across are the sentences that compare experiments with each other. A new one is a line here.
var Across = slices.Concat(
	twice("dense-missing-less-clear", "… though not as clearly as in the previous example. [tested: its lead over each of the others is larger on the star]", "Unstructured Dense Graphical Model",
		func(treatment string) claims.Joint {
			return claims.Clearer(star.AUC("missing").With("treatment", treatment), "star-missing", "dense-missing", "var", []string{"iw", "em", "zeroed"})
		}),
	twice("naive-structured", "… highly structured graphs like star graphs are much more affected [by] naive marginalisation than unstructured graphs. [tested: Marg-Exact's lead over Zeroed is larger on the star]", "Untruncated Gaussian Model",
		func(treatment string) claims.Joint {
			return claims.Clearer(star.AUC("missing").With("treatment", treatment), "star-missing", "dense-missing", "exact", []string{"zeroed"})
		}),
	twice("em-iw-throughout", "… the performance of EM and Marg-IW being indistinguishable, a pattern we observe throughout our experiments. [tested: at every setting of each experiment]", "Non-Gaussian Estimation", emLikeIW),
	twice("conclusion-iw-small", "… IW performing best in lower dimensional settings with less data … [abstract: “especially strong performance in small sample lower dimensional cases”; tested: ahead of Marg-Var and Zeroed on both normal models, at the fewest columns of ica-dim and star-dim, and at the fewest rows of ica-n]", "Conclusion", iwSmall),
	twice("conclusion-var-large", "… and the variational approach performing best in more complicated higher dimensional settings. [abstract: “strongest in more complex high-dimensional settings”; tested: at the most columns of ica-dim and star-dim]", "Conclusion", varLarge),
)

// twice is a claim about stars tested with both treatments of their support.
func twice(id, quote, where string, test func(treatment string) claims.Joint) (both []claims.Across) {
	for _, t := range star.Tested {
		both = append(both, claims.Across{ID: id + t.ID, Quote: quote + t.Words, Where: where, Joint: test(t.Treatment)})
	}
	return both
}

// emLikeIW takes all experiments that have both.
func emLikeIW(treatment string) claims.Joint {
	cases := []claims.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher},
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns")},
		{Experiment: "ica-n", Measure: quartic.Parameters("rows")},
		{Experiment: "ica-missing", Measure: quartic.Parameters("missing")},
		{Experiment: "sp100", Measure: tables.AUC("closing")},
		{Experiment: "yeast", Measure: tables.AUC("segregants")},
	}
	for _, of := range [][2]string{{"star-missing", "missing"}, {"dense-missing", "missing"}, {"star-centres", "centres"}, {"star-dim", "columns"}, {"star-roc", ""}} {
		cases = append(cases, claims.Case{Experiment: of[0], Measure: star.AUC(of[1]).With("treatment", treatment)})
	}
	return claims.Each(cases, func(m claims.Measure) claims.Test { return claims.Comparable(m, "em", "iw") })
}

// best tests that the methods ahead are better than their rivals.
func best(ahead, rivals []string) func(claims.Measure) claims.Test {
	return func(m claims.Measure) claims.Test { return claims.Best(m, ahead, rivals, false) }
}

// iwSmall takes the small end of each experiment that varies the columns or the rows,
// and the normal models, of 10 columns, of which the paper says that Marg-IW is best. EM
// is no rival there: the paper calls it indistinguishable from Marg-IW.
func iwSmall(treatment string) claims.Joint {
	return claims.Each([]claims.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher},
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: claims.AtSmallest},
		{Experiment: "ica-n", Measure: quartic.Parameters("rows"), At: claims.AtSmallest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: claims.AtSmallest},
	}, best([]string{"iw"}, []string{"var", "zeroed"}))
}

// varLarge takes the large end of the experiments that vary the columns. The real tables,
// which have more, are left to their own claims: their replicates are gaps in one table,
// no sample of settings.
func varLarge(treatment string) claims.Joint {
	return claims.Each([]claims.Case{
		{Experiment: "ica-dim", Measure: quartic.Parameters("columns"), At: claims.AtLargest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", treatment), At: claims.AtLargest},
	}, best([]string{"var"}, []string{"iw", "em", "zeroed"}))
}
