package neural

import "missingscore/benchmarks/claims"

// fisher is the Fisher divergence of the fits to a density; "" is each of them.
func fisher(density string) claims.Measure {
	m := claims.Measure{Column: traceColumn, Name: "Fisher divergence at the last epoch", Smaller: true}
	if density == "" {
		m.Along = densityColumn
		return m
	}
	return m.With(densityColumn, density)
}

const where = "benchmarks/neural/README.md"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "neural-em-iw", Quote: "Ours: EM is as near to the truth as Marg-IW, in both densities.", Where: where,
		Test: claims.Comparable(fisher(""), "iw", "em")},
	{ID: "neural-zeros-behind", Quote: "Ours: Zeroed energies and MissDiff are behind Marg-IW, in both densities.", Where: where,
		Test: claims.Best(fisher(""), []string{"iw"}, []string{"zeroed", "missdiff"}, true)},
	{ID: "neural-mixture", Quote: "Ours: with five normals a row for an imputer Marg-Var is nearer to the truth than with the paper's one, in each density.", Where: where,
		Test: claims.Best(fisher(""), []string{"var-mixture"}, []string{"var"}, true)},
	{ID: "neural-mixture-iw", Quote: "Ours: Marg-VarIW with that imputer is no further from the truth than Marg-IW. [tested: Marg-IW is not ahead by more than the margin, in each density]", Where: where,
		Test: claims.NoLead(fisher(""), "iw", []string{"variw-mixture"})},
	{ID: "neural-var-behind", Quote: "Ours: Marg-Var and Marg-VarIW do not pay in ten columns: they are behind Marg-IW.", Where: where,
		Test: claims.Best(fisher("modes"), []string{"iw"}, []string{"var", "variw"}, false)},
}
