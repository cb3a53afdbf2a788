package imputation

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/imputation/README.md"

// ours is the method that sentences are about: what impute does with a table alone.
const ours = "posterior"

var energy = claims.Measure{Column: energyColumn, Name: "energy score", Smaller: true, Along: lawColumn}

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "imputation-ahead-of-mice", Where: where, Quote: "Ours: the energy score of the draws of impute TABLE is below that of mice (pmm) on most tables.",
		Test: mostTables(ours, "mice pmm")},
	{ID: "imputation-ahead-of-mice-norm", Where: where, Quote: "Ours: the energy score of the draws of impute TABLE is below that of mice (norm) on most tables.",
		Test: mostTables(ours, "mice norm")},
	{ID: "imputation-ahead-of-sklearn", Where: where, Quote: "Ours: the energy score of the draws of impute TABLE is below that of scikit-learn (posterior samples) on most tables.",
		Test: mostTables(ours, "sklearn sample")},
	{ID: "imputation-as-em-star", Where: where, Quote: "Ours: on Gaussian tables impute TABLE is never worse than EM. [tested on star: by no more than the margin]",
		Test: claims.NoLead(energy.With(tableColumn, "star"), "em", []string{ours})},
	{ID: "imputation-as-em-dense", Where: where, Quote: "Ours: on Gaussian tables impute TABLE is never worse than EM. [tested on dense: by no more than the margin]",
		Test: claims.NoLead(energy.With(tableColumn, "dense"), "em", []string{ours})},
}

// leads are the mean over laws of log(score of b / score of a), one of each replicate of a
// table that has all: above 0 where a is ahead.
func leads(r cells.Results, column, table, a, b string) ([]float64, error) {
	laws, err := r.Distinct(lawColumn)
	if err != nil {
		return nil, err
	}
	replicates, err := r.Distinct("replicate")
	if err != nil {
		return nil, err
	}
	m := claims.Measure{Column: column, Along: lawColumn}
	n, err := m.With(tableColumn, table).Read(r)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, replicate := range replicates {
		var each []float64
		for _, law := range laws {
			x, okX := n.At(law, replicate, a)
			y, okY := n.At(law, replicate, b)
			if okX && okY {
				each = append(each, math.Log(y/x))
			}
		}
		if len(each) == len(laws) {
			out = append(out, stat.Mean(each, nil))
		}
	}
	return out, nil
}

// mostTables tests that a's score is below b's on more than half of the tables. It holds
// where as many intervals lie above 0, and does not where half of them or more lie below;
// the k tables share the risk.
func mostTables(a, b string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		tables, err := r.Distinct(tableColumn)
		if err != nil {
			return claims.Verdict{}, err
		}
		var verdicts []claims.Verdict
		var ahead, behind []string
		always := map[claims.Outcome]int{} // by the intervals that hold at every look
		for _, t := range tables {
			x, err := leads(r, energyColumn, t, a, b)
			if err != nil {
				return claims.Verdict{}, err
			}
			v := claims.Positive(fmt.Sprintf("log(energy score of %s / that of %s), %s", b, a, t), x, len(tables))
			switch verdicts = append(verdicts, v); v.Outcome {
			case claims.Holds:
				ahead = append(ahead, t)
			case claims.DoesNotHold:
				behind = append(behind, t)
			}
			always[v.Anytime]++
		}
		v := claims.Weakest(verdicts)
		v.Outcome = majority(len(ahead), len(behind), len(tables))
		v.Anytime = majority(always[claims.Holds], always[claims.DoesNotHold], len(tables))
		v.Evidence = fmt.Sprintf("Of %d tables ahead on %d (%s), behind on %d (%s).", len(tables), len(ahead), strings.Join(ahead, ", "), len(behind), strings.Join(behind, ", "))
		return v, nil
	}
}

// majority is the outcome of "ahead on more than half of the tables".
func majority(ahead, behind, tables int) claims.Outcome {
	switch {
	case 2*ahead > tables:
		return claims.Holds
	case 2*behind >= tables && tables > 0:
		return claims.DoesNotHold
	}
	return claims.Undecided
}
