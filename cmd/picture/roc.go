package picture

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// ROC draws the curve whose area is the given AUC: the rates sorted, with (0,0) and
// (1,1) added, over the diagonal of guessing. It fails if a rate is not in [0, 1].
func ROC(rates []network.Rate, auc float64) (*plot.Plot, error) {
	curve := network.Curve(rates)
	xy := make(plotter.XYs, len(curve))
	for i, r := range curve {
		if !(math.Abs(r.FPR-0.5) <= 0.5 && math.Abs(r.TPR-0.5) <= 0.5) {
			return nil, fmt.Errorf("picture: the rates (%v, %v) are not in [0, 1]", r.FPR, r.TPR)
		}
		xy[i] = plotter.XY{X: r.FPR, Y: r.TPR}
	}
	p := blank(fmt.Sprintf("Edge recovery along the path: AUC = %.3f", auc), "false positive rate (absent edges found)", "true positive rate (true edges found)")
	guess := line(draw.LineStyle{Color: grey, Width: 0.8, Dashes: []vg.Length{4, 3}}, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	l := line(draw.LineStyle{Color: blue, Width: 1.4}, xy)
	p.Add(guess, l, dots(blue, xy))
	p.Legend.YOffs = 4
	p.Legend.Add("estimate", l)
	p.Legend.Add("guessing", guess)
	return p, nil
}
