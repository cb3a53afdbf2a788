package network

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestFormats(t *testing.T) {
	p := mat.NewSymDense(6, nil)
	for j, v := range []float64{4, 1, 1, 2, 1, 1} {
		p.SetSym(j, j, v)
	}
	p.SetSym(0, 1, -0.5) // 0.25
	p.SetSym(1, 2, 0.6)  // −0.6
	p.SetSym(2, 4, -0.25)
	p.SetSym(3, 5, 1e-7)
	n, err := New([]string{`say "hi", you`, "a<b>&c", "<b>", "Größe ∇", `back\slash`, "node"}, p, Threshold(p, 0))
	require.NoError(t, err)
	for name, write := range map[string]func(io.Writer) error{"edges.csv": n.WriteEdges, "network.graphml": n.WriteGraphML, "network.dot": n.WriteDOT, "network.json": n.WriteJSON} {
		var got bytes.Buffer
		require.NoError(t, write(&got))
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got.String())
	}
}

func TestUncertaintyInFiles(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, 2, 0, 2, 9, 3, 0, 3, 1})
	n, err := New([]string{"a", "b", "c"}, p, Adjacency{D: 3, Edge: []bool{true, false, true}})
	require.NoError(t, err)
	first, last := Unknown(7), Unknown(5)
	first.Estimate, first.SE, first.Low, first.High, first.P, first.Q = -0.25, 0.125, -0.5, 0.25, 0.0625, 0.09375
	last.Inclusion, last.SameSign = 0.75, 1
	n.SetUncertainty(p, []Uncertainty{first, Unknown(6), last})
	var edges, pairs bytes.Buffer
	require.NoError(t, n.WriteEdges(&edges))
	require.NoError(t, n.WritePairs(&pairs))
	require.Equal(t, `from,to,weight,partial_correlation,precision,estimate,se,low,high,p,q,inclusion,same_sign,pairs
b,c,1,-1,3,,,,,,,0.75,1,5
a,b,0.3333333333333333,-0.3333333333333333,2,-0.25,0.125,-0.5,0.25,0.0625,0.09375,,,7
`, edges.String())
	require.Equal(t, `from,to,weight,partial_correlation,precision,estimate,se,low,high,p,q,inclusion,same_sign,pairs
a,b,0.3333333333333333,-0.3333333333333333,2,-0.25,0.125,-0.5,0.25,0.0625,0.09375,,,7
a,c,0,0,0,,,,,,,,,6
b,c,1,-1,3,,,,,,,0.75,1,5
`, pairs.String())
	require.False(t, math.Signbit(n.Pairs[1].PartialCorrelation), "no edge is 0, not −0")
}

func TestTakeEstimates(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, 2, 1, 2, 9, 3, 1, 3, 4})
	n, err := New([]string{"a", "b", "c"}, p, Adjacency{D: 3, Edge: []bool{true, true, true}})
	require.NoError(t, err)
	first, last := Unknown(1), Unknown(1)
	first.Estimate, last.Estimate = -0.25, 0.125
	n.TakeEstimates([]Uncertainty{first, Unknown(1), last})
	var got []any
	for _, e := range n.Edges {
		got = append(got, e.From, e.To, e.PartialCorrelation, e.Weight())
	}
	require.Equal(t, []any{"a", "b", -0.25, 0.25, "a", "c", -0.25, 0.25, "b", "c", 0.125, 0.125}, got)
}
