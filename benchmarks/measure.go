package benchmarks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Measure is a number that methods are compared by: a value column, or the last
// epoch of one that runs along training.
type Measure struct {
	Column string
	Name   string // in words
	// Smaller is better, and methods are compared by the ratio of their numbers;
	// otherwise larger is, and by the difference.
	Smaller bool
	Along   string            // the setting column that varies; "" for none
	Where   map[string]string // which lines: setting column → value
	Back    int               // so many places before the last epoch of the list
	Risk    float64           // that a verdict is wrong; 0 is 0.05
}

// share is the measure with its risk shared by k tests.
func (m Measure) share(k int) Measure {
	if m.Risk == 0 {
		m.Risk = 0.05
	}
	m.Risk /= float64(max(1, k))
	return m
}

// level of each of k intervals of which none may be wrong.
func (m Measure) level(k int) float64 { return 1 - m.share(k).Risk }

// With is the measure of lines whose column has the value, too.
func (m Measure) With(column, value string) Measure {
	where := map[string]string{column: value}
	for k, v := range m.Where {
		where[k] = v
	}
	m.Where = where
	return m
}

// place is one number's.
type place struct{ x, replicate, method string }

// numbers are a measure's: a method that did not finish has none.
type numbers struct {
	x, replicates []string // in the order of the grid
	at            map[place]float64
	fled          map[place]bool // the method ran away
}

// ranAway counts the replicates in which one of the methods did, somewhere.
func (n *numbers) ranAway(methods []string) int {
	replicates := map[string]bool{}
	for p := range n.fled {
		if slices.Contains(methods, p.method) {
			replicates[p.replicate] = true
		}
	}
	return len(replicates)
}

func (r Results) column(name string) (int, error) {
	if i := slices.Index(r.Columns, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no column %q among %s", name, strings.Join(r.Columns, ", "))
}

// Distinct are the values of a column, in the order of the grid.
func (r Results) Distinct(column string) ([]string, error) {
	i, err := r.column(column)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range r.Lines {
		if !slices.Contains(out, line[i]) {
			out = append(out, line[i])
		}
	}
	return out, nil
}

// Only are the lines whose columns have the given values.
func (r Results) Only(where map[string]string) (Results, error) {
	only := Results{Columns: r.Columns}
	at := map[int]string{}
	for name, value := range where {
		i, err := r.column(name)
		if err != nil {
			return only, err
		}
		at[i] = value
	}
	for _, line := range r.Lines {
		fits := true
		for i, value := range at {
			fits = fits && line[i] == value
		}
		if fits {
			only.Lines = append(only.Lines, line)
		}
	}
	return only, nil
}

// numbers reads a measure.
func (r Results) numbers(m Measure) (*numbers, error) {
	n := &numbers{at: map[place]float64{}, fled: map[place]bool{}}
	chosen, err := r.Only(m.Where)
	if err != nil {
		return nil, err
	}
	n.x = []string{""}
	along := -1
	if m.Along != "" {
		if along, err = r.column(m.Along); err != nil {
			return nil, err
		}
		if n.x, err = chosen.Distinct(m.Along); err != nil {
			return nil, err
		}
	}
	var at [3]int
	for i, name := range []string{"replicate", "method", m.Column} {
		if at[i], err = r.column(name); err != nil {
			return nil, err
		}
	}
	if n.replicates, err = chosen.Distinct("replicate"); err != nil {
		return nil, err
	}
	for _, line := range chosen.Lines {
		p := place{replicate: line[at[0]], method: line[at[1]]}
		if along >= 0 {
			p.x = line[along]
		}
		trace := strings.Fields(line[at[2]])
		k := len(trace) - 1 - m.Back
		if k < 0 || trace[k] == "-" {
			n.fled[p] = true
			continue
		}
		if n.at[p], err = strconv.ParseFloat(trace[k], 64); err != nil {
			return nil, fmt.Errorf("column %s: %w", m.Column, err)
		}
	}
	return n, nil
}

// values are the places along a column as numbers.
func (n *numbers) values(along string) ([]float64, error) {
	var values []float64
	for _, text := range n.x {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", along, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// Series are the measure's numbers for each of the methods, by x: what Bands draws.
func (r Results) Series(m Measure, methods []string) (x []float64, series []Series, err error) {
	n, err := r.numbers(m)
	if err != nil {
		return nil, nil, err
	}
	if x, err = n.values(m.Along); err != nil {
		return nil, nil, err
	}
	for _, method := range methods {
		s := Series{Name: method, Values: make([][]float64, len(n.x))}
		for k, at := range n.x {
			for _, replicate := range n.replicates {
				if v, ok := n.at[place{at, replicate, method}]; ok {
					s.Values[k] = append(s.Values[k], v)
				}
			}
		}
		series = append(series, s)
	}
	return x, series, nil
}
