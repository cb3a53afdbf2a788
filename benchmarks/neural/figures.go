package neural

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/training"
	"missingscore/graph/model"
	"missingscore/internal/picture"
	"missingscore/internal/stream"
)

// draw makes the figures: the error along training of each density, of the methods and of those
// that are treated in some way beside them, and in the plane the densities of the first replicate.
func draw(text json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := decode(text)
	if err != nil {
		return nil, err
	}
	var out []figures.Figure
	for _, d := range s.Densities {
		methods, treated := s.treated()
		for _, f := range []struct {
			name  string
			lines []string
		}{{d.Name + "-fisher-divergence", methods}, {d.Name + "-treated", treated}} {
			if len(f.lines) == 0 {
				continue
			}
			along, err := alongTraining(d, f.name, f.lines, r)
			if err != nil {
				return nil, err
			}
			out = append(out, along)
		}
		plane, err := s.planes(d, r)
		if err != nil {
			return nil, err
		}
		out = append(out, plane...)
	}
	return out, nil
}

// treated are the methods as they are, and those that are treated in some way, as "iw, averaged", each
// behind itself as it is.
func (s settings) treated() (methods, treated []string) {
	for _, name := range s.names() {
		if !strings.Contains(name, ", ") {
			methods = append(methods, name)
		}
	}
	for _, method := range methods {
		ways := slices.DeleteFunc(s.names(), func(name string) bool { return !strings.HasPrefix(name, method+", ") })
		if len(ways) > 0 {
			treated = append(append(treated, method), ways...)
		}
	}
	return methods, treated
}

// alongTraining is a figure of the error of methods along training.
func alongTraining(d density, name string, methods []string, r cells.Results) (figures.Figure, error) {
	var at []float64
	for _, epoch := range training.Epochs(d.Epochs) {
		at = append(at, float64(epoch))
	}
	along := fisher(d.Name)
	along.Column, along.Name = traceColumn, "Fisher divergence"
	series, err := figures.AlongTraining(r, along, methods)
	if err != nil {
		return figures.Figure{}, err
	}
	p, err := figures.Bands("Fisher divergence along training: "+d.Name, "epoch", "Fisher divergence", at, series)
	return figures.Figure{Name: name, Plot: p, Width: 16, Height: 11,
		Caption: fmt.Sprintf("Fisher divergence of the fits to %s along training: mean and 95 %% interval of the replicates.%s", d.Name, figures.Stopped(series))}, err
}

// planes draws the truth and the fits of the first replicate above, and rows of each
// below; nothing where no cell has a fit in the plane.
func (s settings) planes(d density, r cells.Results) ([]figures.Figure, error) {
	of, err := d.truth(1)
	if err != nil || len(of.Means[0]) != 2 {
		return nil, err
	}
	truth, err := model.NewMixture(of)
	if err != nil {
		return nil, err
	}
	g := squareAround(of)
	want, err := g.density(truth)
	if err != nil {
		return nil, err
	}
	most := floats.Max(want)
	above := []picture.Plane{{Title: "truth", Density: want}}
	below := []picture.Plane{{Title: "draws", Points: of.Draw(shownDraws, stream.New(1, stream.Simulate, 1))}}
	for _, name := range s.names() {
		chosen, err := r.Only(map[string]string{densityColumn: d.Name, "replicate": "1", "method": name})
		if err != nil {
			return nil, err
		}
		texts, err := chosen.Values(planeColumn, drawsColumn)
		if err != nil {
			return nil, err
		}
		for _, of := range texts {
			if of[0] == "-" {
				continue
			}
			shade, err := readShades(of[0], most)
			if err != nil {
				return nil, err
			}
			rows, err := figures.ParsePoints(of[1])
			if err != nil {
				return nil, err
			}
			above = append(above, picture.Plane{Title: picture.MethodTitle(name), Density: shade})
			below = append(below, picture.Plane{Title: "draws", Points: rows})
		}
	}
	if len(above) == 1 {
		return nil, nil
	}
	p, err := picture.Planes("Densities of the first replicate, and draws", append(above, below...), len(above), g.x, g.y, g.side, most)
	return []figures.Figure{{Name: d.Name + "-densities", Plot: p, Width: float64(len(above)) * 3.2, Height: 9,
		Caption: "Above: the truth and the energies of the first replicate, normalised on the square. Below: 300 draws of each by Hamiltonian Monte Carlo from the table's complete rows."}}, err
}
