package tables

import "missingscore/benchmarks/claims"

// AUC is the paper's measure on one table, the mean of the AUCs against all truths, with
// one threshold for all methods.
func AUC(table string) claims.Measure { return auc(table, commonColumn) }

// auc is an AUC column of one table, whose replicates are corruptions of it.
func auc(table, column string) claims.Measure {
	return claims.Measure{Column: column, Name: "AUC, over gaps hidden in one table", Along: "missing"}.With("table", table)
}

// thresholds are the readings of what an edge is, with the column of each.
var thresholds = []struct{ words, column string }{
	{"one threshold for all", commonColumn},
	{"the complete table's threshold", fullColumn},
	{"a threshold for each path", meanColumn},
}

// statements are the two that the paper makes of each real table.
func statements(experiment, table, where, best, comparable string) []claims.Claim {
	rivals := []string{"iw", "em", "zeroed"}
	read := func(test func(claims.Measure, claims.Proposal) claims.Test) claims.Test {
		var readings []claims.Reading
		for _, t := range thresholds {
			readings = append(readings, claims.WithEach(t.words, func(p claims.Proposal) claims.Test { return test(auc(table, t.column), p) })...)
		}
		return claims.Readings(readings...)
	}
	return []claims.Claim{
		{ID: experiment + "-var-best", Quote: best, Where: where, Test: read(func(m claims.Measure, p claims.Proposal) claims.Test {
			return claims.Best(m, []string{"var"}, p.Methods(rivals...), false)
		})},
		{ID: experiment + "-others-comparable", Quote: comparable, Where: where, Test: read(func(m claims.Measure, p claims.Proposal) claims.Test {
			return claims.Comparable(m, p.Methods(rivals...)...)
		})},
	}
}
