package tables

import "missingscore/benchmarks"

// AUC is the paper's measure on one table: the mean of the AUCs against all truths.
func AUC(table string) benchmarks.Measure { return auc(table, meanColumn) }

// auc is an AUC column of one table, whose replicates are corruptions of it.
func auc(table, column string) benchmarks.Measure {
	return benchmarks.Measure{Column: column, Name: "AUC", Along: "missing"}.With("table", table)
}

// claims are the two that the paper makes of each real table.
func claims(experiment, table, where, best, comparable string) []benchmarks.Claim {
	m, rivals := AUC(table), []string{"iw", "em", "zeroed"}
	return []benchmarks.Claim{
		{ID: experiment + "-var-best", Quote: best, Where: where, Test: benchmarks.Best(m, []string{"var"}, rivals, false)},
		{ID: experiment + "-others-comparable", Quote: comparable, Where: where, Test: benchmarks.Comparable(m, rivals...)},
	}
}
