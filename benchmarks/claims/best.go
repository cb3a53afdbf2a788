package claims

import "missingscore/benchmarks/cells"

// Best tests that each of ahead is better than each of rivals, on average over the
// places of m.Along, or, if everywhere, at each of them. It holds where all intervals are above 0,
// and does not where one is below, or, from NoLeadReplicates on, contains 0 and ends below the margin.
func Best(m Measure, ahead, rivals []string, everywhere bool) Test {
	return func(r cells.Results) (Verdict, error) {
		n, err := m.Read(r)
		if err != nil {
			return Verdict{}, err
		}
		groups := [][]string{n.Places}
		if everywhere {
			groups = nil
			for _, x := range n.Places {
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
		margin, text := m.margin()
		d := decide(all, better(margin))
		v := m.verdict(n, d, ahead, rivals, m.effectName(d.by))
		if d.outcome == DoesNotHold && d.by.none(margin) && d.by.high >= 0 {
			v.Measure += text
		}
		return v, nil
	}
}
