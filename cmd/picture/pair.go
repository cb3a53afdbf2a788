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
func Pair(title string, networks [2]TitledNetwork, marked [][2]int, s *Scene) (*plot.Plot, error) {
	if !slices.Equal(networks[0].Network.Nodes, networks[1].Network.Nodes) {
		return nil, errors.New("picture: the two networks are not of the same variables")
	}
	p := &pair{}
	for i, n := range networks {
		var err error
		if p.charts[i], err = newChart(n.Network, s); err != nil {
			return nil, err
		}
		p.titles[i], p.charts[i].marked = short(n.Title, 40), marked
	}
	strongest := max(p.charts[0].strongest, p.charts[1].strongest)
	p.charts[0].strongest, p.charts[1].strongest = strongest, strongest
	return onPaper(title, p), nil
}

// Between is the network of the mean sizes of partial correlations in two networks of the same
// variables, by whose scene both are drawn.
func Between(a, b *network.Network) *network.Network {
	out := &network.Network{Nodes: a.Nodes, Labels: a.Labels}
	known := map[[2]string]int{}
	for _, n := range []*network.Network{a, b} {
		for _, e := range n.Edges {
			pair := [2]string{e.From, e.To}
			i, ok := known[pair]
			if !ok {
				i = len(out.Edges)
				known[pair] = i
				out.Edges = append(out.Edges, network.Edge{From: e.From, To: e.To})
			}
			out.Edges[i].PartialCorrelation += e.Weight() / 2
		}
	}
	return out
}

// Differences draws the differences of partial correlations as Network does edges: each
// edge's PartialCorrelation is one. It fails where Network does.
func Differences(title string, n *network.Network, s *Scene) (*plot.Plot, error) {
	c, err := newChart(n, s)
	if err != nil {
		return nil, err
	}
	c.of = "|difference|"
	return onPaper(title, c), nil
}

// pair is drawn when the size of the paper is known.
type pair struct {
	titles [2]string
	charts [2]*chart
}

// titleHeight is the strip above each network.
const titleHeight vg.Length = 16

// Plot implements plot.Plotter.
func (p *pair) Plot(c draw.Canvas, _ *plot.Plot) {
	const gap vg.Length = 12 // between the two
	half := (c.Max.X - c.Min.X - gap) / 2
	with := p.charts[0] // the one whose legend is that of both
	if len(with.links) == 0 {
		with = p.charts[1]
	}
	rows := with.rows(c)
	below := vg.Length(len(rows)) * legendHeight
	for i, chart := range p.charts {
		paper := draw.Crop(c, vg.Length(i)*(half+gap), -vg.Length(1-i)*(half+gap), below, -titleHeight)
		chart.nodesAndLinks(paper)
		style := sans(11)
		style.XAlign, style.YAlign = draw.XCenter, middle
		c.FillText(style, vg.Point{X: paper.Center().X, Y: paper.Max.Y + titleHeight/2}, p.titles[i])
	}
	for i, row := range rows {
		row.draw(c, vg.Point{X: c.Center().X, Y: c.Min.Y + (vg.Length(len(rows)-i)-0.5)*legendHeight})
	}
}
