package benchmarks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Across is a sentence of the paper that compares experiments with each other.
type Across struct {
	ID, Quote, Where string // as a Claim's
	Joint
}

// Joint is a test that gets the results of all experiments that it names.
type Joint struct {
	Of   []string
	Test func(of map[string]Results) (Verdict, error)
}

// Clearer tests that the lead of a over each of rivals is larger in one experiment than
// in another, on average over the places of m.Along that both have. It holds and does
// not as Best. A seed makes another table in each experiment, though with the same gaps:
// replicates are not paired between them, and the intervals are Welch's.
func Clearer(m Measure, in, than, a string, rivals []string) Joint {
	return Joint{[]string{in, than}, func(of map[string]Results) (Verdict, error) {
		n, err := of[in].numbers(m)
		if err != nil {
			return Verdict{}, fmt.Errorf("%s: %w", in, err)
		}
		other, err := of[than].numbers(m)
		if err != nil {
			return Verdict{}, fmt.Errorf("%s: %w", than, err)
		}
		n.x = slices.DeleteFunc(n.x, func(x string) bool { return !slices.Contains(other.x, x) })
		other.x = n.x
		var all []comparison
		for _, b := range rivals {
			leads, left := n.each(m.meanLead(n, n.x, a, b))
			others, leftOthers := other.each(m.meanLead(other, n.x, a, b))
			all = append(all, newComparison(a, b, "", min(len(leads), len(others)), left+leftOthers,
				func() (effect, half float64) { return welch(leads, others, m.level(len(rivals))) }))
		}
		o, c := positive(all)
		o, doubt := certain(o, n.ranAway([]string{a})+other.ranAway([]string{a}))
		lead, none := m.leadName(c)
		methods := slices.Concat([]string{a}, rivals)
		return m.decided(o, c, fmt.Sprintf("%s: in %s against %s (above %d: the lead is larger in %s)", lead, in, than, none, in),
			fmt.Sprintf("%s, %d replicates. %s %s, %d replicates. %s", in, len(n.replicates), m.means(n, methods), than, len(other.replicates), m.means(other, methods))+doubt), nil
	}}
}

// welch is the difference of the means of independent samples whose variances may
// differ, and the half width of its t-interval (Welch, Biometrika 34, 1947):
//
//	x̄ − ȳ ± t_ν √(u + v), u = s_x²/n, v = s_y²/m, ν = (u + v)² / (u²/(n−1) + v²/(m−1)).
func welch(x, y []float64, level float64) (difference, half float64) {
	meanX, varX := stat.MeanVariance(x, nil)
	meanY, varY := stat.MeanVariance(y, nil)
	n, m := float64(len(x)), float64(len(y))
	u, v := varX/n, varY/m
	if u+v == 0 { // no degrees of freedom either
		return meanX - meanY, 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: (u + v) * (u + v) / (u*u/(n-1) + v*v/(m-1))}
	return meanX - meanY, t.Quantile((1+level)/2) * math.Sqrt(u+v)
}

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
	return Joint{of, func(of map[string]Results) (Verdict, error) {
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
		v.Evidence = strings.Join(evidence, " ")
		return v, nil
	}}
}
