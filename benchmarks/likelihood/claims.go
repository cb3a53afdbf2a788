package likelihood

import "missingscore/benchmarks/claims"

// aucOf is the AUC of networks of so many columns.
func aucOf(columns string) claims.Measure {
	return claims.Measure{Column: aucColumn, Name: "AUC"}.With(columnsColumn, columns)
}

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "likelihood-exact-ahead", Quote: "Ours: at d = 50 with 70 % missing Marg-Exact finds edges better than EM and the graphical lasso.", Where: "benchmarks/likelihood/README.md",
		Test: claims.Best(aucOf("50"), []string{exact}, []string{rival}, false)},
}
