package bound

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/figures"
	"missingscore/internal/picture"
)

// Centimetres of a figure.
const (
	width  = 18
	height = 12
)

// draw makes the figures: the divergence against n and against r, each beside the theorem's rate,
// whose constant is such that it starts where r = n does.
func draw(raw json.RawMessage, r cells.Results) ([]figures.Figure, error) {
	s, err := read(raw)
	if err != nil {
		return nil, err
	}
	lines, err := parse(r)
	if err != nil {
		return nil, err
	}
	whole, replicates := means(lines, together, rowsOf, divergenceOf)
	if len(whole) == 0 {
		return nil, nil
	}
	first, last := int(whole[0].x), int(whole[len(whole)-1].x)
	scale := math.Exp(whole[0].y) / s.rate(first, first)

	byRows := []picture.Band{band("r = n", replicates, whole)}
	for _, draws := range s.Draws {
		points, k := means(lines, func(l line) bool { return l.r == draws }, rowsOf, divergenceOf)
		byRows = append(byRows, band("r = "+strconv.Itoa(draws), k, points))
	}
	theorem := picture.Band{Name: "theorem, r = n"}
	for _, p := range whole {
		theorem = follow(theorem, p.x, scale*s.rate(int(p.x), int(p.x)))
	}
	byRows = append(byRows, theorem)

	var byDraws []picture.Band
	for _, n := range s.Rows {
		points, k := means(lines, func(l line) bool { return l.n == n }, drawsOf, divergenceOf)
		byDraws = append(byDraws, band("n = "+strconv.Itoa(n), k, points))
	}
	theorem = picture.Band{Name: fmt.Sprintf("theorem, n = %d", last)}
	for _, draws := range distinct(lines, func(l line) int { return l.r }) {
		theorem = follow(theorem, float64(draws), scale*s.rate(last, draws))
	}
	byDraws = append(byDraws, theorem)

	var out []figures.Figure
	for _, f := range []struct {
		name, title, x string
		bands          []picture.Band
	}{
		{"rows", "Marg-IW: divergence against rows", "rows n", byRows},
		{"draws", "Marg-IW: divergence against draws", "draws for each row, r", byDraws},
	} {
		p, err := picture.Bands(f.title, f.x, "marginal truncated Fisher divergence", slices.DeleteFunc(f.bands, func(b picture.Band) bool { return len(b.X) == 0 }))
		if err != nil {
			return nil, err
		}
		out = append(out, figures.Figure{
			Name: f.name, Plot: p, Width: width, Height: height,
			Caption: fmt.Sprintf("Geometric mean of the marginal truncated Fisher divergence of Marg-IW's minimiser, with 95 %% interval over %d replicates; %d columns on a box, cells missing with probability %g. In the legend the slope on log-log axes (weighted least squares). The theorem's rate √(s log(dnrA/δ)/min{r, n}), A = %g, δ = %g, is drawn with the constant at which it meets r = n at n = %d; it is an upper bound.",
				replicates, s.Columns, s.Missing, s.Diameter, s.Delta, first),
		})
	}
	return out, nil
}

// band is drawn with its slope in the name, if it has one.
func band(name string, replicates int, points []point) picture.Band {
	b := picture.Band{Name: name}
	if slope, err := fitPower(points); err == nil {
		b.Name = fmt.Sprintf("%s: %.2f ± %.2f", name, slope.b, slope.high-slope.b)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(replicates - 1)}
	for _, p := range points {
		half := t.Quantile(0.975) * p.se
		b.X, b.Y = append(b.X, p.x), append(b.Y, math.Exp(p.y))
		b.Low, b.High = append(b.Low, math.Exp(p.y-half)), append(b.High, math.Exp(p.y+half))
	}
	return b
}

// follow goes on with a line without an interval.
func follow(b picture.Band, x, y float64) picture.Band {
	b.X, b.Y, b.Low, b.High = append(b.X, x), append(b.Y, y), append(b.Low, y), append(b.High, y)
	return b
}
