package claims

import (
	"fmt"
	"strings"

	"missingscore/benchmarks/cells"
)

// Case is a part of an experiment that a sentence is about: where At, AtSmallest or
// AtLargest, finds it along the measure, or all places where it is nil.
type Case struct {
	Experiment string
	Measure    Measure
	At         func(Measure, func(Measure) Test) Test
}

// Each makes a test in each of the cases, within which replicates are paired. It holds
// where it does in all cases, and does not where it does not in one; k cases share the
// 0.05 that the verdict may be wrong with.
func Each(cases []Case, test func(Measure) Test) Joint {
	var of []string
	for _, c := range cases {
		of = append(of, c.Experiment)
	}
	return Joint{Of: of, Test: func(of map[string]cells.Results) (Verdict, error) {
		var verdicts []Verdict
		var evidence []string
		for _, c := range cases {
			m := c.Measure.share(len(cases))
			whole := test(m)
			if c.At != nil {
				whole = c.At(m, test)
			}
			v, err := whole(of[c.Experiment])
			if err != nil {
				return Verdict{}, fmt.Errorf("%s: %w", c.Experiment, err)
			}
			v.Measure += " in " + c.Experiment
			verdicts = append(verdicts, v)
			evidence = append(evidence, fmt.Sprintf("%s: %s. %s", c.Experiment, v.Outcome, v.Evidence))
		}
		v := verdicts[decisive(verdicts)]
		v.Anytime = anytimeOf(verdicts)
		v.Evidence = strings.Join(evidence, " ")
		return v, nil
	}}
}
