package report

import (
	"cmp"
	"math"
	"slices"

	"missingscore/data/network"
	"missingscore/trainers"
)

// nodeRow is a line of the table of nodes.
type nodeRow struct {
	Name  string
	Cells []barCell
}

// barCell is a number with a bar beside it, as wide as it is large in its column.
type barCell struct {
	Text     string
	Width    float64 // in rem, 0 for none
	Negative bool
}

// centralities are those of a result's nodes, with R² where the model is a normal distribution
// on all of R^d of at most mostInMatrix columns.
func centralities(result *trainers.Result) ([]network.Centrality, error) {
	r := result.Network
	out, err := r.Network.Centralities()
	if err != nil || result.Model.Domain.Bounded() || len(r.Names) > mostInMatrix {
		return out, err
	}
	shares, err := network.Predictability(r.Precision)
	if err != nil {
		return out, nil // a fit that stopped short may have no inverse: R² is then not known
	}
	for j, share := range shares {
		out[j].Predictability = share
	}
	return out, nil
}

// nodeRows are the nodes with the largest strengths first, at most mostRows.
func nodeRows(n *network.Network, of []network.Centrality, predicted bool) []nodeRow {
	measures := []struct {
		of     func(c network.Centrality) float64
		format string
	}{
		{func(c network.Centrality) float64 { return c.Strength }, "%.3f"},
		{func(c network.Centrality) float64 { return c.ExpectedInfluence }, "%.3f"},
		{func(c network.Centrality) float64 { return c.Closeness }, "%.3g"},
		{func(c network.Centrality) float64 { return c.Betweenness }, "%.4g"},
		{func(c network.Centrality) float64 { return c.Predictability }, "%.3f"},
	}
	if !predicted {
		measures = measures[:4]
	}
	order := make([]int, len(n.Nodes))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of[b].Strength, of[a].Strength) })
	var rows []nodeRow
	for _, j := range order[:min(len(order), mostRows)] {
		name := n.Nodes[j]
		if label := n.Labels[name]; label != "" {
			name = label + " (" + name + ")"
		}
		rows = append(rows, nodeRow{Name: name})
	}
	for _, m := range measures {
		largest := 0.0
		for _, c := range of {
			if v := math.Abs(m.of(c)); v > largest { // not NaN
				largest = v
			}
		}
		for i := range rows {
			v := m.of(of[order[i]])
			cell := barCell{Text: rounded(m.format, v), Negative: v < 0}
			if share := math.Abs(v) / largest; share > 0 {
				cell.Width = math.Round(300*share) / 100
			}
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows
}
