package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/plot/vg"

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/internal/printable"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/inference/bootstrap"
	"missingscore/trainers"
)

const mostBoxes = 40

func drawResamples(r *trainers.NetworkResult, level float64) (out []drawing) {
	if found := r.Inference; found != nil && found.Edges != nil {
		for _, c := range []struct {
			file, title, what string
			numbers           *inference.Differences
			name              func(place int) string
		}{
			{"edge_differences", "Which edges differ", "edges", found.Edges, func(pair int) string {
				e := r.Network.Pairs[pair]
				return picture.PairName(r.Network.Label(e.From), r.Network.Label(e.To))
			}},
			{"centrality_differences", "Which nodes differ in strength", "strengths", found.Strengths, func(node int) string {
				return r.Network.Label(r.Names[node])
			}},
		} {
			drawn := min(len(c.numbers.Of), mostBoxes)
			if drawn < 2 {
				continue
			}
			var boxes []picture.Box
			for i, place := range c.numbers.Of[:drawn] {
				boxes = append(boxes, picture.Box{Name: c.name(place), Value: c.numbers.Value[i], Place: i})
			}
			caption := fmt.Sprintf("Dark: the two %s differ, because the %g %% bootstrap interval of their difference excludes 0 (not adjusted for multiplicity). Grey: no difference found.", c.what, 100*level)
			if c.numbers.All > drawn {
				caption += fmt.Sprintf(" The %d largest of %d are drawn; %s.csv has more.", drawn, c.numbers.All, c.file)
			}
			p, width, height := picture.Matrix(c.title, boxes, c.numbers.Differ)
			out = append(out, drawing{c.file, caption, p, width, height})
		}
	}
	if s := r.Stability; s != nil {
		var bands []picture.Band
		for i, l := range s.Levels {
			if i == 0 || l.Statistic != s.Levels[i-1].Statistic {
				bands = append(bands, picture.Band{Name: fmt.Sprintf("%s, CS %.2f", l.Statistic, s.Coefficient[l.Statistic])})
			}
			b := &bands[len(bands)-1]
			b.X, b.Y, b.Low, b.High = append(b.X, l.Dropped), append(b.Y, l.Mean), append(b.Low, l.Low), append(b.High, l.Up)
		}
		out = append(out, drawing{"stability", "Correlation with the results from all rows when rows are dropped: mean and 90 % band. CS is the largest share at which 95 % of the correlations exceed 0.7 (dashed).",
			picture.Stability(bands, bootstrap.WantedCorrelation), 14 * vg.Centimeter, 9 * vg.Centimeter})
	}
	return out
}

// One line for each pair of numbers: names, values, difference, interval, test.
func writeDifferences(w io.Writer, names []string, name func(place int) []string, d *inference.Differences) error {
	c := csv.NewWriter(w)
	var header []string
	for _, side := range []string{"_1", "_2"} {
		for _, n := range names {
			header = append(header, n+side)
		}
	}
	c.Write(append(header, "value_1", "value_2", "difference", "low", "high", "differs"))
	at := 0
	for i, a := range d.Of {
		for j, b := range d.Of[i+1:] {
			var line []string
			for _, n := range append(name(a), name(b)...) {
				line = append(line, printable.Text(n))
			}
			first, second := d.Value[i], d.Value[i+1+j]
			for _, x := range []float64{first, second, first - second, d.Low[at], d.High[at]} {
				line = append(line, data.FormatNumber(x))
			}
			c.Write(append(line, strconv.FormatBool(d.Differ(i, i+1+j))))
			at++
		}
	}
	c.Flush()
	return c.Error()
}
