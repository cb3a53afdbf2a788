package networks

import (
	"encoding/json"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// tables have a measure each, its means over replicates, and the paired differences of ours.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []markdown.Table
	for _, m := range []struct {
		name, column string
		best         func([]float64) float64 // of a line's means
	}{
		{"auc", aucColumn, floats.Max}, {"best f1", bestColumn, floats.Max}, {"f1", chosenColumn, floats.Max},
		{"precision", errorColumn, floats.Min}, {"least precision", leastColumn, floats.Min},
		{"edge bias", edgeBiasColumn, nil}, {"other bias", otherBiasColumn, floats.Min}, {"wrong signs", signColumn, floats.Min},
	} {
		t, err := s.means(r, m.name, m.column, m.best)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, m := range []struct{ name, column string }{{"auc differences", aucColumn}, {"f1 differences", chosenColumn}, {"precision differences", errorColumn}} {
		t, err := s.paired(r, m.name, m.column)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// lines visits what was run, with the numbers of a column.
func (s settings) lines(r cells.Results, column string, visit func(k kind, law string, n *claims.Numbers)) error {
	for _, k := range s.Networks {
		for _, law := range k.Laws {
			n, err := claims.Measure{Column: column, Where: map[string]string{networkColumn: k.Name, lawColumn: law}}.Read(r)
			if err != nil {
				return err
			}
			if len(n.Replicates) > 0 {
				visit(k, law, n)
			}
		}
	}
	return nil
}

// means have a line for each network and law, over the replicates that all its methods
// have; the best mean is bold.
func (s settings) means(r cells.Results, name, column string, best func([]float64) float64) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"network", "missing"}}
	for _, m := range s.Methods {
		t.Header = append(t.Header, m.Name)
	}
	t.Header = append(t.Header, "replicates")
	err := s.lines(r, column, func(k kind, law string, n *claims.Numbers) {
		means := map[string]float64{}
		var all []float64
		replicates := 0
		for name, x := range n.Together("", s.names()) {
			means[name], replicates = stat.Mean(x, nil), len(x)
			all = append(all, means[name])
		}
		line := []string{k.Name, law}
		for _, m := range s.Methods {
			mean, ok := means[m.Name]
			text := ""
			if ok {
				text = markdown.Signed("%.3f", mean)
			}
			if ok && best != nil && mean == best(all) {
				text = "**" + text + "**"
			}
			line = append(line, text)
		}
		t.Lines = append(t.Lines, append(line, strconv.Itoa(replicates)))
	})
	return t, err
}

func (s settings) names() (names []string) {
	for _, m := range s.Methods {
		names = append(names, m.Name)
	}
	return names
}

// paired are differences of ours to each method on the same tables, bold where the
// interval leaves 0 out.
func (s settings) paired(r cells.Results, name, column string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"network", "missing"}}
	for _, m := range s.Methods {
		if m.Name != ours {
			t.Header = append(t.Header, ours+" − "+m.Name)
		}
	}
	err := s.lines(r, column, func(k kind, law string, n *claims.Numbers) {
		line, some := []string{k.Name, law}, false
		for _, m := range s.Methods {
			if m.Name == ours {
				continue
			}
			text := markdown.SignedInterval(claims.Differences(n, ours, n, m.Name))
			line, some = append(line, text), some || text != ""
		}
		if some {
			t.Lines = append(t.Lines, line)
		}
	})
	return t, err
}
