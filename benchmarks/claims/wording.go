package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/internal/picture"
)

// shown turns an effect into what is read: a ratio, or the difference itself.
func (m Measure) shown(effect float64) float64 {
	if m.ratio() {
		return math.Exp(effect)
	}
	return effect
}

func (m Measure) effectName(c comparison) string {
	lead, none := m.leadName(c)
	return fmt.Sprintf("%s (above %d: %s is the better)", lead, none, picture.MethodTitle(c.a))
}

// leadName is the lead in words, and its value where there is none.
func (m Measure) leadName(c comparison) (lead string, none int) {
	a, b := picture.MethodTitle(c.a), picture.MethodTitle(c.b)
	switch {
	case m.ratio():
		return fmt.Sprintf("%s, %s / %s", m.Name, b, a), 1
	case m.Smaller:
		return fmt.Sprintf("%s, %s − %s", m.Name, b, a), 0
	}
	return fmt.Sprintf("%s, %s − %s", m.Name, a, b), 0
}

// verdict reports the deciding comparison beside the methods' means, the favoured ones'
// and their rivals'.
func (m Measure) verdict(n *Numbers, d decision, favoured, rivals []string, name string) Verdict {
	d, doubt := certain(d, n.divergedReplicates(favoured))
	return m.decided(d, name, m.means(n, slices.Concat(favoured, rivals))+doubt)
}

// certain takes nothing from the replicates that are left when the favoured diverged in others.
func certain(d decision, divergedReplicates int) (decision, string) {
	if divergedReplicates > 0 && d.anytime == Holds {
		d.anytime = Undecided
	}
	if divergedReplicates == 0 || d.outcome != Holds {
		return d, ""
	}
	d.outcome = Undecided
	return d, fmt.Sprintf(" It would hold, but for %d replicates in which a method that it favours diverged.", divergedReplicates)
}

func (m Measure) decided(d decision, name, evidence string) Verdict {
	c := d.by
	v := Verdict{Outcome: d.outcome, Anytime: d.anytime, Measure: name, Effect: m.shown(c.effect), Low: m.shown(c.low), High: m.shown(c.high), Replicates: c.replicates, Evidence: evidence}
	if c.at != "" {
		v.Measure += fmt.Sprintf(" at %s %s", m.Along, c.at)
	}
	if c.left > 0 {
		v.Evidence += fmt.Sprintf(" %d replicates lack a number of either method.", c.left)
	}
	if c.few() {
		v.Effect, v.Low, v.High = math.NaN(), math.NaN(), math.NaN()
		v.Evidence = fmt.Sprintf("%d replicates, %d are needed. ", c.replicates, LeastReplicates) + v.Evidence
	}
	return v
}

// means are the methods' averages over all that was run.
func (m Measure) means(n *Numbers, methods []string) string {
	var parts []string
	for _, method := range methods {
		var all []float64
		for _, x := range n.Places {
			for _, replicate := range n.Replicates {
				if v, ok := n.At(x, replicate, method); ok {
					all = append(all, v)
				}
			}
		}
		if len(all) > 0 {
			parts = append(parts, fmt.Sprintf("%s %.3g", picture.MethodTitle(method), stat.Mean(all, nil)))
		}
	}
	if len(parts) == 0 {
		return "Nothing has been run."
	}
	return "Means: " + strings.Join(parts, ", ") + "."
}
