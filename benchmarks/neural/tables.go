package neural

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// tables have, for each density, means over the replicates, with the half widths of their
// 95 % t-intervals. Ratios are taken within replicates.
func tables(text json.RawMessage, r cells.Results) (out []markdown.Table, err error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	for _, d := range s.Densities {
		of := map[string]*claims.Numbers{}
		for _, column := range []string{sizeColumn, truthColumn, leastColumn, passColumn, keptColumn, endColumn} {
			m := fisher(d.Name)
			m.Column = column
			if of[column], err = m.Read(r); err != nil {
				return nil, err
			}
		}
		t := markdown.Table{Name: d.Name, Header: []string{d.Name, "Fisher divergence", "after passes", "of E‖s‖²", "over Marg-IW's", "least", "at pass", "effective draws", "replicates"}}
		for _, name := range s.names() {
			kept := of[keptColumn].Of("", name)
			if len(kept) == 0 {
				continue
			}
			t.Lines = append(t.Lines, []string{picture.MethodTitle(name), markdown.Interval(kept), fmt.Sprintf("%.0f", stat.Mean(of[endColumn].Of("", name), nil)),
				markdown.Interval(claims.Ratios(of[keptColumn], name, of[truthColumn], name)), markdown.Interval(claims.Ratios(of[keptColumn], name, of[keptColumn], "iw")),
				markdown.Interval(of[leastColumn].Of("", name)), fmt.Sprintf("%.0f", stat.Mean(of[passColumn].Of("", name), nil)),
				markdown.MeanDraws(of[sizeColumn].Of("", name)), fmt.Sprint(len(kept))})
		}
		out = append(out, t)
	}
	return out, nil
}
