package claims

import (
	"fmt"
	"slices"

	"missingscore/benchmarks/cells"
)

// Across is a sentence of the paper that compares experiments with each other.
type Across struct {
	ID, Quote, Where string // as a Claim's
	Joint
}

// Joint is a test that gets the results of all experiments that it names.
type Joint struct {
	Of []string
	// Also are experiments whose results it gets where there are any, and does without where not.
	Also []string
	Test func(of map[string]cells.Results) (Verdict, error)
}

// Clearer tests that the lead of a over each of rivals is larger in one experiment than
// in another, on average over the places of m.Along that both have. It holds and does
// not as Best. A seed makes another table in each experiment, though with the same gaps:
// replicates are not paired between them, and the intervals are Welch's.
func Clearer(m Measure, in, than, a string, rivals []string) Joint {
	return Joint{Of: []string{in, than}, Test: func(of map[string]cells.Results) (Verdict, error) {
		n, err := m.Read(of[in])
		if err != nil {
			return Verdict{}, fmt.Errorf("%s: %w", in, err)
		}
		other, err := m.Read(of[than])
		if err != nil {
			return Verdict{}, fmt.Errorf("%s: %w", than, err)
		}
		n.Places = slices.DeleteFunc(n.Places, func(x string) bool { return !slices.Contains(other.Places, x) })
		other.Places = n.Places
		var all []comparison
		for _, b := range rivals {
			leads, left := n.each(m.meanLead(n, n.Places, a, b))
			others, leftOthers := other.each(m.meanLead(other, n.Places, a, b))
			all = append(all, newComparison(a, b, "", min(len(leads), len(others)), left+leftOthers,
				func() estimate { return differenceOf(leads, others, m.level(len(rivals))) }))
		}
		margin, _ := m.margin()
		d := decide(all, better(margin))
		d, doubt := certain(d, n.divergedReplicates([]string{a})+other.divergedReplicates([]string{a}))
		lead, none := m.leadName(d.by)
		methods := slices.Concat([]string{a}, rivals)
		return m.decided(d, fmt.Sprintf("%s: in %s against %s (above %d: the lead is larger in %s)", lead, in, than, none, in),
			fmt.Sprintf("%s, %d replicates. %s %s, %d replicates. %s", in, len(n.Replicates), m.means(n, methods), than, len(other.Replicates), m.means(other, methods))+doubt), nil
	}}
}

// differenceOf is that of the means of two experiments' replicates.
func differenceOf(x, y []float64, level float64) estimate {
	difference, half := welch(x, y, level)
	_, always := differenceAnytime(x, y, level)
	return estimate{difference, half, always}
}
