package picture

import (
	"errors"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"missingscore/data/network"
)

// TitledNetwork is a network with what stands above it.
type TitledNetwork struct {
	Title   string
	Network *network.Network
}

// Pair draws two networks of the same variables side by side, each as Network does, every
// variable at the same place and widths on one scale. Pairs of variables that are marked,
// by their places, have a halo in both, edge or not. It fails where Network does, and if
// the variables are not the same.
func Pair(title string, networks [2]TitledNetwork, marked [][2]int) (*plot.Plot, error) {
	if !slices.Equal(networks[0].Network.Nodes, networks[1].Network.Nodes) {
		return nil, errors.New("picture: the two networks are not of the same variables")
	}
	p := &pair{}
	for i, n := range networks {
		var err error
		if p.wheels[i], err = newWheel(n.Network); err != nil {
			return nil, err
		}
		p.titles[i], p.wheels[i].marked = short(n.Title, 40), marked
	}
	strongest := max(p.wheels[0].strongest, p.wheels[1].strongest)
	p.wheels[0].strongest, p.wheels[1].strongest = strongest, strongest
	return onPaper(title, p), nil
}

// Differences draws the differences of partial correlations as Network does edges: each
// edge's PartialCorrelation is one. It fails where Network does.
func Differences(title string, n *network.Network) (*plot.Plot, error) {
	w, err := newWheel(n)
	if err != nil {
		return nil, err
	}
	w.of = "|difference|"
	return onPaper(title, w), nil
}

// pair is drawn when the size of the paper is known.
type pair struct {
	titles [2]string
	wheels [2]*wheel
}

// titleHeight is the strip above each network.
const titleHeight vg.Length = 16

// Plot implements plot.Plotter.
func (p *pair) Plot(c draw.Canvas, _ *plot.Plot) {
	const gap vg.Length = 12 // between the two
	half := (c.Max.X - c.Min.X - gap) / 2
	for i, w := range p.wheels {
		paper := draw.Crop(c, vg.Length(i)*(half+gap), -vg.Length(1-i)*(half+gap), legendHeight, -titleHeight)
		w.ring(paper)
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		c.FillText(style, vg.Point{X: paper.Center().X, Y: paper.Max.Y + titleHeight/2}, p.titles[i])
	}
	if len(p.wheels[0].spokes)+len(p.wheels[1].spokes) > 0 {
		p.wheels[0].legend(c, vg.Point{X: c.Center().X, Y: c.Min.Y + legendHeight/2})
	}
}
