package claims

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
)

// place is one number's.
type place struct{ x, replicate, method string }

// Numbers are a measure's: a method that did not finish has none.
type Numbers struct {
	Places, Replicates []string // in the order of the grid
	at                 map[place]float64
	diverged           map[place]bool
}

// At is one of them, if the method has it.
func (n *Numbers) At(x, replicate, method string) (float64, bool) {
	v, ok := n.at[place{x, replicate, method}]
	return v, ok
}

// divergedReplicates counts the replicates in which one of the methods did, somewhere.
func (n *Numbers) divergedReplicates(methods []string) int {
	replicates := map[string]bool{}
	for p := range n.diverged {
		if slices.Contains(methods, p.method) {
			replicates[p.replicate] = true
		}
	}
	return len(replicates)
}

// Read gives the measure's numbers.
func (m Measure) Read(r cells.Results) (*Numbers, error) {
	n := &Numbers{at: map[place]float64{}, diverged: map[place]bool{}}
	chosen, err := r.Only(m.Where)
	if err != nil {
		return nil, err
	}
	n.Places = []string{""}
	along := -1
	if m.Along != "" {
		if along, err = r.Column(m.Along); err != nil {
			return nil, err
		}
		if n.Places, err = chosen.Distinct(m.Along); err != nil {
			return nil, err
		}
	}
	var at [3]int
	for i, name := range []string{"replicate", "method", m.Column} {
		if at[i], err = r.Column(name); err != nil {
			return nil, err
		}
	}
	if n.Replicates, err = chosen.Distinct("replicate"); err != nil {
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
			n.diverged[p] = true
			continue
		}
		if n.at[p], err = strconv.ParseFloat(trace[k], 64); err != nil {
			return nil, fmt.Errorf("column %s: %w", m.Column, err)
		}
	}
	return n, nil
}

// Positions are the places along a column as numbers.
func (n *Numbers) Positions(along string) ([]float64, error) {
	var values []float64
	for _, text := range n.Places {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", along, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// each gives the values of the replicates that have one, and how many have none.
func (n *Numbers) each(value func(replicate string) (float64, bool)) (values []float64, left int) {
	for _, replicate := range n.Replicates {
		if v, ok := value(replicate); ok {
			values = append(values, v)
		} else {
			left++
		}
	}
	return values, left
}

// Of are a method's at a place, in the order of the replicates that have one.
func (n *Numbers) Of(place, method string) []float64 {
	values, _ := n.each(func(replicate string) (float64, bool) { return n.At(place, replicate, method) })
	return values
}

// Together are the numbers of methods at a place, in the replicates in which all of them
// that have any have one: their means can be compared.
func (n *Numbers) Together(place string, methods []string) map[string][]float64 {
	out := map[string][]float64{}
	var some []string
	for _, m := range methods {
		if len(n.Of(place, m)) > 0 {
			some = append(some, m)
		}
	}
	for _, replicate := range n.Replicates {
		lacks := func(m string) bool { _, ok := n.At(place, replicate, m); return !ok }
		if slices.ContainsFunc(some, lacks) {
			continue
		}
		for _, m := range some {
			v, _ := n.At(place, replicate, m)
			out[m] = append(out[m], v)
		}
	}
	return out
}

// Ratios are those of two methods within each replicate that has both.
func Ratios(above *Numbers, a string, below *Numbers, b string) []float64 {
	return within(above, a, below, b, func(x, y float64) float64 { return x / y })
}

// Differences are those of two methods within each replicate that has both.
func Differences(from *Numbers, a string, less *Numbers, b string) []float64 {
	return within(from, a, less, b, func(x, y float64) float64 { return x - y })
}

func within(m *Numbers, a string, n *Numbers, b string, of func(x, y float64) float64) []float64 {
	values, _ := m.each(func(replicate string) (float64, bool) {
		x, okX := m.At("", replicate, a)
		y, okY := n.At("", replicate, b)
		return of(x, y), okX && okY
	})
	return values
}
