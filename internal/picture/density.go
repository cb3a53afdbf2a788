package picture

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Density draws the number of edges, out of the given pairs, against λ, which
// decreases to the right on a log scale. A vertical line marks the chosen λ, NaN for none.
// It fails if lengths differ, a λ is not positive or a count is not in 0 … pairs.
func Density(lambda []float64, edges []int, pairs int, chosen float64) (*plot.Plot, error) {
	if len(lambda) != len(edges) {
		return nil, fmt.Errorf("picture: %d lambdas and %d edge counts", len(lambda), len(edges))
	}
	marks := lambda
	if !math.IsNaN(chosen) {
		marks = append([]float64{chosen}, lambda...)
	}
	p, err := alongPath("Edges along the path", fmt.Sprintf("edges (of %d pairs)", pairs), marks)
	if err != nil {
		return nil, err
	}
	xy := make(plotter.XYs, len(lambda))
	for i, n := range edges {
		if n < 0 || n > pairs {
			return nil, fmt.Errorf("picture: %d edges of %d pairs at lambda %v", n, pairs, lambda[i])
		}
		xy[i] = plotter.XY{X: lambda[i], Y: float64(n)}
	}
	p.Add(line(draw.LineStyle{Color: blue, Width: 1.2}, xy), dots(blue, xy))
	p.Y.Min, p.Y.Max = 0, max(p.Y.Max, 1)
	p.Y.Tick.Marker = wholeTicks{}
	markChosen(p, chosen)
	p.Legend.Left, p.Legend.Top = true, true
	return p, nil
}

// wholeTicks are the ticks at whole numbers.
type wholeTicks struct{}

func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	var whole []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if t.Value == math.Trunc(t.Value) {
			if !t.IsMinor() {
				t.Label = strconv.Itoa(int(t.Value))
			}
			whole = append(whole, t)
		}
	}
	return whole
}
