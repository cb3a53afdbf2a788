package calibration

import (
	"encoding/json"
	"fmt"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
	"missingscore/trainers/calibration"
)

const bandQuantile = 2.576 // of the standard normal, two-sided at 99 %

// draw makes a rank plot for each command.
func draw(text json.RawMessage, r cells.Results) (out []figures.Figure, err error) {
	if _, err := decode(text); err != nil {
		return nil, err
	}
	for _, command := range []string{"impute", "sample", "source"} {
		var curves []picture.RankCurve
		for _, c := range calibration.Cases {
			if c.Command != command {
				continue
			}
			counts, err := read(r, c)
			if err != nil {
				return nil, err
			}
			if sum := together(counts); sum != nil {
				curves = append(curves, picture.RankCurve{Name: c.Model + ", " + c.Sampler, Counts: sum})
			}
		}
		if curves == nil {
			continue
		}
		p, err := picture.Ranks("Ranks of true values: "+command, curves, bandQuantile)
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{Name: command + "-ranks", Plot: p, Width: 18, Height: 10,
			Caption: fmt.Sprintf("%s: the distribution function of the ranks of true values among %d draws, less that of uniform ranks; shaded, where 99 %% of uniform ones are at each place.", command, calibration.Draws)})
	}
	return out, nil
}
