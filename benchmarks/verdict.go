package benchmarks

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/internal/picture"
)

// The tests of the paper's sentences. The unit is a replicate: its numbers for two
// methods come from the same table with the same gaps, so methods are compared within
// it, the settings of a replicate are averaged first, and the t-interval is that of the
// replicates' averages. Replicates that lack a number of either method are left out and
// counted; if the method that a sentence favours ran away in one, the sentence does not
// hold on the strength of the others. Where a sentence needs k comparisons each interval
// has level 1 − 0.05/k (Bonferroni), so that a verdict is wrong with probability 0.05 at most.

const (
	// LeastReplicates is what a verdict needs; below, it is undecided.
	LeastReplicates = 4
	// Differences below these are called none: ours, the paper gives no number.
	marginRatio, marginDifference = 1.1, 0.02
)

// comparison is of two methods: positive if a is the better.
type comparison struct {
	a, b              string
	at                string // the place, if not the average over all
	effect, low, high float64
	replicates, left  int
}

// few says that the replicates are too few for a verdict.
func (c comparison) few() bool { return c.replicates < LeastReplicates }

// each gives the values of the replicates that have one, and how many have none.
func (n *numbers) each(value func(replicate string) (float64, bool)) (values []float64, left int) {
	for _, replicate := range n.replicates {
		if v, ok := value(replicate); ok {
			values = append(values, v)
		} else {
			left++
		}
	}
	return values, left
}

// compare gives the interval of value over replicates.
func compare(n *numbers, a, b, at string, level float64, value func(replicate string) (float64, bool)) comparison {
	effects, left := n.each(value)
	return newComparison(a, b, at, len(effects), left, func() (effect, half float64) { return meanInterval(effects, level) })
}

// newComparison has no ends where the replicates are few.
func newComparison(a, b, at string, replicates, left int, interval func() (effect, half float64)) comparison {
	c := comparison{a: a, b: b, at: at, low: math.Inf(-1), high: math.Inf(1), replicates: replicates, left: left}
	if !c.few() {
		effect, half := interval()
		c.effect, c.low, c.high = effect, effect-half, effect+half
	}
	return c
}

// lead of a over b at a place of a replicate: log ratio or difference.
func (m Measure) lead(n *numbers, x, replicate, a, b string) (float64, bool) {
	va, oka := n.at[place{x, replicate, a}]
	vb, okb := n.at[place{x, replicate, b}]
	if m.Smaller {
		return math.Log(vb / va), oka && okb && va > 0 && vb > 0
	}
	return va - vb, oka && okb
}

