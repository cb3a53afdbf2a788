package mar

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/mar/README.md"

// Bounds of a bias of partial correlations and means, ours: what is called none, and what
// misleads.
const none, misleads = 0.03, 0.1

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "mar-em-exact", Where: where, Quote: "Ours: em-exact is right under MAR. [tested, without a penalty: every bias of a partial correlation or mean within ±0.03, in each design]",
		Test: within("em-exact")},
	{ID: "mar-exact", Where: where, Quote: "Ours: the marginal loss is biased under MAR. [tested, exact without a penalty: a bias beyond ±0.1 in each design]",
		Test: beyond("exact")},
}

// each gives a design's biases of partial correlations and means by a method.
func each(r cells.Results, method string, visit func(name string, all []errorsOf)) error {
	names, err := r.Distinct(designColumn)
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := read(r, name, method)
		if err != nil {
			return err
		}
		visit(name, slices.Concat(b.partials, b.means))
	}
	return nil
}

// within tests that all biases are, by two tests of each.
func within(method string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		type test struct {
			name   string
			values []float64
		}
		var tests []test
		var evidence []string
		err := each(r, method, func(name string, all []errorsOf) {
			for _, e := range all {
				for _, sign := range []float64{1, -1} {
					slack := make([]float64, len(e.errors))
					for i, v := range e.errors {
						slack[i] = none - sign*v
					}
					tests = append(tests, test{name + ", " + e.name, slack})
				}
			}
			evidence = append(evidence, name+" "+largest(all))
		})
		if err != nil {
			return claims.Verdict{}, err
		}
		var verdicts []claims.Verdict
		for _, c := range tests {
			verdicts = append(verdicts, claims.Positive(fmt.Sprintf("%v less the bias, %s", none, c.name), c.values, len(tests)))
		}
		v := claims.Weakest(verdicts)
		v.Evidence = "The largest biases: " + strings.Join(evidence, "; ") + "."
		return v, nil
	}
}

// beyond tests that one bias of each design is: the one with the largest mean.
func beyond(method string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		var verdicts []claims.Verdict
		var evidence []string
		quantities := 0
		type largestOf struct {
			name   string
			excess []float64
		}
		var chosen []largestOf
		err := each(r, method, func(name string, all []errorsOf) {
			quantities += len(all)
			e := furthest(all)
			sign := math.Copysign(1, stat.Mean(e.errors, nil))
			c := largestOf{name: name + ", " + e.name}
			for _, v := range e.errors {
				c.excess = append(c.excess, sign*v-misleads)
			}
			chosen, evidence = append(chosen, c), append(evidence, name+" "+largest(all))
		})
		if err != nil {
			return claims.Verdict{}, err
		}
		for _, c := range chosen { // each was picked among all quantities
			verdicts = append(verdicts, claims.Positive(fmt.Sprintf("bias less %v, %s", misleads, c.name), c.excess, quantities))
		}
		v := claims.Weakest(verdicts)
		v.Evidence = "The largest biases: " + strings.Join(evidence, "; ") + "."
		return v, nil
	}
}
