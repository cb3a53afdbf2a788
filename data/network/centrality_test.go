package network

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// seven has two shortest paths between b and c that are equally long, and a pair apart.
func seven() *Network {
	edge := func(from, to string, r float64) Edge { return Edge{From: from, To: to, PartialCorrelation: r} }
	return &Network{Nodes: []string{"a", "b", "c", "d", "e", "f", "g", "alone"}, Edges: []Edge{
		edge("a", "b", 0.5), edge("a", "c", -0.25), edge("b", "d", 0.25), edge("c", "d", 0.5), edge("d", "e", 0.4), edge("f", "g", -0.2), edge("a", "d", 0.1),
	}}
}

// The numbers are those of R's igraph 1.3.5: strength(g), betweenness(g, weights = 1/w) and
// closeness(g, weights = 1/w) with w = |r|; qgraph 1.9.3's centrality() agrees (InDegree,
// InExpectedInfluence, Closeness of a–e alone, Betweenness twice that of igraph).
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

// R² is that of the regression on all others, from the covariance solve(P) in R 4.2.2:
// S[j,-j] %*% solve(S[-j,-j], S[-j,j]) / S[j,j].
func TestPredictability(t *testing.T) {
	got, err := Predictability(mat.NewSymDense(3, []float64{2, -0.5, 0.3, -0.5, 1.5, 0.4, 0.3, 0.4, 1}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.1884328358208955, 0.2408376963350786, 0.2090909090909091}, got, 1e-12)
	_, err = Predictability(mat.NewSymDense(2, []float64{1, 2, 2, 1}))
	require.ErrorContains(t, err, "not positive definite")
}

func TestWriteCentrality(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteCentrality(&b, []string{"a,b", "c"}, []Centrality{{0.5, -0.5, 0.25, 1, math.NaN()}, {0, 0, math.NaN(), 0, 0.125}}))
	require.Equal(t, "node,strength,expected_influence,closeness,betweenness,predictability\n\"a,b\",0.5,-0.5,0.25,1,\nc,0,0,,0,0.125\n", b.String())
}
