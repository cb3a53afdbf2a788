package calibration

import (
	"missingscore/trainers/fitted/diffusion"
	"missingscore/trainers/posterior"
)

// Cases are the ways whose draws are said to be from the law itself, with those models that
// have independent draws to compare with. A new one is a line here. Of an imputer's draws,
// which are as good as its training, there is one whose weights are those of the exact
// conditional; those of others are corrected by weights. Cells that are drawn along with their
// law are of tables whose law is of the prior.
var Cases = []Case{
	impute("gaussian", "exact"),
	impute("gaussian in a box", "exact"),
	impute("gaussian in a half-space", "exact"),
	impute("gaussian on a simplex", "exact"),
	impute("gaussian in a corner", "exact").costing(4),
	impute("gaussian, censored", "exact"),
	impute("gaussian", "mcmc"),
	impute("gaussian in a box", "mcmc"),
	impute("gaussian in a half-space", "mcmc").costing(4),
	impute("gaussian on a simplex", "mcmc").costing(4),
	impute("mixture", "mcmc"),
	impute("gaussian with an imputer", "imputer"),
	impute("gaussian with categories", "latent"),
	sample("gaussian", "hmc"),
	sample("gaussian in a box", "hmc"),
	sample("gaussian in a half-space", "hmc").costing(4),
	sample("gaussian on a simplex", "hmc").costing(4),
	sample("gaussian", "mala"),
	sample("mixture", "hmc"),
	source("gaussian", "exact"),
	source("gaussian in a box", "exact"),
	source("gaussian on a simplex", "exact"),
	source("gaussian", "chains"),
	source("gaussian in a box", "chains"),
	source("gaussian in a half-space", "chains"),
	source("mixture", "chains"),
	weighted("gaussian", proposer{"proposal", 1.2}),
	weighted("gaussian in a box", proposer{"proposal", 1.2}),
	weighted("gaussian in a half-space", proposer{"proposal", 1.2}),
	weighted("mixture", proposer{"proposal", 1.2}),
	weighted("gaussian, poor imputer", proposer{kind: "imputer"}),
	ofPrior("normal of the prior", tableKind{rows: 12, hidden: 0.5, mean: true}, posterior.Config{Components: 1, WarmUp: 40, Iterations: 16}).costing(4),
}

// Approximation is a way to draw whose law is not quite the one that is meant: by an error
// that a size, of whatever kind, makes as little as one likes.
type Approximation struct {
	Error string // what is known of it, in words
	Cases []Case // by size, the one with the greatest error first
}

// Approximations are such ways. A new one is a line here.
var Approximations = []Approximation{
	{"r weighted draws: 1/r", byWeights("gaussian", proposer{"proposal", 4})},
	{"r weighted draws: 1/r", byWeights("gaussian, poor imputer", proposer{kind: "imputer"})},
	{"Heun's steps: their length squared", []Case{
		sampleAlong("ode", "5 steps", diffusion.Options{Steps: 5}),
		sampleAlong("ode", "20 steps", diffusion.Options{Steps: 20}),
		sampleAlong("ode", "100 steps, the default", diffusion.Options{}),
	}},
	{"Euler's steps: their length", []Case{
		sampleAlong("sde", "5 steps", diffusion.Options{Steps: 5}),
		sampleAlong("sde", "100 steps", diffusion.Options{Steps: 100}),
		sampleAlong("sde", "1000 steps, the default", diffusion.Options{}).costing(2),
	}},
	{"mixing: levels times steps at each", []Case{
		sampleAlong("langevin", "10 × 10 steps", diffusion.Options{Steps: 10, Corrections: 10}),
		sampleAlong("langevin", "30 × 30 steps", diffusion.Options{Steps: 30, Corrections: 30}).costing(4),
		sampleAlong("langevin", "100 × 100 steps, the default", diffusion.Options{}).costing(8),
	}},
	{"mixing: levels times steps at each", []Case{
		imputeAlong("10 × 10 steps", diffusion.Options{Steps: 10, Corrections: 10}),
		imputeAlong("30 × 30 steps", diffusion.Options{Steps: 30, Corrections: 30}).costing(4),
		imputeAlong("100 × 100 steps, the default", diffusion.Options{}).costing(8),
	}},
	{"mixing: iterations of the chains", []Case{
		ofPrior("three normals of the prior", few, posterior.Config{Components: 3, Anchor: &anchor, WarmUp: 2, Iterations: 4}).sized("2 + 4 iterations").costing(2),
		ofPrior("three normals of the prior", few, posterior.Config{Components: 3, Anchor: &anchor, WarmUp: 20, Iterations: 20}).sized("20 + 20 iterations").costing(10),
		ofPrior("three normals of the prior", few, posterior.Config{Components: 3, Anchor: &anchor}).sized("100 + 100 iterations and more, the default").costing(40),
	}},
	{"a prior that goes by the table: 1/rows", []Case{
		drawnAlong(cells(20)).costing(32), drawnAlong(cells(50)).costing(80), drawnAlong(cells(200)).costing(160),
	}},
	{"a prior that goes by the table: 1/rows", []Case{
		drawnAlong(means(20)).costing(32), drawnAlong(means(50)).costing(80), drawnAlong(means(200)).costing(160),
	}},
	{"parameters held at their estimate: 1/rows", []Case{
		held(cells(20)).costing(4), held(cells(50)).costing(4), held(cells(200)).costing(4),
	}},
}

// Wrong are ways that are known to be from another law, however large their size: the mean of
// many cells has less spread than it should have if the law is held at its estimate, whose own
// error they share (Rubin 1987).
var Wrong = []Case{held(means(20)).costing(4), held(means(50)).costing(4), held(means(200)).costing(4)}

func cells(rows int) tableKind { return tableKind{rows: rows, hidden: 0.3} }
func means(rows int) tableKind { return tableKind{rows: rows, hidden: 0.3, mean: true} }

// few are rows of a prior.
var few = tableKind{rows: 8, hidden: 0.3}

func byWeights(model string, from proposer) []Case {
	return []Case{resampled(model, from, 10), resampled(model, from, 100), resampled(model, from, 1000).costing(4)}
}
