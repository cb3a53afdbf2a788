package neural

import (
	"encoding/json"
	"fmt"
	"strings"

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
	kept := make([]*claims.Numbers, len(s.Densities))
	for i, d := range s.Densities {
		of := map[string]*claims.Numbers{}
		for _, column := range []string{sizeColumn, truthColumn, leastColumn, passColumn, keptColumn, endColumn} {
			m := fisher(d.Name)
			m.Column = column
			if of[column], err = m.Read(r); err != nil {
				return nil, err
			}
		}
		kept[i] = of[keptColumn]
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
	return append(out, ratios(s, kept)), nil
}

// judged are the methods with an imputer of five normals and running means of their parameters, rivals
// those that they are measured by.
var (
	judged = []string{"em-variw-mixture", "em-var-mixture", "var-mixture"}
	rivals = []string{"iw", "em", "em-full", "em-variw-mixture", "zeroed", "full"}
)

// ratios has the distances of judged over those of rivals for each density, both with running means.
func ratios(s settings, kept []*claims.Numbers) markdown.Table {
	t := markdown.Table{Name: "ratios", Header: []string{"running means"}}
	for _, d := range s.Densities {
		t.Header = append(t.Header, d.Name)
	}
	for _, method := range judged {
		for _, rival := range rivals {
			if method == rival {
				continue
			}
			line, found := []string{picture.MethodTitle(method) + " / " + picture.MethodTitle(rival)}, false
			for _, k := range kept {
				r := claims.Ratios(k, s.averaged(method), k, s.averaged(rival))
				line, found = append(line, markdown.Interval(r)), found || len(r) > 0
			}
			if found {
				t.Lines = append(t.Lines, line)
			}
		}
	}
	return t
}

// averaged is the name of a method with running means of its parameters, if there is one.
func (s settings) averaged(name string) string {
	for _, m := range s.Methods {
		if m.Average > 0 && strings.TrimSuffix(m.Name, ", averaged") == name {
			return m.Name
		}
	}
	return ""
}
