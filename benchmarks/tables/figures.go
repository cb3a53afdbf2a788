package tables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
)

// Centimetres of a figure.
const (
	width  = 16
	height = 11
)

type panel struct{ column, name, against string }

// draw makes the figures:, for each table, the paper's (the mean of the AUCs against all truths)
// and one panel for each density of the truth.
func draw(raw json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := read(raw)
	if err != nil {
		return nil, err
	}
	var out []figures.Figure
	for _, t := range s.Tables {
		panels := []panel{{meanColumn, t.Name, fmt.Sprintf("%d networks, mean", len(s.Densities))}}
		for _, density := range s.Densities {
			panels = append(panels, panel{densityColumn(density), t.Name + "-" + number(density), "the network of density " + number(density)})
		}
		for _, is := range panels {
			bands, replicates, err := s.bands(r, t.Name, is.column)
			if err != nil {
				return nil, err
			}
			if len(bands) == 0 {
				continue
			}
			p, err := picture.Bands(fmt.Sprintf("%s: AUC against %s", t.Name, is.against), "missing probability", "AUC", bands)
			if err != nil {
				return nil, err
			}
			s.axis(p)
			out = append(out, figures.Figure{
				Name: is.name, Plot: p, Width: width, Height: height,
				Caption: fmt.Sprintf("AUC against %s of the complete table, mean with 95 %% interval over %s corruptions. %s %s", is.against, replicates, size(r, t.Name), t.Note),
			})
		}
	}
	return out, nil
}

// bands are the methods' means by missing probability, with the number of replicates.
func (s settings) bands(r cells.Results, table, column string) (bands []picture.Band, replicates string, err error) {
	x, series, err := figures.Along(r, auc(table, column), s.Methods)
	if err != nil {
		return nil, "", err
	}
	fewest, most := 0, 0
	for _, of := range series {
		b := picture.Band{Name: of.Name}
		for k, values := range of.Values {
			if len(values) == 0 {
				continue
			}
			if fewest == 0 || len(values) < fewest {
				fewest = len(values)
			}
			most = max(most, len(values))
			mean, half := values[0], 0.0
			if len(values) > 1 {
				mean, half = claims.MeanInterval(values)
			}
			b.X, b.Y = append(b.X, x[k]), append(b.Y, mean)
			b.Low, b.High = append(b.Low, max(0, mean-half)), append(b.High, min(1, mean+half)) // an AUC's own range
		}
		if len(b.X) > 0 {
			bands = append(bands, b)
		}
	}
	if replicates = strconv.Itoa(most); fewest < most {
		replicates = fmt.Sprintf("%d to %d", fewest, most)
	}
	return bands, replicates, nil
}

// axis makes the missing probabilities a linear axis with a tick at each.
func (s settings) axis(p *plot.Plot) {
	var ticks plot.ConstantTicks
	for _, missing := range s.Missing {
		ticks = append(ticks, plot.Tick{Value: missing, Label: number(missing)})
	}
	p.X.Scale, p.X.Tick.Marker = plot.LinearScale{}, ticks
	low, high := slices.Min(s.Missing), slices.Max(s.Missing)
	p.X.Min, p.X.Max = low, high+legendShare*(high-low)
}

const legendShare = 0.33 // of the data's width, kept free at the right

// size says how large the table was of which lines are there.
func size(r cells.Results, table string) string {
	for _, line := range r.Lines {
		if line[0] == table {
			at := len(keyColumns)
			return fmt.Sprintf("Table: %s complete rows of %s columns; edges of the networks taken for the truth: %s.", line[at], line[at+1], line[at+2])
		}
	}
	return ""
}
