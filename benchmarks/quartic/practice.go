package quartic

import (
	_ "embed"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
)

//go:embed practice.json
var practice []byte

// Practice tests what the paper says that it found in practice, of choices that its
// experiments do not vary: on one setting of the quartic model. That model is even, so that
// the conditional means that imputers learn are all 0: a test of draws and deviations rather
// than of means.
var Practice = harness.Experiment{
	Name: "practice", Title: "Non-Gaussian model: choices in practice",
	Source:   "section “Gradient First Approach” and “Variational Approximation”, appendix “Variational Modelling Details”: sentences without a figure",
	Settings: practice, Grid: grid, Figures: draw,
	Claims: []claims.Claim{
		inPractice("practice-mask", "… where m is the d-dimensional binary mask … however this did not seem to provide any advantage. [tested: an imputer that is told the mask is not ahead by more than the margin; a weak test, for this model is even and conditional means are 0 whatever is observed]", details,
			"var, mask told", "var"),
		{ID: "practice-deviation", Quote: "We also experimented with making σ depend upon x … however we found this made training much more unstable. [tested: it is behind]", Where: details,
			Test: readEach(func(m claims.Measure) claims.Test {
				return claims.Best(m, []string{"var"}, []string{"var, σ of x"}, false)
			})},
		inPractice("practice-draws", "In practice we find relatively strong performance choosing r small. Setting it at r = 10 in our experiments. [tested: with five times as many draws Marg-IW is not ahead by more than the margin]", "Gradient First Approach",
			"iw-unit, r = 50", "iw-unit"),
		inPractice("practice-draws-var", "In practice we find relatively strong performance choosing r small. [tested: with five times as many draws Marg-Var is not ahead by more than the margin]", "Gradient First Approach",
			"var, r = 50", "var"),
		inPractice("practice-steps", "In practice we find taking 10 gradient steps of φ for each gradient step of θ to work well. [tested: with 50 steps Marg-Var is not ahead by more than the margin; as weak]", "Variational Approximation",
			"var, 50 steps", "var"),
	},
}

const details = "Variational Modelling Details"

// inPractice is a claim that a costlier choice is not ahead of the paper's by more than the margin.
func inPractice(id, quote, where, costly, paper string) claims.Claim {
	return claims.Claim{ID: id, Quote: quote, Where: where, Test: readEach(func(m claims.Measure) claims.Test {
		return claims.NoLead(m, costly, []string{paper})
	})}
}

// readEach tests by each measure and epoch.
func readEach(test func(claims.Measure) claims.Test) claims.Test {
	var readings []claims.Reading
	for _, m := range measures(practice, "missing") {
		readings = append(readings, claims.Reading{Words: m.Name, Test: test(m)})
	}
	return claims.Readings(readings...)
}
