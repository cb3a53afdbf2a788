package network

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The network's names are what CSV, XML and DOT each treat specially. igraph, networkx and Graphviz
// read the golden files.
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

func TestFormatErrors(t *testing.T) {
	edge := func(from, to string, precision float64) *Network {
		return &Network{Nodes: []string{"a", "b"}, Edges: []Edge{{From: from, To: to, Precision: precision}}}
	}
	for want, write := range map[string]func(io.Writer) error{
		`network: "a" is joined to itself`:              edge("a", "a", 1).WriteDOT,
		`network: edge "a" – "c": no node is named "c"`: edge("a", "c", 1).WriteDOT,
		`network: columns 1 and 2 are both named "a"`:   (&Network{Nodes: []string{"a", "a"}}).WriteGraphML,
		"json: unsupported value: NaN":                  edge("a", "b", math.NaN()).WriteJSON,
	} {
		var b bytes.Buffer
		require.EqualError(t, write(&b), want)
		require.Zero(t, b.Len())
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

// TakeEstimates sets edges to their estimates and sorts; edges without an estimate stay.
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

// Formats contain the known uncertainty only.
func TestUncertaintyInOtherFormats(t *testing.T) {
	p := mat.NewSymDense(3, []float64{4, 2, 0, 2, 9, 3, 0, 3, 1})
	n, err := New([]string{"a", "b", "c"}, p, Adjacency{D: 3, Edge: []bool{true, false, true}})
	require.NoError(t, err)
	var before bytes.Buffer
	require.NoError(t, n.WriteGraphML(&before))
	require.NotContains(t, before.String(), `"se"`)
	tested := Unknown(7)
	tested.Estimate, tested.SE, tested.P = -0.25, 0.125, 0.0625
	n.SetUncertainty(p, []Uncertainty{tested, Unknown(6), Unknown(5)})
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  []string
		no    string
	}{
		"GraphML": {n.WriteGraphML, []string{`<key id="se" for="edge" attr.name="se" attr.type="double">`, `<data key="estimate">-0.25</data>`, `<data key="se">0.125</data>`, `<data key="p">0.0625</data>`, `<data key="pairs">7</data>`, `<data key="pairs">5</data>`}, `<data key="q">`},
		"JSON":    {n.WriteJSON, []string{`"estimate": -0.25,`, `"se": 0.125,`, `"p": 0.0625,`, `"pairs": 7`, `"pairs": 5`}, `"q"`},
		"DOT":     {n.WriteDOT, []string{`estimate="-0.25"`, `se="0.125"`, `p="0.0625"`, `pairs="7"`, `pairs="5"`}, `q="`},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			require.NoError(t, c.write(&got))
			for _, want := range c.want {
				require.Equal(t, 1, strings.Count(got.String(), want), want)
			}
			require.NotContains(t, strings.ReplaceAll(got.String(), `key id="q"`, ""), c.no)
		})
	}
}
