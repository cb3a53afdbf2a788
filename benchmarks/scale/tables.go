package scale

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/markdown"
)

// tables have a measure each, its means over replicates; how many times the seconds of ours
// the others take; and how seconds grow with the columns.
func tables(text json.RawMessage, r cells.Results) ([]markdown.Table, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []markdown.Table
	for _, m := range []struct{ name, column, format string }{
		{"seconds", secondsColumn, "%.3g"}, {"megabytes", memoryColumn, "%.0f"},
		{"best f1", bestColumn, "%.3f"}, {"auc", aucColumn, "%.3f"}, {"edges", edgesColumn, "%.0f"}, {"away", awayColumn, "%.2g"},
	} {
		t, err := s.table(r, m.name, m.column, func(n *claims.Numbers, name string) string {
			if x := n.Of("", name); len(x) > 0 {
				return fmt.Sprintf(m.format, stat.Mean(x, nil))
			}
			return ""
		})
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	ratios, err := s.table(r, "ratios", secondsColumn, func(n *claims.Numbers, name string) string {
		return markdown.Interval(claims.Ratios(n, name, n, ours))
	})
	if err != nil {
		return nil, err
	}
	slopes, err := s.slopes(r)
	return append(out, ratios, slopes), err
}

// ours is the method that the others' seconds are divided by.
const ours = "em-exact"

// table has a line for each size that was run.
func (s settings) table(r cells.Results, name, column string, cell func(n *claims.Numbers, method string) string) (markdown.Table, error) {
	t := markdown.Table{Name: name, Header: []string{"columns", "rows", "missing"}}
	for _, m := range s.Methods {
		t.Header = append(t.Header, m.Name)
	}
	t.Header = append(t.Header, "tables")
	for _, z := range s.Sizes {
		n, err := z.read(r, column)
		if err != nil {
			return t, err
		}
		if len(n.Replicates) == 0 {
			continue
		}
		line := []string{strconv.Itoa(z.Columns), strconv.Itoa(z.Rows), share(z.Missing)}
		for _, m := range s.Methods {
			line = append(line, cell(n, m.Name))
		}
		t.Lines = append(t.Lines, append(line, strconv.Itoa(len(n.Replicates))))
	}
	return t, nil
}

func share(x float64) string { return strconv.FormatFloat(100*x, 'g', -1, 64) + " %" }

// read gives the numbers of a column at a size.
func (z size) read(r cells.Results, column string) (*claims.Numbers, error) {
	key := z.key()
	return claims.Measure{Column: column, Where: map[string]string{columnsColumn: key[0], rowsColumn: key[1], missingColumn: key[2]}}.Read(r)
}

// curve is how the mean seconds of a method grow with the columns, of tables alike in rows
// and missing cells.
type curve struct {
	name             string
	columns, seconds []float64
}

// group is tables of as many rows, and of the same share missing.
type group struct {
	rows    int
	missing float64
}

// curves are those of at least two sizes.
func (s settings) curves(r cells.Results) (groups []group, of map[group][]curve, err error) {
	of = map[group][]curve{}
	for _, z := range s.Sizes {
		g := group{z.Rows, z.Missing}
		if _, seen := of[g]; seen {
			continue
		}
		of[g] = nil
		for _, m := range s.Methods {
			c := curve{name: m.Name}
			for _, other := range s.Sizes {
				if (group{other.Rows, other.Missing}) != g {
					continue
				}
				n, err := other.read(r, secondsColumn)
				if err != nil {
					return nil, nil, err
				}
				if x := n.Of("", m.Name); len(x) > 0 {
					c.columns, c.seconds = append(c.columns, float64(other.Columns)), append(c.seconds, stat.Mean(x, nil))
				}
			}
			if len(c.columns) > 1 {
				of[g] = append(of[g], c)
			}
		}
		if len(of[g]) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, of, nil
}

// slope is b of log seconds = a + b log columns, by least squares.
func (c curve) slope() float64 {
	x, y := make([]float64, len(c.columns)), make([]float64, len(c.columns))
	for i := range x {
		x[i], y[i] = math.Log(c.columns[i]), math.Log(c.seconds[i])
	}
	_, b := stat.LinearRegression(x, y, nil, false)
	return b
}

func (s settings) slopes(r cells.Results) (markdown.Table, error) {
	t := markdown.Table{Name: "slopes", Header: []string{"rows", "missing", "method", "columns", "seconds grow as columns to the power"}}
	groups, of, err := s.curves(r)
	if err != nil {
		return t, err
	}
	for _, g := range groups {
		for _, c := range of[g] {
			t.Lines = append(t.Lines, []string{strconv.Itoa(g.rows), share(g.missing), c.name,
				fmt.Sprintf("%g to %g", c.columns[0], c.columns[len(c.columns)-1]), fmt.Sprintf("%.2f", c.slope())})
		}
	}
	return t, nil
}
