package denoising

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/data"
	"missingscore/internal/picture"
)

const pairSeparator = ";"

// shown writes rows for the picture, in units of the rows held out: the points of each
// pair of columns.
func (s settings) shown(how method, seed uint64, drawn, held *data.Table) string {
	if seed != 1 || !slices.Contains(s.Shown.Methods, how.Name) {
		return "-"
	}
	_, units := data.Standardise(held)
	x := standardised(drawn, units)
	var out []string
	for _, pair := range s.Shown.Pairs {
		j, k := slices.Index(s.Columns, pair[0]), slices.Index(s.Columns, pair[1])
		var points []float64
		for i := range min(drawn.N, s.Shown.Rows) {
			points = append(points, x.At(i, j), x.At(i, k))
		}
		out = append(out, figures.FormatPoints(points))
	}
	return strings.Join(out, pairSeparator)
}

// draw makes the picture of the first replicate's rows: a row of planes for each pair of
// columns, as far as cells have rows.
func draw(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	if r, err = r.Only(map[string]string{"replicate": "1"}); err != nil {
		return nil, err
	}
	lines, err := r.Values("method", rowsColumn)
	if err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return line[1] == "-" })
	if len(lines) == 0 {
		return nil, nil
	}
	var planes []picture.Plane
	var titles []string
	for i, pair := range s.Shown.Pairs {
		titles = append(titles, pair[1]+" over "+pair[0])
		for _, line := range lines {
			title := picture.MethodTitle(line[0])
			if line[0] == "floor" {
				title = "held out"
			}
			pairs := strings.Split(line[1], pairSeparator)
			if len(pairs) != len(s.Shown.Pairs) {
				return nil, fmt.Errorf("column %s: %d pairs of columns, %d are wanted", rowsColumn, len(pairs), len(s.Shown.Pairs))
			}
			points, err := figures.ParsePoints(pairs[i])
			if err != nil {
				return nil, err
			}
			planes = append(planes, picture.Plane{Title: title, Points: points})
		}
	}
	p, err := picture.Planes("Rows held out and drawn: "+strings.Join(titles, ", below "), planes, len(lines), 0, 0, 7, 1)
	return []figures.Figure{{Name: "pairs", Plot: p, Width: float64(len(lines)) * 3.2, Height: 9,
		Caption: "Rows of the first replicate, in units of those held out: " + strings.Join(titles, ", below ") + "."}}, err
}
