package denoising

import (
	"encoding/json"
	"fmt"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// tables have means over the replicates with the half widths of their 95 % t-intervals.
// Differences are taken within replicates.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	of := map[string]*claims.Numbers{}
	for _, column := range []string{sizeColumn, ksColumn, worstColumn, correlationColumn, pairsColumn, energyColumn} {
		if of[column], err = (claims.Measure{Column: column}).Read(r); err != nil {
			return nil, err
		}
	}
	t := markdown.Table{Name: "methods", Header: []string{"", "KS of a column", "worst KS", "correlation error", "energy distance of two columns", "of the rows",
		"less Marg-IW's: KS", "correlation error", "energy distance", "effective draws", "replicates"}}
	for _, m := range s.Methods {
		if len(of[ksColumn].Of("", m.Name)) == 0 {
			continue
		}
		line := []string{picture.MethodTitle(m.Name)}
		for _, column := range []string{ksColumn, worstColumn, correlationColumn, pairsColumn, energyColumn} {
			line = append(line, markdown.Interval(of[column].Of("", m.Name)))
		}
		for _, column := range []string{ksColumn, correlationColumn, energyColumn} {
			less := ""
			if m.Name != "iw" {
				less = markdown.Interval(claims.Differences(of[column], m.Name, of[column], "iw"))
			}
			line = append(line, less)
		}
		t.Lines = append(t.Lines, append(line, markdown.MeanDraws(of[sizeColumn].Of("", m.Name)), fmt.Sprint(len(of[ksColumn].Of("", m.Name)))))
	}
	return []markdown.Table{t}, nil
}
