package ordinal

import (
	"encoding/json"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/markdown"
)

// tables have a measure each, its means over replicates with 95 % t-intervals.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []markdown.Table
	for _, m := range []struct{ name, column string }{
		{"errors", errorColumn}, {"biases", biasColumn}, {"f1", f1Column}, {"seconds", secondsColumn},
	} {
		t, err := s.table(r, m.name, m.column)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// table has a line for each truth, number of rows and law that was run.
func (s settings) table(r cells.Results, name, column string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"truth", "rows", "missing"}}
	for _, m := range s.Methods {
		t.Header = append(t.Header, m.Name)
	}
	t.Header = append(t.Header, "tables")
	for _, truth := range s.Truths {
		if column == f1Column && truth == "factors" { // every pair is an edge
			continue
		}
		for _, rows := range s.Rows {
			for _, law := range s.Laws {
				at := errorAt(truth, strconv.Itoa(rows), law.Name)
				at.Column = column
				n, err := at.Read(r)
				if err != nil {
					return t, err
				}
				if len(n.Replicates) == 0 {
					continue
				}
				line := []string{truth, strconv.Itoa(rows), law.Name}
				for _, m := range s.Methods {
					line = append(line, markdown.Interval(n.Of("", m.Name)))
				}
				t.Lines = append(t.Lines, append(line, strconv.Itoa(len(n.Replicates))))
			}
		}
	}
	return t, nil
}
