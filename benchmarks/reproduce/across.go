package reproduce

import (
	"slices"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/star"
	"missingscore/benchmarks/tables"
)

// Across are the sentences that more than one experiment is needed for.
var Across = slices.Concat(quartic.Across, between)

// between are those that compare experiments with each other. A new one is a line here.
var between = []claims.Across{
	inEach("dense-missing-less-clear", "… though not as clearly as in the previous example. [tested: its lead over each of the others is larger on the star]", "Unstructured Dense Graphical Model",
		func(r reading) claims.Joint {
			return claims.Clearer(star.AUC("missing").With("treatment", r.treatment), "star-missing", "dense-missing", "var", r.Methods("iw", "em", "zeroed"))
		}),
	inEach("naive-structured", "… highly structured graphs like star graphs are much more affected [by] naive marginalisation than unstructured graphs. [tested: Marg-Exact's lead over Zeroed is larger on the star]", "Untruncated Gaussian Model",
		func(r reading) claims.Joint {
			return claims.Clearer(star.AUC("missing").With("treatment", r.treatment), "star-missing", "dense-missing", "exact", []string{"zeroed"})
		}),
	inEach("em-iw-throughout", "… the performance of EM and Marg-IW being indistinguishable, a pattern we observe throughout our experiments. [tested: at every setting of each experiment]", "Non-Gaussian Estimation", emLikeIW),
	inEach("conclusion-iw-small", "… IW performing best in lower dimensional settings with less data … [abstract: “especially strong performance in small sample lower dimensional cases”; tested: ahead of Marg-Var and Zeroed on both normal models, at the fewest columns of ica-dim and star-dim, and at the fewest rows of ica-n]", "Conclusion", iwSmall),
	inEach("conclusion-var-large", "… and the variational approach performing best in more complicated higher dimensional settings. [abstract: “strongest in more complex high-dimensional settings”; tested: at the most columns of ica-dim and star-dim]", "Conclusion", varLarge),
	{ID: "variw-error", Quote: "Ours: Marg-VarIW is within 3 % of Marg-Exact, or ahead of it, on every Gaussian setting. [tested: Fisher divergence on both normal models, the truncated one with either form of g; Marg-Exact is not ahead by more]", Where: ourWords, Joint: variwError()},
	{ID: "variw-networks", Quote: "Ours: and so it is on the networks. [tested: AUC, support honoured, mean over the settings of each experiment; Marg-Exact is not ahead by more than 0.02, which is less than 3 % of an AUC above 0.67]", Where: ourWords, Joint: variwNetworks()},
}

const ourWords = "benchmarks/README.md"

// reading is one way to take what the paper leaves open, in all experiments at once.
type reading struct {
	words string
	claims.Proposal
	treatment string // of the networks' support
	weight    string // of the truncated normal
	quartic   int    // which of quartic.Measures
}

// readings are the paper's words, and then each of what they leave open taken otherwise.
func readings() (all []reading) {
	for _, p := range claims.Proposals {
		all = append(all,
			reading{p.Words, p, "literal", "row", 0},
			reading{p.Words + ", support honoured, one g a cell", p, "honoured", "cell", 0},
			reading{p.Words + ", the quartic model by Fisher divergence after epoch 15", p, "literal", "row", 4})
	}
	return all
}

// inEach is a sentence tested in each reading.
func inEach(id, quote, where string, test func(reading) claims.Joint) claims.Across {
	var all []claims.JointReading
	for _, r := range readings() {
		all = append(all, claims.JointReading{Words: r.words, Joint: test(r)})
	}
	return claims.Across{ID: id, Quote: quote, Where: where, Joint: claims.JointReadings(all...)}
}

// normal are the cases of the two normal models.
func (r reading) normal() []claims.Case {
	return []claims.Case{
		{Experiment: "normal-truncated", Measure: normal.Fisher.With("weight", r.weight)},
		{Experiment: "normal", Measure: normal.Fisher},
	}
}

// simulated are the experiments that find simulated networks, with what varies in them.
var simulated = [][2]string{{"star-missing", "missing"}, {"dense-missing", "missing"}, {"star-centres", "centres"}, {"star-dim", "columns"}, {"star-roc", ""}}

// atExact tests that Marg-Exact does not lead Marg-VarIW by more than a margin.
func atExact(margin float64) func(claims.Measure) claims.Test {
	return func(m claims.Measure) claims.Test {
		m.Margin = margin
		return claims.NoLead(m, "exact", []string{"variw"})
	}
}

// variwError takes the normal models, whose measure is an error.
func variwError() claims.Joint {
	return claims.Each([]claims.Case{
		{Experiment: "normal", Measure: normal.Fisher},
		{Experiment: "normal-truncated", Measure: normal.Fisher.With("weight", "row")},
		{Experiment: "normal-truncated", Measure: normal.Fisher.With("weight", "cell")},
	}, atExact(1.03))
}

// variwNetworks takes the networks, whose measure is a share.
func variwNetworks() claims.Joint {
	var cases []claims.Case
	for _, of := range simulated {
		cases = append(cases, claims.Case{Experiment: of[0], Measure: star.AUC(of[1]).With("treatment", "honoured")})
	}
	return claims.Each(cases, atExact(0.02))
}

// emLikeIW takes all experiments that have both.
func emLikeIW(r reading) claims.Joint {
	cases := append(r.normal(),
		claims.Case{Experiment: "ica-dim", Measure: quartic.Dimensions()[r.quartic]},
		claims.Case{Experiment: "ica-n", Measure: quartic.Sizes()[r.quartic]},
		claims.Case{Experiment: "ica-missing", Measure: quartic.Probabilities()[r.quartic]},
		claims.Case{Experiment: "sp100", Measure: tables.AUC("closing")},
		claims.Case{Experiment: "yeast", Measure: tables.AUC("segregants")})
	for _, of := range simulated {
		cases = append(cases, claims.Case{Experiment: of[0], Measure: star.AUC(of[1]).With("treatment", r.treatment)})
	}
	return claims.Each(cases, func(m claims.Measure) claims.Test { return claims.Comparable(m, r.Methods("em", "iw")...) })
}

// best tests that the methods ahead are better than their rivals.
func best(ahead, rivals []string) func(claims.Measure) claims.Test {
	return func(m claims.Measure) claims.Test { return claims.Best(m, ahead, rivals, false) }
}

// iwSmall takes the small end of each experiment that varies the columns or the rows,
// and the normal models, of 10 columns, of which the paper says that Marg-IW is best. EM
// is no rival there: the paper calls it indistinguishable from Marg-IW.
func iwSmall(r reading) claims.Joint {
	return claims.Each(append(r.normal(),
		claims.Case{Experiment: "ica-dim", Measure: quartic.Dimensions()[r.quartic], At: claims.AtSmallest},
		claims.Case{Experiment: "ica-n", Measure: quartic.Sizes()[r.quartic], At: claims.AtSmallest},
		claims.Case{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", r.treatment), At: claims.AtSmallest},
	), best(r.Methods("iw"), []string{"var", "zeroed"}))
}

// varLarge takes the large end of the experiments that vary the columns. The real tables,
// which have more, are left to their own claims: their replicates are gaps in one table,
// no sample of settings.
func varLarge(r reading) claims.Joint {
	return claims.Each([]claims.Case{
		{Experiment: "ica-dim", Measure: quartic.Dimensions()[r.quartic], At: claims.AtLargest},
		{Experiment: "star-dim", Measure: star.AUC("columns").With("treatment", r.treatment), At: claims.AtLargest},
	}, best([]string{"var"}, r.Methods("iw", "em", "zeroed")))
}
