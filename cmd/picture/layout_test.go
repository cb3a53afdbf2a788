package picture

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/spatial/r2"
)

func TestSmallNetworks(t *testing.T) {
	require.Empty(t, Places(nil, nil))
	require.Len(t, Places([]string{"a"}, nil), 1)
	two := Places([]string{"b", "a"}, []Edge{{0, 1, 0.5}})
	require.InDelta(t, 1, r2.Norm(r2.Sub(two[0], two[1])), 1e-9, "a unit apart")
	require.InDelta(t, two[0].Y, two[1].Y, 1e-9, "side by side")

	odd := Places([]string{"a", "b", "c"}, []Edge{{0, 0, 1}, {0, 1, 0}, {1, 2, math.NaN()}, {0, 2, -1}, {0, 1, math.Inf(1)}})
	require.Equal(t, Places([]string{"a", "b", "c"}, nil), odd)
}

// tried is a network of testdata/networks.json, estimated from tables with gaps, and its layout by
// igraph's Fruchterman–Reingold (testdata/networks.py, python-igraph 0.10.2, weights |partial
// correlation|, 2000 iterations, seed 1).
type tried struct {
	Name                string
	Nodes               []string
	Edges               [][3]float64
	FruchtermanReingold [][2]float64 `json:"fruchterman_reingold"`
}

func (n tried) edges() (out []Edge) {
	for _, e := range n.Edges {
		out = append(out, Edge{int(e[0]), int(e[1]), e[2]})
	}
	return out
}

func tries(t *testing.T) (all []tried) {
	t.Helper()
	text, err := os.ReadFile("testdata/networks.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 10)
	return all
}

// measure counts crossings of edges, and gives the stress for a pair at the best scale, by hops.
func measure(n tried, at []r2.Vec) (crossings int, stress float64) {
	for i, e := range n.Edges {
		for _, f := range n.Edges[:i] {
			a, b, c, d := int(e[0]), int(e[1]), int(f[0]), int(f[1])
			if a != c && a != d && b != c && b != d && cross(at[a], at[b], at[c], at[d]) {
				crossings++
			}
		}
	}
	rank := make([]int, len(n.Nodes))
	for i := range rank {
		rank[i] = i
	}
	hops := n.edges()
	for i := range hops {
		hops[i].Weight = 1
	}
	g := lengths(len(n.Nodes), hops, rank)
	pairs := 0.0
	for _, nodes := range topo.ConnectedComponents(g) {
		var ratios []float64 // of distance to hops
		for i, a := range nodes {
			from := path.DijkstraFrom(a, g)
			for _, b := range nodes[:i] {
				ratios = append(ratios, r2.Norm(r2.Sub(at[a.ID()], at[b.ID()]))/from.WeightTo(b.ID()))
			}
		}
		if len(ratios) > 0 { // the least of Σ(s·r − 1)² over s is n − (Σr)²/Σr²
			sum := floats.Sum(ratios)
			stress, pairs = stress+float64(len(ratios))-sum*sum/floats.Dot(ratios, ratios), pairs+float64(len(ratios))
		}
	}
	return crossings, stress / pairs
}

func cross(a, b, c, d r2.Vec) bool {
	side := func(p, q, r r2.Vec) float64 { return r2.Cross(r2.Sub(q, p), r2.Sub(r, p)) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

// Over all networks Fruchterman–Reingold has 755 crossings and 0.883 of stress.
func TestQuality(t *testing.T) {
	var crossings, theirs, fewer, lower int
	var sum, their float64
	for _, n := range tries(t) {
		var other []r2.Vec
		for _, p := range n.FruchtermanReingold {
			other = append(other, r2.Vec{X: p[0], Y: p[1]})
		}
		c, s := measure(n, Places(n.Nodes, n.edges()))
		cOther, sOther := measure(n, other)
		t.Logf("%s: %d crossings (%d), stress %.3f (%.3f)", n.Name, c, cOther, s, sOther)
		crossings, theirs = crossings+c, theirs+cOther
		sum, their = sum+s, their+sOther
		if c <= cOther {
			fewer++
		}
		if s <= sOther+1e-3 {
			lower++
		}
	}
	require.Equal(t, 755, theirs)
	require.InDelta(t, 0.883, their, 3e-3)
	require.Less(t, crossings, theirs)
	require.Less(t, sum, 0.72)
	require.GreaterOrEqual(t, fewer, 8, "of 10 networks")
	require.GreaterOrEqual(t, lower, 7, "of 10 networks")
}

func TestPlacesDoNotDependOnTheOrder(t *testing.T) {
	for _, n := range tries(t) {
		places := Places(n.Nodes, n.edges())
		for i, a := range places {
			for _, b := range places[:i] {
				require.Greater(t, r2.Norm(r2.Sub(a, b)), 0.7*nearest, "%s: nodes keep apart", n.Name) // not NaN
			}
		}
		k := len(n.Nodes)
		names, edges := make([]string, k), n.edges()
		for i, name := range n.Nodes {
			names[k-1-i] = name
		}
		var turned []Edge
		for i := range edges {
			e := edges[len(edges)-1-i]
			turned = append(turned, Edge{k - 1 - e.To, k - 1 - e.From, e.Weight * (1 + 1e-12)})
		}
		again := Places(names, turned)
		for i, at := range places {
			require.InDelta(t, 0, r2.Norm(r2.Sub(at, again[k-1-i])), 1e-9, "%s: %s", n.Name, n.Nodes[i])
		}
	}
}

func TestPlacesFromOnePlace(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	at := placesFrom(map[string]r2.Vec{"a": {}, "b": {}}, names, []Edge{{From: 0, To: 2, Weight: 0.5}, {From: 2, To: 3, Weight: 0.3}})
	for i, p := range at {
		require.False(t, math.IsNaN(p.X) || math.IsNaN(p.Y))
		if i > 1 {
			require.Greater(t, r2.Norm(p), 0.1)
		}
	}
}
