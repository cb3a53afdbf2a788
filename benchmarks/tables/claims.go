package tables

import "missingscore/benchmarks/claims"

// AUC is the paper's measure on one table: the mean of the AUCs against all truths.
func AUC(table string) claims.Measure { return auc(table, meanColumn) }

// auc is an AUC column of one table, whose replicates are corruptions of it.
func auc(table, column string) claims.Measure {
	return claims.Measure{Column: column, Name: "AUC", Along: "missing"}.With("table", table)
}

// statements are the two that the paper makes of each real table.
func statements(experiment, table, where, best, comparable string) []claims.Claim {
	m, rivals := AUC(table), []string{"iw", "em", "zeroed"}
	return []claims.Claim{
		{ID: experiment + "-var-best", Quote: best, Where: where, Test: claims.Best(m, []string{"var"}, rivals, false)},
		{ID: experiment + "-others-comparable", Quote: comparable, Where: where, Test: claims.Comparable(m, rivals...)},
	}
}
