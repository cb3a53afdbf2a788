package network

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestNewErrors(t *testing.T) {
	joined := Adjacency{D: 2, Edge: []bool{true}}
	ab := []string{"a", "b"}
	for _, c := range []struct {
		names []string
		p     []float64
		a     Adjacency
		want  string
	}{
		{[]string{"a"}, []float64{1, 0, 0, 1}, joined, "1 names and an adjacency of 2 nodes (1 pairs) for a precision of size 2"},
		{ab, []float64{1, 0, 0, 1}, Adjacency{D: 3, Edge: []bool{true}}, "adjacency of 3 nodes"},
		{ab, []float64{1, 0, 0, 1}, Adjacency{D: 2}, "(0 pairs)"},
		{[]string{"a", "a"}, []float64{1, 0, 0, 1}, joined, `columns 1 and 2 are both named "a"`},
		{ab, []float64{1, 0, 0, -2}, joined, `the precision of "b" is -2, not a positive number`},
		{ab, []float64{0, 0, 0, 1}, joined, `the precision of "a" is 0`},
		{ab, []float64{1, 0, 0, math.NaN()}, joined, `the precision of "b" is NaN`},
		{ab, []float64{1, math.Inf(1), 0, 1}, joined, `the precision of "a" – "b" is +Inf`},
	} {
		_, err := New(c.names, mat.NewSymDense(2, c.p), c.a)
		require.ErrorContains(t, err, c.want)
	}
}

func TestThreshold(t *testing.T) {
	p := mat.NewSymDense(4, []float64{
		9, 0.5, 0, -0.2,
		0.5, 9, 0.1, 0.3,
		0, 0.1, 9, -0.7,
		-0.2, 0.3, -0.7, 9,
	})
	a := Threshold(p, 0.2)
	require.Equal(t, Adjacency{D: 4, Edge: []bool{true, false, false, false, true, true}}, a)
	require.Equal(t, 3, a.Count())
	require.Equal(t, 0.5, a.Density())
	for j := range 4 {
		for k := range 4 {
			require.Equal(t, j != k && math.Abs(p.At(j, k)) > 0.2, a.Has(j, k), "%d %d", j, k)
		}
	}
}

func on(pairs ...int) Adjacency {
	a := Adjacency{D: 4, Edge: make([]bool, 6)}
	for _, i := range pairs {
		a.Edge[i] = true
	}
	return a
}

func TestCompare(t *testing.T) {
	truth := on(0, 1)
	for _, c := range []struct {
		estimate Adjacency
		want     Rate
	}{{on(), Rate{0, 0}}, {on(0, 1, 2, 3, 4, 5), Rate{1, 1}}, {on(0, 1), Rate{0, 1}}, {on(1, 2, 3, 5), Rate{0.75, 0.5}}} {
		got, err := Compare(truth, c.estimate)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	require.InDelta(t, 0.5, F1(truth, on(0, 2)), 1e-12) // one hit, one false, one not found
	require.Zero(t, F1(on(), on()))
	for want, c := range map[string][2]Adjacency{
		"the truth has 4 nodes, the estimate 3":      {on(0), {D: 3, Edge: make([]bool, 3)}},
		"the true network of 4 nodes has no edges":   {on(), on(0)},
		"in the true network all 4 nodes are joined": {on(0, 1, 2, 3, 4, 5), on(0)},
	} {
		_, err := Compare(c[0], c[1])
		require.ErrorContains(t, err, want)
	}
}

func TestAUC(t *testing.T) {
	for name, c := range map[string]struct {
		rates []Rate
		want  float64
	}{
		"perfect":  {[]Rate{{0, 0.5}, {0, 1}, {0.5, 1}}, 1},
		"reversed": {[]Rate{{0.5, 0}, {1, 0}, {1, 0.5}}, 0},
		"diagonal": {[]Rate{{0.75, 0.75}, {0.25, 0.25}}, 0.5},
		"no point": {nil, 0.5},
		"one":      {[]Rate{{0.25, 0.75}}, 0.25*0.75/2 + 0.75*1.75/2},
		// Sorted: (0,0) (0.25,0.25) (0.25,0.75) (0.5,0.5) (1,1).
		"not monotone": {[]Rate{{0.25, 0.75}, {0.5, 0.5}, {0.25, 0.25}}, 0.25*0.25/2 + 0.25*1.25/2 + 0.5*1.5/2},
	} {
		given := slices.Clone(c.rates)
		require.InDelta(t, c.want, AUC(c.rates), 1e-15, name)
		require.Equal(t, given, c.rates, "the caller's rates keep their order")
	}
}

func TestPartialCorrelations(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, -2, 0, -2, 9, 3, 0, 3, 16})
	rho := PartialCorrelations(p)
	require.InDeltaSlice(t, []float64{1. / 3, 0, -0.25}, rho, 1e-15)
	require.False(t, math.Signbit(rho[1]))
	for _, unit := range [][2]float64{{1, 1}, {1e148, 1e148}, {1e-150, 1e-150}, {1e150, 1e-150}, {1e85, 3}} {
		p := mat.NewSymDense(2, []float64{4 / unit[0] / unit[0], -1 / unit[0] / unit[1], -1 / unit[0] / unit[1], 1 / unit[1] / unit[1]})
		require.InEpsilon(t, 0.5, PartialCorrelation(p, 0, 1), 1e-14)
	}
}

