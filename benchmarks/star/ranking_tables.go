package star

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// rankingTables are the mean AUCs by missing probability, one table for each treatment.
func rankingTables(text json.RawMessage, r cells.Results) (out []markdown.Table, err error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	for _, t := range s.Treatments {
		table := markdown.Table{Name: t.Name, Header: []string{"missing"}}
		for _, way := range [][2]string{{pathColumn, "path"}, {imputedColumn, "imputed"}, {sizesColumn, "sizes"}} {
			n, err := claims.Measure{Column: way[0], Along: "missing"}.With("treatment", t.Name).Read(r)
			if err != nil {
				return nil, err
			}
			if table.Lines == nil {
				for _, p := range n.Places {
					table.Lines = append(table.Lines, []string{p})
				}
			}
			for _, method := range s.ranked() {
				appendMeans(&table, n, method, way[1])
			}
		}
		out = append(out, table)
	}
	return out, nil
}

// appendMeans adds a column, unless the method has no numbers of the kind.
func appendMeans(table *markdown.Table, n *claims.Numbers, method, way string) {
	column, some := make([]string, len(n.Places)), false
	for i, p := range n.Places {
		if values := n.Of(p, method); len(values) > 0 {
			column[i], some = fmt.Sprintf("%.3f", stat.Mean(values, nil)), true
		}
	}
	if !some {
		return
	}
	name := picture.MethodTitle(method) + ", " + way
	if method == byMarginal || method == byPartial {
		name = "pairwise, " + method
	}
	table.Header = append(table.Header, name)
	for i := range table.Lines {
		table.Lines[i] = append(table.Lines[i], column[i])
	}
}
