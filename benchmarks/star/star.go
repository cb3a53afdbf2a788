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

// Missing varies the missing probability on one star.
var Missing = harness.Experiment{
	Name: "star-missing", Title: "Star, truncated: missing probability",
	Source:   "section “Star Shaped Truncated Graphical Model” (figure ggm_starprec_varymiss)",
	Settings: starMissing, Grid: grid,
}

// Dense varies it on networks without structure.
var Dense = harness.Experiment{
	Name: "dense-missing", Title: "Dense network, truncated: missing probability",
	Source:   "section “Unstructured Dense Graphical Model” (figure ggm_one_varymiss)",
	Settings: denseMissing, Grid: grid,
}

// Colliders varies it on a network on which ranking pairs by their correlations fails.
var Colliders = harness.Experiment{
	Name: "collider-missing", Title: "Colliders and a star, truncated: missing probability",
	Source:   "ours: on the paper's stars all edges are alike, and ranking by correlations finds them as well",
	Settings: colliderMissing, Grid: grid,
}

// Centres varies the number of star centres, the expected number of edges kept.
var Centres = harness.Experiment{
	Name: "star-centres", Title: "Increasing number of stars",
	Source:   "section “Increasing Number of Stars” (figure GGM_vary_centres), appendix “Varying Number of Star Centres” (figures star_marginalisation, 5star_marginalisation)",
	Settings: starCentres, Grid: grid,
}

// Dim varies the number of columns of a star.
var Dim = harness.Experiment{
	Name: "star-dim", Title: "Star, truncated: number of columns",
	Source:   "appendix “Varying Number of Dimensions” (figure GGM_vary_dim)",
	Settings: starDim, Grid: grid,
}

// ROC draws the curves of the first runs.
var ROC = harness.Experiment{
	Name: "star-roc", Title: "Star, truncated: individual ROC curves",
	Source:   "appendix “Individual ROC Curves” (figure GGM_starprec_ROC)",
	Settings: starROC, Grid: grid,
}
