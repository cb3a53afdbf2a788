package claims

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	// LeastReplicates is what a verdict needs; below, it is undecided.
	LeastReplicates = 4
	// NoLeadReplicates are those from which on a lead that is not found, and cannot be above
	// the margin, is none: with fewer, more of them may find it yet.
	NoLeadReplicates = 8
	// Differences below these are called none: ours, the paper gives no number.
	marginRatio, marginDifference = 1.1, 0.02
)

// comparison is of two methods: positive if a is the better.
type comparison struct {
	a, b              string
	at                string // the place, if not the average over all
	effect, low, high float64
	always            float64 // half width of the interval that holds at every look, too
	replicates, left  int
}

// estimate is an effect with the half width of its interval, and with that of one which holds
// at every look.
type estimate struct{ effect, half, always float64 }

// few says that the replicates are too few for a verdict.
func (c comparison) few() bool { return c.replicates < LeastReplicates }

// compare gives the interval of value over replicates.
func compare(n *Numbers, a, b, at string, level float64, value func(replicate string) (float64, bool)) comparison {
	effects, left := n.each(value)
	return newComparison(a, b, at, len(effects), left, func() estimate { return meanOf(effects, level) })
}

// meanOf is the mean of numbers of one replicate each.
func meanOf(x []float64, level float64) estimate {
	mean, half := meanInterval(x, level)
	_, always := meanAnytime(x, level)
	return estimate{mean, half, always}
}

// newComparison has no ends where the replicates are few.
func newComparison(a, b, at string, replicates, left int, of func() estimate) comparison {
	c := comparison{a: a, b: b, at: at, low: math.Inf(-1), high: math.Inf(1), always: math.Inf(1), replicates: replicates, left: left}
	if !c.few() {
		e := of()
		c.effect, c.low, c.high, c.always = e.effect, e.effect-e.half, e.effect+e.half, e.always
	}
	return c
}

// anytime are the comparisons with the intervals that hold at every look.
func anytime(all []comparison) (out []comparison) {
	for _, c := range all {
		c.low, c.high = c.effect-c.always, c.effect+c.always
		out = append(out, c)
	}
	return out
}

// decision is what a rule makes of comparisons, and of the same with the intervals that hold at
// every look.
type decision struct {
	outcome, anytime Outcome
	by               comparison // that decides the first
}

// decide applies a rule to both.
func decide(all []comparison, rule func([]comparison) (Outcome, comparison)) decision {
	var d decision
	d.outcome, d.by = rule(all)
	d.anytime, _ = rule(anytime(all))
	return d
}

// lead of a over b at a place of a replicate: log ratio or difference.
func (m Measure) lead(n *Numbers, x, replicate, a, b string) (float64, bool) {
	va, oka := n.At(x, replicate, a)
	vb, okb := n.At(x, replicate, b)
	switch {
	case m.ratio():
		return math.Log(vb / va), oka && okb && va > 0 && vb > 0
	case m.Smaller:
		return vb - va, oka && okb
	}
	return va - vb, oka && okb
}

// meanLead averages the lead over places.
func (m Measure) meanLead(n *Numbers, xs []string, a, b string) func(string) (float64, bool) {
	return func(replicate string) (float64, bool) {
		var leads []float64
		for _, x := range xs {
			v, ok := m.lead(n, x, replicate, a, b)
			if !ok {
				return 0, false
			}
			leads = append(leads, v)
		}
		return stat.Mean(leads, nil), len(leads) > 0
	}
}

// positive tests that all effects are above 0, and gives the one that decides.
func positive(all []comparison) (Outcome, comparison) {
	if len(all) == 0 {
		return Undecided, comparison{}
	}
	leastLow := slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.low, b.low) })
	leastHigh := slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.high, b.high) })
	switch {
	case leastHigh.high < 0:
		return DoesNotHold, leastHigh
	case leastLow.low > 0:
		return Holds, leastLow
	}
	return Undecided, leastLow
}

// better tests that all leads are above 0, as positive does. One that may be none and is
// below the margin for certain is no lead, from NoLeadReplicates on: there "better" does
// not hold either.
func better(margin float64) func([]comparison) (Outcome, comparison) {
	return func(all []comparison) (Outcome, comparison) {
		o, c := positive(all)
		if o != Undecided {
			return o, c
		}
		if k := slices.IndexFunc(all, func(c comparison) bool { return c.none(margin) }); k >= 0 {
			return DoesNotHold, all[k]
		}
		return o, c
	}
}

// none tells that a lead may be none, and cannot be above the margin.
func (c comparison) none(margin float64) bool {
	return c.replicates >= NoLeadReplicates && c.low <= 0 && c.high < margin
}

// furthest is the end of the interval further from 0, nearest how far all of it is.
func (c comparison) furthest() float64 { return max(c.high, -c.low) }
func (c comparison) nearest() float64  { return max(c.low, -c.high) }

// margin below which a difference is called none, as an effect and in words.
func (m Measure) margin() (float64, string) {
	margin := m.Margin
	switch {
	case m.ratio():
		if margin == 0 {
			margin = marginRatio
		}
		return math.Log(margin), fmt.Sprintf("; from 1/%v to %v is none", margin, margin)
	case margin == 0:
		margin = marginDifference
	}
	return margin, fmt.Sprintf("; within ±%v is none", margin)
}
