package calibration

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
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
// the inner ones, low those of the lower half less those of the upper one. Of approximations
// there is what is known of the error, too, and the share of ranks in the outer quarters.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	if _, err := decode(text); err != nil {
		return nil, err
	}
	exact := markdown.Table{Name: "ranks", Header: []string{"of", "model", "draws by", "ranks", "p of uniformity", "at the ends, z", "low, z"}}
	for _, c := range calibration.Cases {
		line, _, err := tested(r, c)
		if err != nil {
			return nil, err
		}
		if line != nil {
			exact.Lines = append(exact.Lines, line)
		}
	}
	sizes := markdown.Table{Name: "sizes", Header: []string{"error", "of", "model", "draws by", "ranks", "p of uniformity", "at the ends, z", "low, z", "at the ends, %"}}
	for _, a := range approximations() {
		for _, c := range a.Cases {
			line, sum, err := tested(r, c)
			if err != nil {
				return nil, err
			}
			if line != nil {
				sizes.Lines = append(sizes.Lines, slices.Concat([]string{a.Error}, line, []string{fmt.Sprintf("%.1f", 100*outside(sum))}))
			}
		}
	}
	return []markdown.Table{exact, sizes}, nil
}

// tested is a case's line, and its counts; nil where it has not been run.
func tested(r cells.Results, c calibration.Case) (line []string, sum []int, err error) {
	counts, err := read(r, c)
	if err != nil {
		return nil, nil, err
	}
	if sum = together(counts); sum == nil {
		return nil, nil, nil
	}
	ends, low := slopes(sum)
	return []string{c.Command, c.Model, c.Way(), strconv.Itoa(total(sum)), fmt.Sprintf("%.2g", calibration.Uniform(sum)),
		markdown.Signed("%+.1f", ends), markdown.Signed("%+.1f", low)}, sum, nil
}

// outside is the share of ranks in the outer quarters, ½ of uniform ones.
func outside(counts []int) float64 {
	ends, _ := slopes(counts)
	return 0.5 + 0.5*ends/math.Sqrt(float64(total(counts)))
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
	Quote: "Ours: ranks of true values among draws are uniform. [tested: every sampler and source that is said to draw from the law itself, χ² at 0.01 for all together]",
	Test:  func(r cells.Results) (claims.Verdict, error) { return uniform(r, calibration.Cases) },
}, {
	ID: "calibration-sizes", Where: "benchmarks/calibration/README.md",
	Quote: "Ours: where draws have an error that goes by a size, ranks are uniform at the largest size tried. [tested: the last line of each, χ² at 0.01 for all together]",
	Test:  func(r cells.Results) (claims.Verdict, error) { return uniform(r, largest()) },
}}

// largest are the approximations at their largest sizes.
func largest() (list []calibration.Case) {
	for _, a := range calibration.Approximations {
		list = append(list, a.Cases[len(a.Cases)-1])
	}
	return list
}

// uniform holds unless the p of one of the cases is below the level over their number, or there
// are too few replicates.
func uniform(r cells.Results, of []calibration.Case) (claims.Verdict, error) {
	least, worst, tried, replicates := 1.0, "", 0, math.MaxInt
	for _, c := range of {
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
	if tried < len(of) {
		v.Evidence = fmt.Sprintf("%d of %d cases have been run.", tried, len(of))
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
