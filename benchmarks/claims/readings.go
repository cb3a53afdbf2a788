package claims

import (
	"fmt"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
)

// Reading is one way to take a sentence where the paper leaves open what was done.
type Reading struct {
	Words string // what is taken how, as "proposal N(0, I)"
	Test  Test
}

// Read is what a reading says.
type Read struct {
	Words string
	Verdict
}

// Readings tests a sentence in every reading. It holds where all readings hold, does not
// where none does, and depends on what the paper leaves open where one holds and another
// does not; else it is undecided. The effect shown is the first reading's, the nearest to
// the paper's words. Each reading is wrong with probability 0.05 at most.
func Readings(readings ...Reading) Test {
	return func(r cells.Results) (Verdict, error) {
		return together(len(readings), func(i int) (string, Verdict, error) {
			v, err := readings[i].Test(r)
			return readings[i].Words, v, err
		})
	}
}

// JointReading is a Reading of a sentence about several experiments.
type JointReading struct {
	Words string
	Joint
}

// JointReadings is Readings for them.
func JointReadings(readings ...JointReading) Joint {
	var of []string
	for _, r := range readings {
		of = append(of, slices.DeleteFunc(slices.Clone(r.Of), func(name string) bool { return slices.Contains(of, name) })...)
	}
	return Joint{of, func(of map[string]cells.Results) (Verdict, error) {
		return together(len(readings), func(i int) (string, Verdict, error) {
			v, err := readings[i].Test(of)
			return readings[i].Words, v, err
		})
	}}
}

// together is the verdict of n readings.
func together(n int, at func(int) (string, Verdict, error)) (Verdict, error) {
	var all []Read
	for i := range n {
		words, v, err := at(i)
		if err != nil {
			return v, fmt.Errorf("%s: %w", words, err)
		}
		all = append(all, Read{words, v})
	}
	v := all[0].Verdict
	v.Outcome, v.Readings = agreed(all), all
	v.Measure = all[0].Words + ": " + v.Measure
	return v, nil
}

// agreed is the outcome of all readings together.
func agreed(all []Read) Outcome {
	has := func(o Outcome) bool { return slices.ContainsFunc(all, func(r Read) bool { return r.Outcome == o }) }
	switch {
	case has(Depends) || has(Holds) && has(DoesNotHold):
		return Depends
	case has(Undecided):
		return Undecided
	}
	return all[0].Outcome
}

// Listed are the readings in words, by what they say.
func (v Verdict) Listed() string {
	return v.listed(func(r Read) string { return r.Words })
}

// Measured is Listed with the effect of each reading and its interval.
func (v Verdict) Measured() string {
	return v.listed(func(r Read) string { return strings.TrimSpace(r.Words + " " + r.Interval()) })
}

func (v Verdict) listed(in func(Read) string) string {
	var parts []string
	for _, o := range []Outcome{Holds, DoesNotHold, Undecided} {
		var words []string
		for _, r := range v.Readings {
			if r.Outcome == o {
				words = append(words, in(r))
			}
		}
		if len(words) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", o, strings.Join(words, "; ")))
		}
	}
	return strings.Join(parts, ". ")
}
