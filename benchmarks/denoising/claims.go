package denoising

import "missingscore/benchmarks/claims"

var energy = claims.Measure{Column: energyColumn, Name: "energy distance of the rows", Smaller: true}

const where = "benchmarks/denoising/README.md"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "denoising-averages-nearer", Quote: "Ours: rows drawn from models that average over the missing cells are nearer to the held-out rows than those of MissDiff's form.", Where: where,
		Test: claims.Best(energy, []string{"iw", "variw", "var"}, []string{"missdiff"}, false)},
	{ID: "denoising-gaussian-behind", Quote: "Ours: a Gaussian from the same cells is behind Marg-IW, Marg-VarIW and Marg-Var.", Where: where,
		Test: claims.Best(energy, []string{"iw", "variw", "var"}, []string{"gaussian"}, false)},
}
