package ordinal

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"time"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/transform"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

//go:embed lavaan.R
var script []byte

var lavaan = outside.R("lavaan.R", script, "lavaan", "glasso")

// none is up to what size a true partial correlation is 0.
const none = 1e-9

// run is one cell.
func (s settings) run(ctx context.Context, truth string, n int, law gaps.Law, m method, seed uint64) ([]string, error) {
	precision, complete, err := s.answers(truth, n, seed)
	if err != nil {
		return nil, err
	}
	t, err := law.Hide(complete, seed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	by := m.network
	if m.Method == "" {
		by = rival
	}
	found, err := by(ctx, t)
	if err != nil {
		return nil, err
	}
	return judge(network.PartialCorrelations(precision), found, time.Since(start).Seconds()), nil
}

// network gives the partial correlations of this program's network or fit, all by default but the
// method.
func (m method) network(ctx context.Context, t *data.Table) ([]float64, error) {
	s := trainers.Spec{Steps: engine.Config{Method: m.Method}}
	if !m.Fit {
		s.Network = &path.Config{}
	}
	if m.Ordinal {
		s.Transform = transform.Spec{Others: transform.OrdinalKind}
	}
	r, err := trainers.Estimate(ctx, t, s, trainers.Run{})
	if err != nil {
		return nil, err
	}
	if m.Fit {
		normal, ok := model.AsNormal(r.Model.Model)
		if !ok {
			return nil, fmt.Errorf("the fit is of no normal distribution")
		}
		return network.PartialCorrelations(normal.Precision()), nil
	}
	out := make([]float64, t.D*(t.D-1)/2)
	for i, p := range network.PartialCorrelations(r.Network.Precision) {
		if r.Network.Adjacency.Edge[i] {
			out[i] = p
		}
	}
	return out, nil
}

// rival is lavaan's polychoric correlations with a graphical lasso.
func rival(ctx context.Context, t *data.Table) ([]float64, error) {
	lines, _, err := lavaan.Run(ctx, t)
	if err != nil {
		return nil, err
	}
	return readRival(lines, t.D)
}

func readRival(lines [][]float64, d int) ([]float64, error) {
	if len(lines) != 1 || len(lines[0]) != d*(d-1)/2 {
		return nil, fmt.Errorf("lavaan.R wrote no line of %d partial correlations", d*(d-1)/2)
	}
	return lines[0], nil
}

// judge compares partial correlations of pairs with the true ones.
func judge(truth, found []float64, seconds float64) []string {
	var square, bias float64
	edges, present := 0, 0
	a, b := network.Adjacency{D: items}, network.Adjacency{D: items}
	for i, want := range truth {
		square += (found[i] - want) * (found[i] - want) / float64(len(truth))
		a.Edge, b.Edge = append(a.Edge, math.Abs(want) > none), append(b.Edge, found[i] != 0)
		if a.Edge[i] {
			present++
			bias += math.Copysign(1, want) * (found[i] - want)
		}
		if b.Edge[i] {
			edges++
		}
	}
	f1 := "-"
	if present < len(truth) {
		f1 = number(network.F1(a, b))
	}
	return []string{number(math.Sqrt(square)), number(bias / float64(present)), f1, strconv.Itoa(edges), fmt.Sprintf("%.3g", seconds)}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 5, 64) }
