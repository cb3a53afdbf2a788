package picture

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const pvalueBins = 20

// PValues is a histogram of p values, in bins of 0.05. Without any edge it would be flat,
// at the dashed line; edges gather at the left. It fails if there is none or one is not in
// [0, 1].
func PValues(p []float64) (*plot.Plot, error) {
	if len(p) == 0 {
		return nil, errors.New("picture: no p values to draw")
	}
	bins := make([]plotter.HistogramBin, pvalueBins)
	for i := range bins {
		bins[i].Min, bins[i].Max = float64(i)/pvalueBins, float64(i+1)/pvalueBins
	}
	for _, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("picture: the p value %v is not in [0, 1]", v)
		}
		bins[min(int(v*pvalueBins), pvalueBins-1)].Weight++
	}
	out := blank("p values of all pairs", "p", "pairs")
	bars := &plotter.Histogram{Bins: bins, Width: 1.0 / pvalueBins, FillColor: blue, LineStyle: draw.LineStyle{Color: ink, Width: 0.4}}
	flat := float64(len(p)) / pvalueBins
	level := line(draw.LineStyle{Color: red, Width: 1, Dashes: []vg.Length{4, 3}}, plotter.XYs{{X: 0, Y: flat}, {X: 1, Y: flat}})
	out.Add(bars, level)
	out.Legend.Add("without any edge", level)
	out.Legend.Top = true
	return out, nil
}
