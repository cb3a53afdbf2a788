package mar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/markdown"
	"missingscore/data/network"
)

// tables have the largest bias of each kind, and all biases of the first design.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	worst := markdown.Table{Name: "worst", Header: []string{"design", "missing", "method", "edges", "pairs without an edge", "means", "wrong signs", "false edges", "tables"}}
	for _, name := range s.Designs {
		for _, m := range s.Methods {
			b, err := read(r, name, m.Name)
			if err != nil {
				return nil, err
			}
			if len(b.missing) == 0 {
				continue
			}
			edges, others := b.byTruth(designs[name])
			worst.Lines = append(worst.Lines, []string{name, fmt.Sprintf("%.0f %%", 100*stat.Mean(b.missing, nil)), m.Name,
				largest(edges), largest(others), largest(b.means), fmt.Sprintf("%.2g", stat.Mean(b.signs, nil)), fmt.Sprintf("%.2g", stat.Mean(b.alarms, nil)), strconv.Itoa(len(b.signs))})
		}
	}
	first, err := s.first(r)
	return []markdown.Table{worst, first}, err
}

// first has every error of the first design.
func (s settings) first(r cells.Results) (markdown.Table, error) {
	truth := designs[s.Designs[0]]
	d := truth.precision.SymmetricDim()
	t := markdown.Table{Name: "first design", Header: []string{"method"}}
	for i, rho := range network.PartialCorrelations(truth.precision) {
		t.Header = append(t.Header, fmt.Sprintf("%s (truth %.3g)", pairs(d)[i], rho))
	}
	for j := range d {
		t.Header = append(t.Header, fmt.Sprintf("mean of %d", j+1))
	}
	for _, m := range s.Methods {
		b, err := read(r, s.Designs[0], m.Name)
		if err != nil {
			return t, err
		}
		if len(b.signs) == 0 {
			continue
		}
		line := []string{m.Name}
		for _, e := range slices.Concat(b.partials, b.means) {
			line = append(line, markdown.SignedInterval(e.errors))
		}
		t.Lines = append(t.Lines, line)
	}
	return t, nil
}

// errorsOf are estimate less truth of one quantity, one of each table.
type errorsOf struct {
	name   string
	errors []float64
}

// biases are a method's on a design.
type biases struct {
	partials, means        []errorsOf
	missing, signs, alarms []float64
}

// byTruth parts the pairs into edges and others.
func (b biases) byTruth(c design) (edges, others []errorsOf) {
	for i, rho := range network.PartialCorrelations(c.precision) {
		if rho != 0 {
			edges = append(edges, b.partials[i])
		} else {
			others = append(others, b.partials[i])
		}
	}
	return edges, others
}

// read gives what a method's finished cells say; of fits that diverged nothing.
func read(r cells.Results, name, method string) (b biases, err error) {
	truth := designs[name]
	d := truth.precision.SymmetricDim()
	partial := network.PartialCorrelations(truth.precision)
	for _, pair := range pairs(d) {
		b.partials = append(b.partials, errorsOf{name: pair})
	}
	for j := range d {
		b.means = append(b.means, errorsOf{name: strconv.Itoa(j + 1)})
	}
	of, err := r.Only(map[string]string{designColumn: name, "method": method})
	if err != nil {
		return b, err
	}
	lines, err := of.Values(missingColumn, partialColumn, meansColumn, signColumn, falseColumn)
	if err != nil {
		return b, err
	}
	for _, line := range lines {
		if line[1] == "-" {
			continue
		}
		var numbers []float64
		for _, word := range strings.Fields(strings.Join(line, " ")) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return b, fmt.Errorf("design %s, method %s: %w", name, method, err)
			}
			numbers = append(numbers, v)
		}
		if len(numbers) != 3+len(partial)+d {
			return b, fmt.Errorf("design %s, method %s: a line has %d numbers, not %d", name, method, len(numbers), 3+len(partial)+d)
		}
		b.missing = append(b.missing, numbers[0])
		for i, rho := range partial {
			b.partials[i].errors = append(b.partials[i].errors, numbers[1+i]-rho)
		}
		for j := range d {
			b.means[j].errors = append(b.means[j].errors, numbers[1+len(partial)+j])
		}
		b.signs, b.alarms = append(b.signs, numbers[len(numbers)-2]), append(b.alarms, numbers[len(numbers)-1])
	}
	return b, nil
}

// largest shows the one that is furthest from 0.
func largest(all []errorsOf) string {
	if len(all) == 0 {
		return ""
	}
	e := furthest(all)
	return markdown.SignedInterval(e.errors) + " (" + e.name + ")"
}

// furthest is the one whose mean is furthest from 0.
func furthest(all []errorsOf) errorsOf {
	return slices.MaxFunc(all, func(a, b errorsOf) int {
		return cmp.Compare(math.Abs(stat.Mean(a.errors, nil)), math.Abs(stat.Mean(b.errors, nil)))
	})
}
