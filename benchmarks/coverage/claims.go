package coverage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

const where = "benchmarks/coverage/README.md"

// The aims, ours.
const (
	low, high = 0.935, 0.965 // of the coverage of 95 % intervals
	enough    = 5            // rows for a column, from where on they are aimed at
)

// statements are those of README.md.
var statements = []claims.Claim{
	{ID: "coverage-model", Where: where, Quote: "Ours: intervals by the model cover 93.5 to 96.5 %. [tested: normal rows, no gaps or completely at random, edges and others of every setting with 5 rows or more for a column]",
		Test: covers(func(c setting, _ measures) bool { return c.design.Rows == "normal" && !atRandom(c) }, "model")},
	{ID: "coverage-robust", Where: where, Quote: "Ours: intervals by the rows cover 93.5 to 96.5 %. [tested: all rows and laws, edges and others of every setting with 5 rows or more for a column]",
		Test: covers(func(setting, measures) bool { return true }, "robust")},
	{ID: "coverage-warned", Where: where, Quote: "Ours: intervals cover 93.5 to 96.5 % where the program does not warn of them. [tested: edges and others of every setting with 5 rows or more for a column, by the model and by the rows, in which most tables are not warned of]",
		Test: covers(func(_ setting, m measures) bool { return mean(m.warned) < 0.5 }, "model", "robust")},
	{ID: "coverage-discoveries", Where: where, Quote: "Ours: of pairs with q ≤ 0.1 one in ten is no edge, or fewer. [tested: by the rows, every setting with 5 rows or more for a column]",
		Test: discoveries("robust")},
}

func atRandom(c setting) bool { return strings.HasPrefix(c.law.Name, "MAR") }

// visit visits the settings with enough rows that were run.
func visit(r cells.Results, kind string, each func(c setting, m measures)) error {
	var sizes struct {
		Full json.RawMessage `json:"full"`
	}
	if err := json.Unmarshal(config, &sizes); err != nil {
		return err
	}
	s, err := decode(sizes.Full)
	if err != nil {
		return err
	}
	s.each(func(c setting) {
		if c.rows < enough*c.columns {
			return
		}
		m, fault := c.read(r, kind)
		if err = cmp.Or(err, fault); len(m.found) > 0 {
			each(c, m)
		}
	})
	return err
}

// covers tests that each coverage is within the aim, by two tests of each.
func covers(of func(setting, measures) bool, kinds ...string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		type test struct {
			name  string
			slack []float64
		}
		var tests []test
		add := func(kind string, c setting, m measures) {
			if !of(c, m) {
				return
			}
			for _, s := range []struct {
				name   string
				shares []float64
			}{{"edges", m.edges}, {"others", m.others}} {
				var above, below []float64
				for _, v := range numbers(s.shares) {
					above, below = append(above, v-low), append(below, high-v)
				}
				at := fmt.Sprintf("%s, %s, d %d, n %d, %s, %s", c.Name, c.law.Name, c.columns, c.rows, kind, s.name)
				tests = append(tests, test{fmt.Sprintf("coverage less %v, %s", low, at), above}, test{fmt.Sprintf("%v less coverage, %s", high, at), below})
			}
		}
		for _, kind := range kinds {
			if err := visit(r, kind, func(c setting, m measures) { add(kind, c, m) }); err != nil {
				return claims.Verdict{}, err
			}
		}
		var verdicts []claims.Verdict
		for _, t := range tests {
			verdicts = append(verdicts, claims.Positive(t.name, t.slack, len(tests)))
		}
		return claims.Weakest(verdicts), nil
	}
}

// discoveries tests that the share of wrong ones is not above the rate: below it by less than
// the margin that the tables' number leaves is none.
func discoveries(kind string) claims.Test {
	return func(r cells.Results) (claims.Verdict, error) {
		var verdicts []claims.Verdict
		var all []measures
		var names []string
		err := visit(r, kind, func(c setting, m measures) {
			all, names = append(all, m), append(names, fmt.Sprintf("%s, %s, d %d, n %d", c.Name, c.law.Name, c.columns, c.rows))
		})
		for i, m := range all {
			var slack []float64
			for _, v := range m.wrong {
				slack = append(slack, 0.1+margin-v)
			}
			verdicts = append(verdicts, claims.Positive(fmt.Sprintf("%v less the share of wrong ones, %s", 0.1+margin, names[i]), slack, len(all)))
		}
		return claims.Weakest(verdicts), err
	}
}

// margin is what the share of wrong discoveries may be above the rate.
const margin = 0.02
