package quartic

import (
	_ "embed"

	"missingscore/benchmarks/harness"
)

//go:embed practice.json
var practice []byte

// Practice varies choices that the paper made without a figure: draws, imputer steps, the mask as
// input. The quartic model is even, so the conditional means that imputers learn are 0.
var Practice = harness.Experiment{
	Name: "practice", Title: "Non-Gaussian model: choices in practice",
	Source:   "sections “Gradient First Approach” and “Variational Approximation”, appendix “Variational Modelling Details”",
	Settings: practice, Grid: grid,
}
