package tables

import (
	"math"
	"slices"

	"missingscore/data"
)

// prices reads Kaggle's long table (columns date, Name, close) as a wide one: a row per date, a
// column per name; no names: all, sorted. With returns cells are log p_t − log p_(t−1).
func prices(path string, names []string, returns bool) (*data.Table, error) {
	c, err := data.ReadCells(path, data.ReadOptions{Columns: []string{"close"}})
	if err != nil {
		return nil, err
	}
	day, name := slices.Index(c.Header, "date"), slices.Index(c.Header, "Name")
	var days, all []string
	for _, row := range c.Rows {
		days, all = append(days, row[day]), append(all, row[name])
	}
	distinct := func(words []string) []string { slices.Sort(words); return slices.Compact(words) }
	if days, all = distinct(days), distinct(all); len(names) == 0 {
		names = all
	}
	d := len(names)
	cells := slices.Repeat([]float64{math.NaN()}, len(days)*d)
	for i, row := range c.Rows {
		if j := slices.Index(names, row[name]); j >= 0 && c.Table.Observed[i] {
			at, _ := slices.BinarySearch(days, row[day])
			cells[at*d+j] = c.Table.Values[i]
		}
	}
	if returns {
		for k := range cells[d:] {
			cells[k] = math.Log(cells[k+d]) - math.Log(cells[k])
		}
		cells = cells[:len(cells)-d]
	}
	var values []float64
	var observed []bool
	for row := range slices.Chunk(cells, d) {
		if slices.ContainsFunc(row, func(x float64) bool { return x == x }) {
			for _, x := range row {
				if observed = append(observed, x == x); x != x {
					x = 0
				}
				values = append(values, x)
			}
		}
	}
	return data.NewTable(names, values, observed)
}