// meanLead averages the lead over places.
func (m Measure) meanLead(n *numbers, xs []string, a, b string) func(string) (float64, bool) {
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

// shown turns an effect into what is read: a ratio, or the difference itself.
func (m Measure) shown(effect float64) float64 {
	if m.Smaller {
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
	if m.Smaller {
		return fmt.Sprintf("%s, %s / %s", m.Name, b, a), 1
	}
	return fmt.Sprintf("%s, %s − %s", m.Name, a, b), 0
}

// verdict reports the deciding comparison beside the methods' means, the favoured ones'
// and their rivals'.
func (m Measure) verdict(n *numbers, o Outcome, c comparison, favoured, rivals []string, name string) Verdict {
	o, doubt := certain(o, n.ranAway(favoured))
	return m.decided(o, c, name, m.means(n, slices.Concat(favoured, rivals))+doubt)
}

// certain takes nothing from the replicates that are left when the favoured ran away in others.
func certain(o Outcome, ranAway int) (Outcome, string) {
	if ranAway == 0 || o != Holds {
		return o, ""
	}
	return Undecided, fmt.Sprintf(" It would hold, but for %d replicates in which a method that it favours ran away.", ranAway)
}

func (m Measure) decided(o Outcome, c comparison, name, evidence string) Verdict {
	v := Verdict{Outcome: o, Measure: name, Effect: m.shown(c.effect), Low: m.shown(c.low), High: m.shown(c.high), Replicates: c.replicates, Evidence: evidence}
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
func (m Measure) means(n *numbers, methods []string) string {
	var parts []string
	for _, method := range methods {
		var all []float64
		for _, x := range n.x {
			for _, replicate := range n.replicates {
				if v, ok := n.at[place{x, replicate, method}]; ok {
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

// Test is that of a Claim.
type Test = func(Results) (Verdict, error)

// Best tests that each of ahead is better than each of rivals, on average over the
// places of m.Along, or, if everywhere, at each of them. It holds where all intervals are above 0,
// and does not where one is below.
func Best(m Measure, ahead, rivals []string, everywhere bool) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(m)
		if err != nil {
			return Verdict{}, err
		}
		groups := [][]string{n.x}
		if everywhere {
			groups = nil
			for _, x := range n.x {
				groups = append(groups, []string{x})
			}
		}
		level := m.level(len(groups) * len(ahead) * len(rivals))
		var all []comparison
		for _, xs := range groups {
			at := ""
			if everywhere {
				at = xs[0]
			}
			for _, a := range ahead {
				for _, b := range rivals {
					all = append(all, compare(n, a, b, at, level, m.meanLead(n, xs, a, b)))
				}
			}
		}
		o, c := positive(all)
		return m.verdict(n, o, c, ahead, rivals, m.effectName(c)), nil
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

// margin below which a difference is called none, as an effect and in words.
func (m Measure) margin() (float64, string) {
	if m.Smaller {
		return math.Log(marginRatio), fmt.Sprintf("; from 1/%v to %v is none", marginRatio, marginRatio)
	}
	return marginDifference, fmt.Sprintf("; within ±%v is none", marginDifference)
}

// Comparable tests that no two of the methods differ by more than the margin anywhere
// along m.Along (two one-sided tests): it holds where the intervals of all places lie within, and
// does not where that of one place, or of an average over places, lies outside. An
// average alone would let opposite differences cancel. Averages and places share the risk.
func Comparable(m Measure, methods ...string) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(m)
		if err != nil {
			return Verdict{}, err
		}
		pairs := len(methods) * (len(methods) - 1) / 2
		places, averages := m.level(pairs*len(n.x)), 0.0
		if len(n.x) > 1 {
			places, averages = m.share(2).level(pairs*len(n.x)), m.share(2).level(pairs)
		}
		var each, all []comparison
		for i, a := range methods {
			for _, b := range methods[i+1:] {
				for _, x := range n.x {
					at := x
					if len(n.x) == 1 {
						at = ""
					}
					each = append(each, compare(n, a, b, at, places, m.meanLead(n, []string{x}, a, b)))
				}
				if len(n.x) > 1 {
					all = append(all, compare(n, a, b, "", averages, m.meanLead(n, n.x, a, b)))
				}
			}
		}
		if len(each) == 0 {
			return m.verdict(n, Undecided, comparison{}, methods, nil, ""), nil
		}
		margin, text := m.margin()
		c := slices.MaxFunc(each, func(a, b comparison) int { return cmp.Compare(a.furthest(), b.furthest()) })
		apart := slices.MaxFunc(append(all, each...), func(a, b comparison) int { return cmp.Compare(a.nearest(), b.nearest()) })
		o := Undecided
		switch {
		case apart.nearest() > margin:
			o, c = DoesNotHold, apart
		case c.furthest() < margin:
			o = Holds
		}
		return m.verdict(n, o, c, methods, nil, m.effectName(c)+text), nil
	}
}

// furthest is the end of the interval further from 0, nearest how far all of it is.
func (c comparison) furthest() float64 { return max(c.high, -c.low) }
func (c comparison) nearest() float64  { return max(c.low, -c.high) }

// NoLead tests that a does not lead all of rivals by more than the margin: it holds where
// its lead over one of them is below the margin, and does not where all are above.
func NoLead(m Measure, a string, rivals []string) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(m)
		if err != nil {
			return Verdict{}, err
		}
		var all []comparison
		for _, b := range rivals {
			all = append(all, compare(n, a, b, "", m.level(len(rivals)), m.meanLead(n, n.x, a, b)))
		}
		margin, text := m.margin()
		least := slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.high, b.high) })
		o := Undecided
		switch {
		case least.high < margin:
			o = Holds
		case slices.MinFunc(all, func(a, b comparison) int { return cmp.Compare(a.low, b.low) }).low > margin:
			o = DoesNotHold
		}
		return m.verdict(n, o, least, rivals, []string{a}, m.effectName(least)+text), nil
	}
}

// All tests the parts of a sentence: it holds where all do, and does not where one does
// not. They share the risk.
func All(m Measure, parts ...func(Measure) Test) Test {
	return func(r Results) (Verdict, error) {
		var verdicts []Verdict
		var others []string
		for _, part := range parts {
			v, err := part(m.share(len(parts)))(r)
			if err != nil {
				return v, err
			}
			verdicts = append(verdicts, v)
		}
		decides := decisive(verdicts)
		for i, v := range verdicts {
			if i != decides {
				others = append(others, fmt.Sprintf(" The other part, %s: %s, %.3g [%.3g, %.3g].", v.Measure, v.Outcome, v.Effect, v.Low, v.High))
			}
		}
		v := verdicts[decides]
		v.Evidence += strings.Join(others, "")
		return v, nil
	}
}

// decisive is the first verdict that does not hold, else the first undecided, else the first.
func decisive(verdicts []Verdict) int {
	for _, o := range []Outcome{DoesNotHold, Undecided} {
		if i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Outcome == o }); i >= 0 {
			return i
		}
	}
	return 0
}

