// Package losses turns models into the scalars that are minimised.
//
//	Objective    what a completed row contributes: Classical, Truncated, Sliced, Denoising
//	Loss         the equation that is solved: Marginal, GaussianMarginal, GaussianPairwise, Direct, Complete,
//	             CompleteData, GaussianComplete, GaussianLatent
//	Weighting    how draws become an expectation: Uniform, LeaveOneOut, SelfNormalised
//	ImputerLoss  what trains an imputer: KL, Fisher
//
// Each but the last has a registry: Objectives, Losses, Weightings. Check says what does
// not go together. New, with Bind, makes the program of a parameter step; NewImputer, with
// BindImputer, that of an imputer's step; NewDraws and NewForward those of its draws.
//
// All share one shape. A batch has b table rows of d columns, each imputed r
// times; imputation k of row i is row i·r+k of the B = b·r completed rows.
package losses
