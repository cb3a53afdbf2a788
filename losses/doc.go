// Package losses builds the scalar losses of models.
//
//	Objective    the contribution of a completed row: Classical, Truncated, Sliced, Denoising
//	Loss         the estimating equation: Marginal, GaussianMarginal, GaussianPairwise, Direct, Complete,
//	             CompleteData, GaussianComplete, GaussianLatent
//	Weighting    the weights of draws in expectations: Uniform, LeaveOneOut, SelfNormalised
//	ImputerLoss  the loss of an imputer: KL, Fisher
//
// The first three have registries: Objectives, Losses, Weightings. Check refuses invalid
// combinations. New and Bind make the program of a parameter step, NewImputer and BindImputer that
// of an imputer step, NewDraws and NewForward that of draws.
//
// A batch has b table rows of d columns, each imputed r times; imputation k of row i is row i·r+k
// of the B = b·r completed rows.
package losses
