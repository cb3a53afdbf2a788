package claims

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
)

// Axis is how a trend goes along m.Along: the slope is per unit of Of.
type Axis struct {
	Of   func(x float64) float64
	Unit string
}

// Trend tests that the lead of a over each of rivals grows along m.Along, or, with
// sign −1, shrinks: the least-squares slope of each replicate's leads. It holds and
// does not as Best, the margin being a change of the lead from the first place to the last.
func Trend(m Measure, a string, rivals []string, along Axis, sign float64) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := m.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		x, err := n.Positions(m.Along)
		if err != nil {
			return Verdict{}, err
		}
		for i := range x {
			x[i] = along.Of(x[i])
		}
		var all []comparison
		for _, b := range rivals {
			all = append(all, compare(n, a, b, "", m.level(len(rivals)), func(replicate string) (float64, bool) {
				slope, ok := m.slope(n, x, replicate, a, b)
				return sign * slope, ok
			}))
		}
		margin, _ := m.margin()
		if len(x) > 1 {
			margin /= slices.Max(x) - slices.Min(x)
		}
		d := decide(all, better(margin))
		kind := "change of the difference"
		if m.ratio() {
			kind = "factor on the ratio"
		}
		if sign < 0 {
			d.by.effect, d.by.low, d.by.high = -d.by.effect, -d.by.high, -d.by.low
		}
		return m.verdict(n, d, []string{a}, rivals, kind+" "+along.Unit+": "+m.effectName(d.by)), nil
	}
}

// slope is that of a replicate's leads of a over b along x, the places of n.
func (m Measure) slope(n *Numbers, x []float64, replicate, a, b string) (slope float64, ok bool) {
	var leads []float64
	for _, at := range n.Places {
		v, ok := m.lead(n, at, replicate, a, b)
		if !ok {
			return 0, false
		}
		leads = append(leads, v)
	}
	if len(leads) < 2 {
		return 0, false
	}
	_, slope = stat.LinearRegression(x, leads, nil, false)
	return slope, true
}

// Against tests that the lead of a over b is larger by one measure than by another,
// as at a later epoch.
func Against(now, then Measure, a, b, name string) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := now.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		before, err := then.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		late, early := now.meanLead(n, n.Places, a, b), then.meanLead(before, before.Places, a, b)
		d := decide([]comparison{compare(n, a, b, "", now.level(1), func(replicate string) (float64, bool) {
			l, okl := late(replicate)
			e, oke := early(replicate)
			return l - e, okl && oke
		})}, positive)
		return now.verdict(n, d, []string{a, b}, nil, name), nil
	}
}
