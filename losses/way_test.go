package losses_test

import "missingscore/losses"

// way is a loss with its weighting.
type way struct {
	losses.Loss
	weighting losses.Weighting
}

var (
	byUniform       = way{losses.Marginal{}, losses.Uniform{}}
	byLOO           = way{losses.Marginal{}, losses.LeaveOneOut{}}
	byIW            = way{losses.Marginal{}, losses.SelfNormalised{}}
	byDirect        = way{losses.Direct{}, losses.SelfNormalised{}}
	byZeroed        = way{losses.Complete{}, losses.Uniform{}}
	byEM            = way{losses.Complete{}, losses.SelfNormalised{}}
	byEMFull        = way{losses.CompleteData{}, losses.SelfNormalised{}}
	byCompleteData  = way{losses.CompleteData{}, losses.Uniform{}}
	byClosedForm    = way{losses.GaussianMarginal{}, losses.Uniform{}}
)
