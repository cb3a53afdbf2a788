package ordinal

import "missingscore/benchmarks/claims"

const where = "benchmarks/ordinal/README.md"

// errorAt is the error of partial correlations under a law of gaps.
func errorAt(truth, rows, law string) claims.Measure {
	return claims.Measure{Column: errorColumn, Name: "error", Smaller: true, Where: map[string]string{truthColumn: truth, rowsColumn: rows, lawColumn: law}}
}

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "ordinal-numbers", Where: where, Quote: "Ours: taken for ordered categories answers give partial correlations that are nearer to the truth than taken for numbers. [tested: root mean square error, two factors, 1000 rows, missing completely at random]",
		Test: claims.Best(errorAt("factors", "1000", "MCAR"), []string{"latent"}, []string{"numbers"}, false)},
	{ID: "ordinal-numbers-sparse", Where: where, Quote: "Ours: and so in a sparse network. [tested: root mean square error, sparse network, 1000 rows, missing completely at random]",
		Test: claims.Best(errorAt("sparse", "1000", "MCAR"), []string{"latent"}, []string{"numbers"}, false)},
	{ID: "ordinal-lavaan", Where: where, Quote: "Ours: they are nearer to the truth than by lavaan's polychoric correlations and a graphical lasso. [tested: root mean square error, two factors, 1000 rows, missing at random]",
		Test: claims.Best(errorAt("factors", "1000", "MAR"), []string{"latent"}, []string{"lavaan and glasso"}, false)},
	{ID: "ordinal-pairs", Where: where, Quote: "Ours: where answers are missing at random they are nearer to the truth than by our polychoric correlations of pairs. [tested: root mean square error, sparse network, 1000 rows]",
		Test: claims.Best(errorAt("sparse", "1000", "MAR"), []string{"latent"}, []string{"polychoric pairs"}, false)},
}
