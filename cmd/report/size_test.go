package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/fitted"
)

// wide has columns with names of 20 characters and random edges with inference. Of 100 λ the last
// has all edges, 39 the strongest 4000 and 60 the strongest 100.
func wide(t *testing.T, columns, edges int) (*data.Table, *trainers.Result) {
	t.Helper()
	const rows = 40
	rng := stream.New(1, 1)
	e, err := estimator.ByName("pairwise")
	require.NoError(t, err)
	r := &trainers.NetworkResult{Threshold: 1e-9, Chosen: 99, Lambda: 0.01, Adjacency: network.Adjacency{D: columns, Edge: make([]bool, columns*(columns-1)/2)}}
	result := &trainers.Result{Network: r, Estimator: e, Verdict: "made up", Model: &fitted.Saved{Scale: data.Scale{}}}
	result.Spec.Network = &regpath.Config{Refit: new(true)}
	result.Spec.Inference = inference.Config{Kind: "bootstrap", Level: 0.95}
	scale := &result.Model.Scale
	values, observed := make([]float64, rows*columns), make([]bool, rows*columns)
	for i := range values {
		values[i], observed[i] = rng.NormFloat64(), rng.IntN(5) > 0
	}
	for j := range columns {
		r.Names = append(r.Names, fmt.Sprintf("a column, the %06dth", j))
		scale.Mean, scale.Deviation = append(scale.Mean, rng.NormFloat64()), append(scale.Deviation, rng.ExpFloat64())
		p := rng.Float64()
		result.MissingAtRandom = append(result.MissingAtRandom, mcar.Column{Name: r.Names[j], Missing: rows / 5, P: p, Corrected: min(1, 2*p), Predictor: r.Names[0], Direction: "high"})
	}
	table, err := data.NewTable(r.Names, values, observed)
	require.NoError(t, err)
	r.Network = &network.Network{Nodes: r.Names}
	for len(r.Network.Edges) < edges {
		j, k := rng.IntN(columns-1), rng.IntN(columns-1)
		if k++; j >= k || r.Adjacency.Has(j, k) {
			continue
		}
		r.Adjacency.Edge[j*(2*columns-j-1)/2+k-j-1] = true
		size := 0.05 * rng.NormFloat64()
		u := network.Unknown(rows)
		u.Estimate, u.SE, u.Low, u.High, u.P, u.Q, u.Inclusion, u.SameSign = size, rng.Float64(), size-0.1, size+0.1, rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()
		r.Network.Edges = append(r.Network.Edges, network.Edge{From: r.Names[j], To: r.Names[k], Precision: -size * math.Pi, PartialCorrelation: size, Uncertainty: &u})
	}
	slices.SortFunc(r.Network.Edges, func(a, b network.Edge) int { return cmp.Compare(b.Weight(), a.Weight()) })
	r.Network.Pairs = r.Network.Edges
	r.Inference = &inference.Result{Rests: "made up"}
	ends, err := r.Network.Places()
	require.NoError(t, err)
	for i := range 100 {
		n := edges
		switch {
		case i < 60:
			n = min(n, 100)
		case i < 99:
			n = min(n, 4000)
		}
		p, order := sparse.Identity(columns), make([]int, n)
		for k := range order {
			order[k] = k
		}
		slices.SortFunc(order, func(a, b int) int { return slices.Compare(ends[a][:], ends[b][:]) })
		for _, k := range order {
			p.At, p.Value = append(p.At, [2]int32{int32(ends[k][0]), int32(ends[k][1])}), append(p.Value, -r.Network.Edges[k].PartialCorrelation*rng.Float64())
		}
		r.Points = append(r.Points, regpath.Point{Lambda: 1 / float64(1+i), Sparse: p, Edges: n})
	}
	return table, result
}

// Sizes of docs/reference/files.md#sizes; edges.csv has every edge.
func TestSizes(t *testing.T) {
	slowtest.Skip(t, "8 s")
	const columns, edges, letters = 5000, 400_000, 20
	table, result := wide(t, columns, edges)
	r := result.Network
	scene := picture.NewScene(r.Network, picture.Style{})
	dir := t.TempDir()
	var set atomicfile.Set
	shown, err := save(&set, dir, drawNetwork(result, scene, nil, nil), "")
	require.NoError(t, err)
	require.NoError(t, set.Commit())
	nodes, err := centralities(result)
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, writePage(&page, Source{Table: "wide.csv"}, table, result, scene, nodes, nil, shown))

	const megabyte = 1_000_000
	for name, most := range map[string]int{
		"network.svg": 1.5 * megabyte, "path.svg": megabyte, "intervals.svg": megabyte,
		"network.png": 4 * megabyte, "path.png": megabyte, "intervals.png": megabyte,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(most), name)
	}
	require.Less(t, page.Len(), 3*megabyte+columns*(150+4*letters))
	var all strings.Builder
	require.NoError(t, r.Network.WriteEdges(&all))
	require.Equal(t, edges+1, strings.Count(all.String(), "\n"))
	require.Less(t, all.Len(), edges*(2*letters+250))
}