func edge(from, to string, r float64) Edge { return Edge{From: from, To: to, PartialCorrelation: r} }

// seven has two equally short paths between b and c, and a separate pair.
func seven() *Network {
	return &Network{Nodes: []string{"a", "b", "c", "d", "e", "f", "g", "alone"}, Edges: []Edge{
		edge("a", "b", 0.5), edge("a", "c", -0.25), edge("b", "d", 0.25), edge("c", "d", 0.5), edge("d", "e", 0.4), edge("f", "g", -0.2), edge("a", "d", 0.1),
	}}
}

// R's igraph 1.3.5: strength(g), betweenness(g, weights = 1/w) and closeness(g, weights = 1/w) with
// w = |r|; qgraph 1.9.3's centrality() agrees (Betweenness twice that of igraph).
func TestCentralities(t *testing.T) {
	got, err := seven().Centralities()
	require.NoError(t, err)
	var strength, influence, closeness, betweenness []float64
	for _, c := range got[:7] {
		strength, influence = append(strength, c.Strength), append(influence, c.ExpectedInfluence)
		closeness, betweenness = append(closeness, c.Closeness), append(betweenness, c.Betweenness)
	}
	require.InDeltaSlice(t, []float64{0.85, 0.75, 0.75, 1.25, 0.4, 0.2, 0.2}, strength, 1e-12)
	require.InDeltaSlice(t, []float64{0.35, 0.75, 0.25, 1.25, 0.4, -0.2, -0.2}, influence, 1e-12)
	require.InDeltaSlice(t, []float64{0.04878048780487805, 0.05405405405405406, 0.06060606060606061, 0.06896551724137931, 0.04545454545454546, 0.2, 0.2}, closeness, 1e-14)
	require.InDeltaSlice(t, []float64{0.5, 1, 1, 3.5, 0, 0, 0}, betweenness, 1e-12)
	require.Zero(t, got[7].Strength)
	require.True(t, math.IsNaN(got[7].Closeness), "no node can be reached")
	require.Zero(t, got[7].Betweenness)

	n := seven()
	n.Edges[0].To = "nobody"
	_, err = n.Centralities()
	require.ErrorContains(t, err, `no node is named "nobody"`)
}

