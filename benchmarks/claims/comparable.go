package claims

import (
	"cmp"
	"slices"

	"missingscore/benchmarks/cells"
)

// Comparable tests that no two of the methods differ by more than the margin anywhere
// along m.Along (two one-sided tests): it holds where the intervals of all places lie within, and
// does not where that of one place, or of an average over places, lies outside. An
// average alone would let opposite differences cancel. Averages and places share the risk.
func Comparable(m Measure, methods ...string) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := m.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		pairs := len(methods) * (len(methods) - 1) / 2
		places, averages := m.level(pairs*len(n.Places)), 0.0
		if len(n.Places) > 1 {
			places, averages = m.share(2).level(pairs*len(n.Places)), m.share(2).level(pairs)
		}
		var each, all []comparison
		for i, a := range methods {
			for _, b := range methods[i+1:] {
				each = append(each, m.atEachPlace(n, a, b, places)...)
				if len(n.Places) > 1 {
					all = append(all, compare(n, a, b, "", averages, m.meanLead(n, n.Places, a, b)))
				}
			}
		}
		if len(each) == 0 {
			return m.verdict(n, decision{outcome: Undecided, anytime: Undecided}, methods, nil, ""), nil
		}
		margin, text := m.margin()
		d := decide(append(each, all...), alike(margin, len(each)))
		return m.verdict(n, d, methods, nil, m.effectName(d.by)+text), nil
	}
}

// alike is the rule of Comparable, for the comparisons at each place, the first so many, and
// the averages after them.
func alike(margin float64, places int) func([]comparison) (Outcome, comparison) {
	return func(all []comparison) (Outcome, comparison) {
		widest := slices.MaxFunc(all[:places], func(a, b comparison) int { return cmp.Compare(a.furthest(), b.furthest()) })
		apart := slices.MaxFunc(all, func(a, b comparison) int { return cmp.Compare(a.nearest(), b.nearest()) })
		switch {
		case apart.nearest() > margin:
			return DoesNotHold, apart
		case widest.furthest() < margin:
			return Holds, widest
		}
		return Undecided, widest
	}
}

// atEachPlace compares two methods; one place alone is not named.
func (m Measure) atEachPlace(n *Numbers, a, b string, level float64) (each []comparison) {
	for _, x := range n.Places {
		at := x
		if len(n.Places) == 1 {
			at = ""
		}
		each = append(each, compare(n, a, b, at, level, m.meanLead(n, []string{x}, a, b)))
	}
	return each
}

// NoLead tests that a does not lead all of rivals by more than the margin: it holds where
// its lead over one of them is below the margin, and does not where all are above.
func NoLead(m Measure, a string, rivals []string) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := m.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		var all []comparison
		for _, b := range rivals {
			all = append(all, compare(n, a, b, "", m.level(len(rivals)), m.meanLead(n, n.Places, a, b)))
		}
		margin, text := m.margin()
		d := decide(all, noneBelow(margin))
		return m.verdict(n, d, rivals, []string{a}, m.effectName(d.by)+text), nil
	}
}

// noneBelow is the rule of NoLead.
func noneBelow(margin float64) func([]comparison) (Outcome, comparison) {
	return func(all []comparison) (Outcome, comparison) {
		least := slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.high, b.high) })
		switch {
		case least.high < margin:
			return Holds, least
		case slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.low, b.low) }).low > margin:
			return DoesNotHold, least
		}
		return Undecided, least
	}
}
