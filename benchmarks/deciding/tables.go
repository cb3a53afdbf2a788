package deciding

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// baseline is what the others are compared with: plain L1.
const baseline = "l1, ebic"

// tables have a measure each: means over tables and replicates for each graph, and paired
// differences to the baseline, a replicate's settings averaged first.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []markdown.Table
	for _, m := range []struct {
		name, column string
		best         func([]float64) float64 // of a line's means
	}{{"auc", aucColumn, floats.Max}, {"f1", f1Column, floats.Max}, {"mcc", mccColumn, floats.Max}, {"fdr", fdrColumn, floats.Min}} {
		t, err := s.lines(r, m.name, m.column, func(n values, method string, others []string) string {
			mean, ok := n.mean(method)
			if !ok {
				return ""
			}
			var means []float64
			for _, other := range others {
				if v, ok := n.mean(other); ok {
					means = append(means, v)
				}
			}
			text := markdown.Signed("%.3f", mean)
			if mean == m.best(means) {
				text = "**" + text + "**"
			}
			return text
		})
		if err != nil {
			return nil, err
		}
		differences, err := s.lines(r, m.name+" differences", m.column, func(n values, method string, _ []string) string { return n.difference(method) })
		if err != nil {
			return nil, err
		}
		out = append(out, t, differences)
	}
	return out, nil
}

// values are a column's numbers: replicate → setting → method.
type values map[string]map[string]map[string]float64

// all are the settings of every graph together; signed, those of graphs whose edges have
// signs at random, which design and trials of the program were made on.
const (
	all    = "all"
	signed = "random, hub, chain"
)

// signedOn are the signed ones on one kind of table.
func signedOn(k kind) string { return signed + ": " + k.name() }

// lines have one line a graph, one of the signed ones together and one of them on each kind of
// table, one of all, and a column a method that the results have. A line is of the methods that were run
// in each of its settings, and only replicates of a setting count that have them all.
func (s settings) lines(r cells.Results, name, column string, cell func(n values, method string, others []string) string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"graph"}}
	of, err := s.read(r, column)
	if err != nil {
		return t, err
	}
	methods := slices.DeleteFunc(slices.Clone(s.Ways), func(m string) bool { return !of[all].has(m) })
	t.Header = append(append(t.Header, methods...), "replicates × settings")
	groups := append(slices.Clone(s.Graphs), signed)
	for _, k := range s.Tables {
		groups = append(groups, signedOn(k))
	}
	for _, graph := range append(groups, all) {
		own := slices.DeleteFunc(slices.Clone(methods), func(m string) bool { return !of[graph].everywhere(m) })
		n := of[graph].complete(own)
		if len(n) == 0 {
			continue
		}
		line, pairs := []string{graph}, 0
		for _, m := range methods {
			text := ""
			if slices.Contains(own, m) {
				text = cell(n, m, own)
			}
			line = append(line, text)
		}
		for _, settings := range n {
			pairs += len(settings)
		}
		t.Lines = append(t.Lines, append(line, strconv.Itoa(pairs)))
	}
	return t, nil
}

// read gives the numbers of each group of lines.
func (s settings) read(r cells.Results, column string) (map[string]values, error) {
	of := map[string]values{signed: {}, all: {}}
	for _, k := range s.Tables {
		of[signedOn(k)] = values{}
	}
	for _, graph := range s.Graphs {
		of[graph] = values{}
		for _, k := range s.Tables {
			n, err := claims.Measure{Column: column, Where: map[string]string{graphColumn: graph, tableColumn: k.name()}}.Read(r)
			if err != nil {
				return nil, err
			}
			for _, replicate := range n.Replicates {
				for _, w := range s.Ways {
					if v, ok := n.At("", replicate, w); ok {
						of[graph].put(replicate, k.name(), w, v)
						of[all].put(replicate, graph+", "+k.name(), w, v)
						if slices.Contains(strings.Split(signed, ", "), graph) {
							of[signed].put(replicate, graph+", "+k.name(), w, v)
							of[signedOn(k)].put(replicate, graph, w, v)
						}
					}
				}
			}
		}
	}
	return of, nil
}

func (n values) put(replicate, setting, method string, v float64) {
	if n[replicate] == nil {
		n[replicate] = map[string]map[string]float64{}
	}
	if n[replicate][setting] == nil {
		n[replicate][setting] = map[string]float64{}
	}
	n[replicate][setting][method] = v
}

func (n values) has(method string) bool {
	for _, settings := range n {
		for _, of := range settings {
			if _, ok := of[method]; ok {
				return true
			}
		}
	}
	return false
}

// everywhere says whether each setting has the method, in one replicate or another.
func (n values) everywhere(method string) bool {
	has := map[string]bool{}
	for _, settings := range n {
		for setting, of := range settings {
			_, ok := of[method]
			has[setting] = has[setting] || ok
		}
	}
	for _, ok := range has {
		if !ok {
			return false
		}
	}
	return len(has) > 0
}

// complete are the settings of replicates that all methods have.
func (n values) complete(methods []string) values {
	out := values{}
	for replicate, settings := range n {
		for setting, of := range settings {
			if !slices.ContainsFunc(methods, func(m string) bool { _, ok := of[m]; return !ok }) {
				for m, v := range of {
					out.put(replicate, setting, m, v)
				}
			}
		}
	}
	return out
}

// of are a method's means over settings, one a replicate, in order.
func (n values) of(method string) (out []float64) {
	for _, replicate := range slices.Sorted(maps.Keys(n)) {
		var x []float64
		for _, setting := range slices.Sorted(maps.Keys(n[replicate])) {
			x = append(x, n[replicate][setting][method])
		}
		out = append(out, stat.Mean(x, nil))
	}
	return out
}

func (n values) mean(method string) (float64, bool) {
	return stat.Mean(n.of(method), nil), n.has(method)
}

// difference to the baseline, paired within replicates, with its 95 % interval.
func (n values) difference(method string) string {
	if method == baseline || !n.has(method) || !n.has(baseline) {
		return ""
	}
	x := n.of(method)
	floats.Sub(x, n.of(baseline))
	return markdown.SignedInterval(x)
}