// R's networktools 1.6.0: bridge(W, communities = c("x", "y", "x", "y", "z", "x")), and with
// useCommunities = c("x", "y").
func TestBridges(t *testing.T) {
	n := &Network{Nodes: []string{"a", "b", "c", "d", "e", "f"}, Edges: []Edge{
		edge("a", "b", 0.17), edge("b", "c", -0.07), edge("b", "e", 0.42), edge("c", "e", 0.46), edge("d", "e", -0.24), edge("b", "f", -0.07), edge("d", "f", 0.46), edge("e", "f", 0.03),
	}}
	got, err := n.Centralities()
	require.NoError(t, err)
	groups := map[string]string{"a": "x", "b": "y", "c": "x", "d": "y", "e": "z", "f": "x", "other": "z"}
	want := [][]float64{ // bridge strength, expected influence in one and two steps, closeness, betweenness
		{0.17, 0.17, 0.2414, 0.05179896961413101, 0},
		{0.73, 0.45, 0.6215, 0.08241907151819322, 2},
		{0.53, 0.39, 0.4434, 0.06755244755244756, 0},
		{0.7, 0.22, 0.1162, 0.03357595583725210, 0},
		{1.15, 0.67, 0.5517, 0.06123042505592842, 4},
		{0.56, 0.42, 0.2856, 0.04212209302325581, 3},
	}
	require.NoError(t, n.SetBridges(got, groups))
	for j, c := range got {
		b := c.Bridge
		require.InDeltaSlice(t, want[j], []float64{b.Strength, b.ExpectedInfluence, b.TwoStep, b.Closeness, b.Betweenness}, 1e-12, n.Nodes[j])
	}

	got, err = n.Centralities()
	require.NoError(t, err)
	delete(groups, "e")
	require.NoError(t, n.SetBridges(got, groups))
	require.InDelta(t, 0.31, got[1].Bridge.Strength, 1e-12)
	require.InDelta(t, 0.39, got[5].Bridge.TwoStep, 1e-12)
	require.InDelta(t, 0.46, got[5].Bridge.Closeness, 1e-12)
	require.True(t, math.IsNaN(got[2].Bridge.Closeness), "no node of another group can be reached")
	require.Nil(t, got[4].Bridge)
	got, err = n.Centralities()
	require.NoError(t, err)
	require.NoError(t, n.SetBridges(got, map[string]string{"a": "x", "b": "x"}))
	require.Nil(t, got[0].Bridge, "one group")
}

// R 4.2.2, covariance S = solve(P): S[j,-j] %*% solve(S[-j,-j], S[-j,j]) / S[j,j].
func TestPredictability(t *testing.T) {
	got, err := Predictability(mat.NewSymDense(3, []float64{2, -0.5, 0.3, -0.5, 1.5, 0.4, 0.3, 0.4, 1}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.1884328358208955, 0.2408376963350786, 0.2090909090909091}, got, 1e-12)
	_, err = Predictability(mat.NewSymDense(2, []float64{1, 2, 2, 1}))
	require.ErrorContains(t, err, "not positive definite")
}

func TestWriteCentrality(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteCentrality(&b, []string{"a,b", "c"}, []Centrality{{0.5, -0.5, 0.25, 1, math.NaN(), nil}, {0, 0, math.NaN(), 0, 0.125, nil}}))
	require.Equal(t, "node,strength,expected_influence,closeness,betweenness,predictability\n\"a,b\",0.5,-0.5,0.25,1,\nc,0,0,,0,0.125\n", b.String())

	b.Reset()
	require.NoError(t, WriteCentrality(&b, []string{"a", "b"}, []Centrality{{Strength: 1}, {Strength: 2, Bridge: &Bridge{0.5, -0.25, 0.125, math.NaN(), 3}}}))
	require.Equal(t, `node,strength,expected_influence,closeness,betweenness,predictability,bridge_strength,bridge_expected_influence,bridge_expected_influence_2,bridge_closeness,bridge_betweenness
a,1,0,0,0,0,,,,,
b,2,0,0,0,0,0.5,-0.25,0.125,,3
`, b.String())
}
