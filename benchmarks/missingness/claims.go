package missingness

import (
	"fmt"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/missingness/README.md"

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "missingness-ignored", Quote: "Ours: without the law the mean of x1 is off. [tested: too small in every setting, by every method]", Where: where, Test: tooSmall},
	{ID: "missingness-fixed-proposal", Quote: "Ours: ten draws of a fixed proposal leave a bias. [tested: self-masked, d = 2, the law known: Marg-IW's mean of x1 is larger than Marg-VarIW's]", Where: where,
		Test: func(r cells.Results) (claims.Verdict, error) {
			n, err := read(r, errorColumns[0], "self-masked, d = 2", "the law")
			if err != nil {
				return claims.Verdict{}, err
			}
			return claims.Positive("mean of x1, Marg-IW − Marg-VarIW", claims.Differences(n, "iw", n, "variw"), 1), nil
		}},
}

// tooSmall tests each setting and method that is told nothing: the one whose interval
// reaches furthest up decides.
func tooSmall(r cells.Results) (claims.Verdict, error) {
	settings, err := r.Distinct(settingColumn)
	if err != nil {
		return claims.Verdict{}, err
	}
	type of struct {
		name   string
		errors []float64
	}
	var all []of
	for _, setting := range settings {
		n, err := read(r, errorColumns[0], setting, "nothing")
		if err != nil {
			return claims.Verdict{}, err
		}
		for _, method := range []string{"iw", "var", "variw", "exact"} {
			if e := n.Of("", method); len(e) > 0 {
				all = append(all, of{setting + ", " + method, e})
			}
		}
	}
	var verdicts []claims.Verdict
	var evidence []string
	for _, a := range all {
		short := make([]float64, len(a.errors))
		for i, e := range a.errors {
			short[i] = -e
		}
		v := claims.Positive("truth less estimate of the mean of x1: "+a.name, short, len(all))
		verdicts, evidence = append(verdicts, v), append(evidence, fmt.Sprintf("%s %.3g", a.name, v.Effect))
	}
	v := claims.Weakest(verdicts)
	v.Evidence = strings.Join(evidence, "; ") + "."
	return v, nil
}
