package neural

import (
	"fmt"
	"math"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/internal/picture"
)

// fisher is the Fisher divergence of the fits to a density; "" is each of them.
func fisher(density string) claims.Measure {
	m := claims.Measure{Column: keptColumn, Name: "Fisher divergence of the fit", Smaller: true}
	if density == "" {
		m.Along = densityColumn
		return m
	}
	return m.With(densityColumn, density)
}

const where = "benchmarks/neural/README.md"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "neural-em-iw", Quote: "Ours: EM is as near to the truth as Marg-IW, in each density.", Where: where,
		Test: claims.Comparable(fisher(""), "iw", "em")},
	{ID: "neural-zeros-behind", Quote: "Ours: Zeroed energies and MissDiff are behind Marg-IW, in each density.", Where: where,
		Test: claims.Best(fisher(""), []string{"iw"}, []string{"zeroed", "missdiff"}, true)},
	{ID: "neural-mixture", Quote: "Ours: with five normals a row for an imputer Marg-Var is nearer to the truth than with the paper's one, in each density.", Where: where,
		Test: claims.Best(fisher(""), []string{"var-mixture"}, []string{"var"}, true)},
	{ID: "neural-mixture-iw", Quote: "Ours: Marg-VarIW with that imputer is no further from the truth than Marg-IW. [tested: Marg-IW is not ahead by more than the margin, in each density]", Where: where,
		Test: claims.NoLead(fisher(""), "iw", []string{"variw-mixture"})},
	{ID: "neural-var-behind", Quote: "Ours: Marg-Var and Marg-VarIW do not pay in ten columns: they are behind Marg-IW.", Where: where,
		Test: claims.Best(fisher("modes"), []string{"iw"}, []string{"var", "variw"}, false)},
	{ID: "neural-em-var", Quote: "Ours: the complete-data loss with five normals a row for an imputer is nearer to the truth than Marg-IW and EM, in ten columns.", Where: where,
		Test: claims.Best(fisher("modes"), []string{"em-var-mixture"}, []string{"iw", "em"}, true)},
	{ID: "neural-em-variw", Quote: "Ours: em-variw with five normals a row for an imputer is nearer to the truth than em-full, whose draws are of a fixed normal. [tested: running means of the parameters, in each density]", Where: where,
		Test: claims.Best(fisher(""), []string{"em-variw-mixture, averaged"}, []string{"em-full, averaged"}, true)},
	{ID: "neural-weights", Quote: "Ours: in ten columns em-var, the same without weights, is nearer still. [tested: running means of the parameters]", Where: where,
		Test: claims.Best(fisher("modes"), []string{"em-var-mixture, averaged"}, []string{"em-variw-mixture, averaged"}, false)},
	{ID: "neural-average", Quote: "Ours: the running mean of a neural energy's parameters is nearer to the truth than those of the last step, in each density.", Where: where,
		Test: nearerAveraged("full", "iw", "em")},
	{ID: "neural-held-out", Quote: "Ours: stopped by rows held out a neural energy is as near to the truth as it ever was. [tested: by no more than 5 % above its least over training, each density and method]", Where: where,
		Test: nearLeast("full, held out", "iw, held out", "em, held out")},
}

// atRandomStatements are those of README.md on cells that are missing at random.
var atRandomStatements = []claims.Claim{
	{ID: "neural-mar-em-variw", Quote: "Ours: where cells are missing at random em-variw with five normals a row is nearer to the truth than em-full, and than Marg-IW, whose error does not vanish there. [tested: running means of the parameters, in each density]", Where: where,
		Test: claims.Best(fisher(""), []string{"em-variw-mixture"}, []string{"iw", "em-full"}, true)},
	{ID: "neural-mar-em-var", Quote: "Ours: in ten columns unweighted draws of five normals, em-var, are nearer still. [tested: cells missing at random]", Where: where,
		Test: claims.Best(fisher("modes"), []string{"em-var-mixture"}, []string{"em-variw-mixture"}, false)},
	{ID: "neural-mar-curve", Quote: "Ours: so they are on a curve in ten columns. [tested: cells missing at random, em-variw and em-full behind em-var]", Where: where,
		Test: claims.Best(fisher("curve"), []string{"em-var-mixture"}, []string{"em-variw-mixture", "em-full"}, false)},
}

// curveStatements are those of README.md on a curve in ten columns.
var curveStatements = []claims.Claim{
	{ID: "neural-curve-em-variw", Quote: "Ours: on a curve in ten columns, too, em-variw with five normals a row is nearer to the truth than em-full. [tested: running means of the parameters]", Where: where,
		Test: claims.Best(fisher("curve"), []string{"em-variw-mixture"}, []string{"em-full"}, false)},
	{ID: "neural-curve-em-var", Quote: "Ours: and em-var with such draws is nearer than Marg-IW, EM and em-variw. [tested: running means of the parameters]", Where: where,
		Test: claims.Best(fisher("curve"), []string{"em-var-mixture"}, []string{"iw", "em", "em-variw-mixture"}, false)},
}

// nearerAveraged tests that the fits of methods are nearer to the truth by averaged parameters.
func nearerAveraged(methods ...string) claims.Test {
	var parts []func(claims.Measure) claims.Test
	for _, name := range methods {
		parts = append(parts, func(m claims.Measure) claims.Test {
			return claims.Best(m, []string{name + ", averaged"}, []string{name}, true)
		})
	}
	return claims.All(fisher(""), parts...)
}

// nearLeast tests that the fits of methods are no more than 5 % above the least over their
// training, in each density.
func nearLeast(methods ...string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		densities, err := r.Distinct(densityColumn)
		if err != nil {
			return claims.Verdict{}, err
		}
		var verdicts []claims.Verdict
		for _, d := range densities {
			kept := fisher(d)
			least := kept
			least.Column = leastColumn
			above, err := kept.Read(r)
			if err != nil {
				return claims.Verdict{}, err
			}
			below, err := least.Read(r)
			if err != nil {
				return claims.Verdict{}, err
			}
			for _, m := range methods {
				room := claims.Ratios(above, m, below, m)
				for i, v := range room {
					room[i] = math.Log(1.05 / v)
				}
				verdicts = append(verdicts, claims.Positive(fmt.Sprintf("log(1.05 · least / kept), %s, %s", d, picture.MethodTitle(m)), room, len(densities)*len(methods)))
			}
		}
		return claims.Weakest(verdicts), nil
	}
}
