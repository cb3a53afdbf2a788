package scale

import (
	"encoding/json"
	"fmt"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
)

// pictures are the mean seconds against the columns, both on a log scale.
func pictures(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	groups, of, err := s.curves(r)
	if err != nil {
		return nil, err
	}
	var out []figures.Figure
	for _, g := range groups {
		var bands []picture.Band
		for _, c := range of[g] {
			bands = append(bands, picture.Band{Name: c.name, X: c.columns, Y: c.seconds, Low: c.seconds, High: c.seconds})
		}
		p, err := picture.Bands(fmt.Sprintf("Seconds of a path, %d rows, %s missing", g.rows, share(g.missing)), "columns", "seconds", bands)
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{Name: fmt.Sprintf("seconds-%d-%g", g.rows, 100*g.missing), Plot: p, Width: 16, Height: 11,
			Caption: fmt.Sprintf("Mean seconds of a path of %d λ against the columns; %d rows, %s of the cells missing completely at random.",
				s.Lambdas, g.rows, share(g.missing))})
	}
	return out, nil
}
