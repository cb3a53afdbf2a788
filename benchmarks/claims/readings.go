package claims

import (
	"fmt"
	"slices"
	"strconv"
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
	Further bool // it is left out where one of its experiments has not been run
}

// JointReadings is Readings for them.
func JointReadings(readings ...JointReading) Joint {
	var j Joint
	for _, r := range readings {
		if !r.Further {
			j.Of = union(j.Of, r.Of)
		}
	}
	for _, r := range readings {
		j.Also = union(j.Also, slices.DeleteFunc(slices.Clone(r.Of), func(name string) bool { return slices.Contains(j.Of, name) }))
	}
	j.Test = func(of map[string]cells.Results) (Verdict, error) {
		run := slices.DeleteFunc(slices.Clone(readings), func(r JointReading) bool {
			return r.Further && slices.ContainsFunc(r.Of, func(name string) bool { _, ok := of[name]; return !ok })
		})
		return together(len(run), func(i int) (string, Verdict, error) {
			v, err := run[i].Test(of)
			return run[i].Words, v, err
		})
	}
	return j
}

// union has the names of both, each once.
func union(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
	v.Outcome, v.Readings = agreed(all, func(r Read) Outcome { return r.Outcome }), all
	v.Anytime = agreed(all, func(r Read) Outcome { return r.Anytime })
	v.Measure = all[0].Words + ": " + v.Measure
	return v, nil
}

// agreed is the outcome of all readings together.
func agreed(all []Read, of func(Read) Outcome) Outcome {
	has := func(o Outcome) bool { return slices.ContainsFunc(all, func(r Read) bool { return of(r) == o }) }
	switch {
	case has(""): // it has no outcome of this kind
		return ""
	case has(Depends) || has(Holds) && has(DoesNotHold):
		return Depends
	case has(Undecided):
		return Undecided
	}
	return of(all[0])
}

// Listed are the readings in words, by what they say; those that differ in the proposal alone
// are named once.
func (v Verdict) Listed() string {
	if len(v.Readings) > 0 && !slices.ContainsFunc(v.Readings, func(r Read) bool { return r.Outcome != v.Readings[0].Outcome }) {
		return fmt.Sprintf("%s: all %d", v.Readings[0].Outcome, len(v.Readings))
	}
	return v.listed(byProposal)
}

// Measured are the readings with the effect of each and its interval.
func (v Verdict) Measured() string {
	return v.listed(func(all []Read) (words []string) {
		for _, r := range all {
			words = append(words, strings.TrimSpace(r.Words+" "+r.Interval()))
		}
		return words
	})
}

// Counted are the numbers of readings that say the same.
func (v Verdict) Counted() string {
	return strings.ReplaceAll(v.listed(func(all []Read) []string { return []string{strconv.Itoa(len(all))} }), ". ", ", ")
}

func (v Verdict) listed(in func([]Read) []string) string {
	var parts []string
	for _, o := range []Outcome{Holds, DoesNotHold, Undecided} {
		of := slices.DeleteFunc(slices.Clone(v.Readings), func(r Read) bool { return r.Outcome != o })
		if len(of) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", o, strings.Join(in(of), "; ")))
		}
	}
	return strings.Join(parts, ". ")
}

// byProposal are the words of readings, each pair that differs in the proposal alone in one.
func byProposal(all []Read) (words []string) {
	number := map[string]int{} // of readings that differ in the proposal alone
	for _, r := range all {
		number[withoutProposal(r.Words)]++
	}
	for _, r := range all {
		switch rest := withoutProposal(r.Words); {
		case number[rest] < len(Proposals):
			words = append(words, r.Words)
		case strings.Contains(r.Words, Proposals[0].Words):
			words = append(words, joined(rest, "either proposal"))
		}
	}
	return words
}
