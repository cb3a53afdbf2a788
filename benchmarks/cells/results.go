package cells

import (
	"fmt"
	"slices"
	"strings"
)

// Results holds the lines of finished cells in the order of the grid.
type Results struct {
	Columns []string
	Lines   [][]string
}

// Column returns the index of a column. It fails if there is none.
func (r Results) Column(name string) (int, error) {
	if i := slices.Index(r.Columns, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no column %q among %s", name, strings.Join(r.Columns, ", "))
}

// Distinct returns the distinct values of a column in the order of the grid.
func (r Results) Distinct(column string) ([]string, error) {
	i, err := r.Column(column)
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

// Select returns the lines of the cells in the order of the cells. If a cell has several lines, the
// first counts.
func Select(cells []Cell, lines [][]string) [][]string { return inOrder(cells, byKey(cells, lines)) }

func byKey(cells []Cell, lines [][]string) map[string][]string {
	have := map[string][]string{}
	for _, line := range lines {
		key := strings.Join(line[:len(cells[0].Key)], ",")
		if have[key] == nil {
			have[key] = line
		}
	}
	return have
}

func inOrder(cells []Cell, have map[string][]string) (out [][]string) {
	for _, c := range cells {
		if line := have[c.Name()]; line != nil {
			out = append(out, line)
		}
	}
	return out
}
