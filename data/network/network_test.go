package network

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// awkward names what CSV, XML and DOT each treat specially.
var awkward = []string{`say "hi", you`, "a<b>&c", "<b>", "Größe ∇", `back\slash`, "node"}

// awkwardNetwork has four edges; the strongest is negative.
func awkwardNetwork(t *testing.T) *Network {
	p := mat.NewSymDense(6, nil)
	for j, v := range []float64{4, 1, 1, 2, 1, 1} {
		p.SetSym(j, j, v)
	}
	p.SetSym(0, 1, -0.5) // 0.25
	p.SetSym(1, 2, 0.6)  // −0.6
	p.SetSym(2, 4, -0.25)
	p.SetSym(3, 5, 1e-7)
	n, err := New(awkward, p, Threshold(p, 0))
	require.NoError(t, err)
	return n
}

// For jointly normal x the partial correlation of x0 and x1 given x2 is
// (r01 − r02 r12) / √((1 − r02²)(1 − r12²)).
func TestPartialCorrelationOfKnownCovariance(t *testing.T) {
	const r01, r02, r12 = 0.5, 0.3, -0.4
	sd := []float64{2, 10, 0.1}
	r := mat.NewSymDense(3, []float64{1, r01, r02, r01, 1, r12, r02, r12, 1})
	var p mat.SymDense
	s := mat.NewSymDense(3, nil)
	for j := range 3 {
		for k := j; k < 3; k++ {
			s.SetSym(j, k, r.At(j, k)*sd[j]*sd[k])
		}
	}
	var chol mat.Cholesky
	require.True(t, chol.Factorize(s))
	require.NoError(t, chol.InverseTo(&p))

	n, err := New([]string{"a", "b", "c"}, &p, Threshold(&p, 0))
	require.NoError(t, err)
	require.Len(t, n.Edges, 3)
	for _, e := range n.Edges {
		if e.From == "a" && e.To == "b" {
			want := (r01 - r02*r12) / math.Sqrt((1-r02*r02)*(1-r12*r12))
			require.InDelta(t, want, e.PartialCorrelation, 1e-12)
			require.Equal(t, p.At(0, 1), e.Precision)
			require.Equal(t, math.Abs(e.PartialCorrelation), e.Weight())
			require.Equal(t, "+", e.Sign())
		}
	}
}

func TestEdgesAreStrongestFirstThenInColumnOrder(t *testing.T) {
	p := mat.NewSymDense(4, []float64{
		1, 0.2, -0.3, 0,
		0.2, 1, 0, 0.3,
		-0.3, 0, 1, -0.2,
		0, 0.3, -0.2, 1,
	})
	n, err := New([]string{"z", "y", "x", "w"}, p, Threshold(p, 0))
	require.NoError(t, err)
	require.Equal(t, []string{"z", "y", "x", "w"}, n.Nodes)
	require.Equal(t, []Edge{
		{From: "z", To: "x", Precision: -0.3, PartialCorrelation: 0.3}, {From: "y", To: "w", Precision: 0.3, PartialCorrelation: -0.3},
		{From: "z", To: "y", Precision: 0.2, PartialCorrelation: -0.2}, {From: "x", To: "w", Precision: -0.2, PartialCorrelation: 0.2},
	}, n.Edges)
}

func TestNewErrors(t *testing.T) {
	edge := Adjacency{D: 2, Edge: []bool{true}}
	for name, c := range map[string]struct {
		names []string
		p     []float64
		a     Adjacency
		want  string
	}{
		"names":    {[]string{"a"}, []float64{1, 0, 0, 1}, edge, "1 names and an adjacency of 2 nodes (1 pairs) for a precision of size 2"},
		"nodes":    {[]string{"a", "b"}, []float64{1, 0, 0, 1}, Adjacency{D: 3, Edge: []bool{true}}, "adjacency of 3 nodes"},
		"pairs":    {[]string{"a", "b"}, []float64{1, 0, 0, 1}, Adjacency{D: 2}, "(0 pairs)"},
		"twice":    {[]string{"a", "a"}, []float64{1, 0, 0, 1}, edge, `columns 1 and 2 are both named "a"`},
		"negative": {[]string{"a", "b"}, []float64{1, 0, 0, -2}, edge, `the precision of "b" is -2, not a positive number`},
		"zero":     {[]string{"a", "b"}, []float64{0, 0, 0, 1}, edge, `the precision of "a" is 0`},
		"NaN":      {[]string{"a", "b"}, []float64{1, 0, 0, math.NaN()}, edge, `the precision of "b" is NaN`},
		"weight":   {[]string{"a", "b"}, []float64{1, math.Inf(1), 0, 1}, edge, `the precision of "a" – "b" is +Inf`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.names, mat.NewSymDense(2, c.p), c.a)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestPlacesErrors(t *testing.T) {
	n := &Network{Nodes: []string{"a", "b"}, Edges: []Edge{{From: "a", To: "c"}}}
	_, err := n.Places()
	require.EqualError(t, err, `network: edge "a" – "c": no node is named "c"`)
}
