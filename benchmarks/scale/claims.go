package scale

import "missingscore/benchmarks/claims"

const where = "benchmarks/scale/README.md"

// seconds at a number of columns and a share missing.
func seconds(columns, missing string) claims.Measure {
	return claims.Measure{Column: secondsColumn, Name: "seconds", Smaller: true, Where: map[string]string{columnsColumn: columns, missingColumn: missing}}
}

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "scale-cglasso", Where: where, Quote: "Ours: with missing cells a path of em-exact is faster than one of cglasso. [tested: seconds at 200 columns, 500 rows, 20 % missing]",
		Test: claims.Best(seconds("200", "0.2"), []string{"em-exact"}, []string{"cglasso"}, false)},
	{ID: "scale-huge", Where: where, Quote: "Ours: of a complete table a path of em-exact is faster than one of huge's graphical lasso. [tested: seconds at 1000 columns, 500 rows]",
		Test: claims.Best(seconds("1000", "0"), []string{"em-exact"}, []string{"huge"}, false)},
	{ID: "scale-f1", Where: where, Quote: "Ours: with missing cells the best network of em-exact's path is no worse than that of cglasso's. [tested: best F1 at 200 columns, 500 rows, 20 % missing]",
		Test: claims.Best(claims.Measure{Column: bestColumn, Name: "best F1", Where: map[string]string{columnsColumn: "200", missingColumn: "0.2"}}, []string{"em-exact"}, []string{"cglasso"}, false)},
}
