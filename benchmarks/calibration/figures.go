package calibration

import (
	"encoding/json"
	"fmt"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
	"missingscore/trainers/calibration"
)

const bandQuantile = 2.576 // of the standard normal, two-sided at 99 %

// draw makes two rank plots for each command: of cases, and of approximations by their size.
func draw(text json.RawMessage, r cells.Results) (out []figures.Figure, err error) {
	if _, err := decode(text); err != nil {
		return nil, err
	}
	for _, command := range []string{"impute", "sample", "source", "table"} {
		for _, plot := range []struct{ name, title string }{{"ranks", command}, {"sizes", command + ", by a size that the error goes by"}} {
			f, err := ranks(r, command, plot.name, plot.title)
			if err != nil {
				return nil, err
			}
			if f != nil {
				out = append(out, *f)
			}
		}
	}
	return out, nil
}

// ranks is one of them, nil where nothing of it has been run.
func ranks(r cells.Results, command, name, title string) (*figures.Figure, error) {
	var curves []picture.RankCurve
	for _, c := range all() {
		if c.Command != command || (c.Size != "") != (name == "sizes") {
			continue
		}
		counts, err := read(r, c)
		if err != nil {
			return nil, err
		}
		if sum := together(counts); sum != nil {
			curves = append(curves, picture.RankCurve{Name: strings.TrimPrefix(c.Name(), command+", "), Counts: sum})
		}
	}
	if curves == nil {
		return nil, nil
	}
	p, err := picture.Ranks("Ranks of true values: "+title, curves, bandQuantile)
	if err != nil {
		return nil, err
	}
	return &figures.Figure{Name: command + "-" + name, Plot: p, Width: 18, Height: 10,
		Caption: fmt.Sprintf("%s: the distribution function of the ranks of true values among %d draws, less that of uniform ranks; shaded, where 99 %% of uniform ones are at each place, of the curve with the fewest ranks.", title, calibration.Draws)}, nil
}
