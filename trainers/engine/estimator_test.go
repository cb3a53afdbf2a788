package engine_test

import "missingscore/trainers/estimator"

// onlyComplete tells of an estimator for tables without missing cells.
func onlyComplete(e estimator.Estimator) bool { return e.Complete }

// onlyNormal tells of an estimator for Gaussian models.
func onlyNormal(e estimator.Estimator) bool { return e.Gaussian }
