package calibration

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
	"missingscore/trainers/calibration"
)

// level is that of all cases together that the claim is tested at, by Bonferroni's correction.
const level = 0.01

// tables have a line for each case: the test that ranks are uniform, and where they are most
// away from it, in standard errors: outside means ranks of the outer quarters less those of
// the inner ones, low those of the lower half less those of the upper one.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	if _, err := decode(text); err != nil {
		return nil, err
	}
	t := markdown.Table{Name: "ranks", Header: []string{"of", "model", "draws by", "ranks", "p of uniformity", "at the ends, z", "low, z"}}
	for _, c := range calibration.Cases {
		counts, err := read(r, c)
		if err != nil {
			return nil, err
		}
		sum := together(counts)
		if sum == nil {
			continue
		}
		ends, low := slopes(sum)
		t.Lines = append(t.Lines, []string{c.Command, c.Model, c.Sampler, strconv.Itoa(total(sum)), fmt.Sprintf("%.2g", calibration.Uniform(sum)),
			markdown.Signed("%+.1f", ends), markdown.Signed("%+.1f", low)})
	}
	return []markdown.Table{t}, nil
}

// slopes are two contrasts of counts in standard errors: the outer quarters less the inner
// half, and the lower half less the upper one. Each is a sum of n signs, each as likely.
func slopes(counts []int) (ends, low float64) {
	m := len(counts)
	for k, n := range counts {
		outer := k < m/4 || k >= m-m/4
		ends += float64(n) * sign(outer)
		low += float64(n) * sign(k < m/2)
	}
	se := math.Sqrt(float64(total(counts)))
	return ends / se, low / se
}

func sign(yes bool) float64 {
	if yes {
		return 1
	}
	return -1
}

// statements are those of README.md.
var statements = []claims.Claim{{
	ID: "calibration-uniform", Where: "benchmarks/calibration/README.md",
	Quote: "Ours: ranks of true values among draws are uniform. [tested: every sampler and source that is said to draw from the model, χ² at 0.01 for all together]",
	Test:  uniform,
}}

// uniform holds unless a case's p is below the level over their number, or there are too few
// replicates.
func uniform(r cells.Results) (claims.Verdict, error) {
	least, worst, tried, replicates := 1.0, "", 0, math.MaxInt
	for _, c := range calibration.Cases {
		counts, err := read(r, c)
		if err != nil {
			return claims.Verdict{}, err
		}
		if len(counts) == 0 {
			continue
		}
		tried++
		replicates = min(replicates, len(counts))
		if p := calibration.Uniform(together(counts)); p < least {
			least, worst = p, c.Name()
		}
	}
	v := claims.Verdict{Outcome: claims.Undecided, Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if tried < len(calibration.Cases) {
		v.Evidence = fmt.Sprintf("%d of %d cases have been run.", tried, len(calibration.Cases))
		return v, nil
	}
	v.Evidence = fmt.Sprintf("The least p of %d cases is %.2g (%s).", tried, least, worst)
	if v.Replicates = replicates; replicates < claims.LeastReplicates {
		v.Evidence = fmt.Sprintf("%d replicates, %d are needed. ", replicates, claims.LeastReplicates) + v.Evidence
		return v, nil
	}
	v.Outcome = claims.Holds
	if least < level/float64(tried) {
		v.Outcome = claims.DoesNotHold
	}
	return v, nil
}