// Axis is how a trend goes along m.Along: the slope is per unit of Of.
type Axis struct {
	Of   func(x float64) float64
	Unit string
}

// Trend tests that the lead of a over each of rivals grows along m.Along, or, with
// sign −1, shrinks: the least-squares slope of each replicate's leads. It holds and
// does not as Best.
func Trend(m Measure, a string, rivals []string, along Axis, sign float64) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(m)
		if err != nil {
			return Verdict{}, err
		}
		x, err := n.values(m.Along)
		if err != nil {
			return Verdict{}, err
		}
		for i := range x {
			x[i] = along.Of(x[i])
		}
		var all []comparison
		for _, b := range rivals {
			all = append(all, compare(n, a, b, "", m.level(len(rivals)), func(replicate string) (float64, bool) {
				var leads []float64
				for _, at := range n.x {
					v, ok := m.lead(n, at, replicate, a, b)
					if !ok {
						return 0, false
					}
					leads = append(leads, v)
				}
				if len(leads) < 2 {
					return 0, false
				}
				_, slope := stat.LinearRegression(x, leads, nil, false)
				return sign * slope, true
			}))
		}
		o, c := positive(all)
		kind := "change of the difference"
		if m.Smaller {
			kind = "factor on the ratio"
		}
		if sign < 0 {
			c.effect, c.low, c.high = -c.effect, -c.high, -c.low
		}
		return m.verdict(n, o, c, []string{a}, rivals, kind+" "+along.Unit+": "+m.effectName(c)), nil
	}
}

// Against tests that the lead of a over b is larger by one measure than by another,
// as at a later epoch.
func Against(now, then Measure, a, b, name string) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(now)
		if err != nil {
			return Verdict{}, err
		}
		before, err := r.numbers(then)
		if err != nil {
			return Verdict{}, err
		}
		late, early := now.meanLead(n, n.x, a, b), then.meanLead(before, before.x, a, b)
		o, c := positive([]comparison{compare(n, a, b, "", now.level(1), func(replicate string) (float64, bool) {
			l, okl := late(replicate)
			e, oke := early(replicate)
			return l - e, okl && oke
		})})
		return now.verdict(n, o, c, []string{a, b}, nil, name), nil
	}
}

// Fact is a number of the simulated truth, and so the same for all methods: a column,
// of the lines where others have the given values.
type Fact struct {
	Column string
	Where  map[string]string
}

// Between tests that one fact is above another, over replicates.
func Between(above, below Fact, name string) Test {
	return func(r Results) (Verdict, error) {
		hi, err := r.facts(above)
		if err != nil {
			return Verdict{}, err
		}
		lo, err := r.facts(below)
		if err != nil {
			return Verdict{}, err
		}
		n := &numbers{replicates: slices.Sorted(maps.Keys(hi))}
		c := compare(n, "", "", "", 0.95, func(replicate string) (float64, bool) {
			v, ok := lo[replicate]
			return hi[replicate] - v, ok
		})
		o, _ := positive([]comparison{c})
		v := Measure{}.verdict(n, o, c, nil, nil, name)
		if !c.few() {
			v.Evidence = fmt.Sprintf("Means: %.3g and %.3g.", average(hi), average(lo))
		}
		return v, nil
	}
}

func average(of map[string]float64) float64 {
	return stat.Mean(slices.Sorted(maps.Values(of)), nil)
}

// facts are a fact's numbers by replicate.
func (r Results) facts(f Fact) (map[string]float64, error) {
	chosen, err := r.Only(f.Where)
	if err != nil {
		return nil, err
	}
	i, err := r.column(f.Column)
	if err != nil {
		return nil, err
	}
	at, err := r.column("replicate")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, line := range chosen.Lines {
		if out[line[at]], err = strconv.ParseFloat(line[i], 64); err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Column, err)
		}
	}
	return out, nil
}

// AtLargest makes a test at the largest place only.
func AtLargest(m Measure, test func(Measure) Test) Test { return atEnd(m, slices.Max, test) }

// AtSmallest makes a test at the smallest place only.
func AtSmallest(m Measure, test func(Measure) Test) Test { return atEnd(m, slices.Min, test) }

func atEnd(m Measure, end func([]float64) float64, test func(Measure) Test) Test {
	return func(r Results) (Verdict, error) {
		n, err := r.numbers(m)
		if err != nil {
			return Verdict{}, err
		}
		x, err := n.values(m.Along)
		if err != nil {
			return Verdict{}, err
		}
		if len(x) == 0 {
			return test(m)(r)
		}
		at := n.x[slices.Index(x, end(x))]
		v, err := test(m.With(m.Along, at))(r)
		v.Measure += fmt.Sprintf(" at %s %s", m.Along, at)
		return v, err
	}
}
