package network

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/fuzztest"
	"missingscore/internal/testtables"
)

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want string
	}{
		{[]float64{1, 0, 0, -2}, `the precision of "b" is -2, not a positive number`},
		{[]float64{0, 0, 0, 1}, `the precision of "a" is 0`},
		{[]float64{1, 0, 0, math.NaN()}, `the precision of "b" is NaN`},
		{[]float64{1, math.Inf(1), 0, 1}, `the precision of "a" – "b" is +Inf`},
	} {
		_, err := New([]string{"a", "b"}, mat.NewSymDense(2, c.p), Adjacency{D: 2, Edge: []bool{true}})
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
	for want, c := range map[string][2]Adjacency{
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

func edge(from, to string, r float64) Edge {
	return Edge{From: from, To: to, Ends: [2]int{int(from[0] - 'a'), int(to[0] - 'a')}, PartialCorrelation: r}
}

// seven has two equally short paths between b and c, and a separate pair.
func seven() *Network {
	return &Network{Nodes: []string{"a", "b", "c", "d", "e", "f", "g", "alone"}, Edges: []Edge{
		edge("a", "b", 0.5), edge("a", "c", -0.25), edge("b", "d", 0.25), edge("c", "d", 0.5), edge("d", "e", 0.4), edge("f", "g", -0.2), edge("a", "d", 0.1),
	}}
}

// R's igraph 1.3.5: strength(g), betweenness(g, weights = 1/w) and closeness(g, weights = 1/w) with
// w = |r|; qgraph 1.9.3's centrality() agrees (Betweenness twice that of igraph).
func TestCentralities(t *testing.T) {
	got := seven().Centralities()
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
}

// R's networktools 1.6.0: bridge(W, communities = c("x", "y", "x", "y", "z", "x")), and with
// useCommunities = c("x", "y").
func TestBridges(t *testing.T) {
	n := &Network{Nodes: []string{"a", "b", "c", "d", "e", "f"}, Edges: []Edge{
		edge("a", "b", 0.17), edge("b", "c", -0.07), edge("b", "e", 0.42), edge("c", "e", 0.46), edge("d", "e", -0.24), edge("b", "f", -0.07), edge("d", "f", 0.46), edge("e", "f", 0.03),
	}}
	got := n.Centralities()
	groups := map[string]string{"a": "x", "b": "y", "c": "x", "d": "y", "e": "z", "f": "x", "other": "z"}
	want := [][]float64{ // bridge strength, expected influence in one and two steps, closeness, betweenness
		{0.17, 0.17, 0.2414, 0.05179896961413101, 0},
		{0.73, 0.45, 0.6215, 0.08241907151819322, 2},
		{0.53, 0.39, 0.4434, 0.06755244755244756, 0},
		{0.7, 0.22, 0.1162, 0.03357595583725210, 0},
		{1.15, 0.67, 0.5517, 0.06123042505592842, 4},
		{0.56, 0.42, 0.2856, 0.04212209302325581, 3},
	}
	n.SetBridges(got, groups)
	for j, c := range got {
		b := c.Bridge
		require.InDeltaSlice(t, want[j], []float64{b.Strength, b.ExpectedInfluence, b.TwoStep, b.Closeness, b.Betweenness}, 1e-12, n.Nodes[j])
	}

	got = n.Centralities()
	delete(groups, "e")
	n.SetBridges(got, groups)
	require.InDelta(t, 0.31, got[1].Bridge.Strength, 1e-12)
	require.InDelta(t, 0.39, got[5].Bridge.TwoStep, 1e-12)
	require.InDelta(t, 0.46, got[5].Bridge.Closeness, 1e-12)
	require.True(t, math.IsNaN(got[2].Bridge.Closeness), "no node of another group can be reached")
	require.Nil(t, got[4].Bridge)
	got = n.Centralities()
	n.SetBridges(got, map[string]string{"a": "x", "b": "x"})
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

func TestPrecisionRoundTrip(t *testing.T) {
	p := mat.NewSymDense(3, []float64{1.0 / 3, -1e-300, 0, -1e-300, 2, 0.1 + 0.2, 0, 0.1 + 0.2, 5e7})
	names := []string{`a, "b"`, " <c>", "größe\u202e"}
	var b bytes.Buffer
	require.NoError(t, WritePrecision(&b, names, p))
	path := filepath.Join(t.TempDir(), "p.csv")
	require.NoError(t, os.WriteFile(path, append([]byte("\ufeff"), b.Bytes()...), 0o644))
	got, err := ReadPrecision(path, nil)
	require.NoError(t, err)
	require.True(t, mat.Equal(p, got))
	got, err = ReadPrecision(path, []string{names[2], names[0]})
	require.NoError(t, err)
	require.Equal(t, []float64{5e7, 0, 1.0 / 3}, []float64{got.At(0, 0), got.At(0, 1), got.At(1, 1)})
	_, err = ReadPrecision(path, []string{"x", names[1], "y,z"})
	require.ErrorContains(t, err, `p.csv: no column named "x", "y,z"`)
	_, err = ReadPrecision(path+"none", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzReadPrecision(f *testing.F) {
	names := []string{"b", "a"}
	whole := fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return ReadPrecision(path, nil) })
	fuzztest.Reader[*mat.SymDense]{
		Read: fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return ReadPrecision(path, names) }),
		Write: func(p *mat.SymDense) (string, error) {
			var text strings.Builder
			err := WritePrecision(&text, names, p)
			return text.String(), err
		},
		Check: func(t testing.TB, text string, p *mat.SymDense) {
			all, err := whole(text)
			require.NoError(t, err, "%q", text)
			require.GreaterOrEqual(t, all.SymmetricDim(), p.SymmetricDim())
		},
		Accepts: []string{"a,b\n2,0.5\n0.5,1\n", "b,a,c\n1,0,0\n0,1e-300,0\n0,0,-3\n", "\ufeffa,b\r\n 2,0.5\r\n0.5 ,1", "a,b\n\"2\",1e308\n1e308,1\n",
			"a,b\n1,100000000\n100000000.5,1\n", "a,b\n4,1e-17\n-3e-17,9\n"},
		Messages: map[string]string{
			"":                        "truth.csv: the file is empty; it needs a first line of column names and a line for each row",
			"a,b\n1,2\n2,\"1,5\"\n":   `truth.csv:3: column "b": "1,5" is not a finite number`,
			"a,b\n1,NaN\nNaN,1\n":     `truth.csv:2: column "b": "NaN" is not a finite number`,
			"a,b\n1,1e999\n1e999,1\n": `truth.csv:2: column "b": "1e999" is not a finite number`,
			"a,b\n":                   "truth.csv: a header but no rows",
			"a,b\n1,2\n":              "truth.csv: not square: 1 rows, the header has 2 names",
			"a,b\n1,2\n2,1\n\n3,4\n":  "truth.csv: not square: 3 rows, the header has 2 names",
			"a,b\n1,2,3\n2,1\n":       "truth.csv:2: expected 2 cells as in the header, found 3; look for a decimal comma",
			"a,b\n1,2\n2.0000001,1\n": `truth.csv:3: column "a": not symmetric: 2.0000001 here, 2 in line 2, column "b"`,
			"a,b\n0,0\n1e-320,0\n":    "not symmetric",
			"a,b,a\n1,1,1\n":          `truth.csv: two columns are named "a" (from R, write with row.names = FALSE)`,
			"\"\",\"a\"\n\"a\",1\n":   "truth.csv: column 1 has no name (from R, write with row.names = FALSE)",
			"a,c\n1,0\n0,1\n":         `truth.csv: no column named "b"`,
			"a,b\n1,\"0\n0,1\n":       `truth.csv:2: extraneous or missing " in quoted-field; quote a cell that has a quotation mark`,
			"a,b\n1,\xff\n0,1\n":      "not a text in UTF-8",
		},
	}.Fuzz(f)
}

// Two single columns have ± the partial correlation; a level of three that of its centred utility.
func TestTogether(t *testing.T) {
	p := mat.NewSymDense(5, testtables.Covariances(5, 9, 5))
	r := PartialCorrelation(p, 3, 4)
	pairs, err := Together(p, Side{First: 3, Width: 1, Levels: []string{"no", "yes"}}, Side{First: 4, Width: 1})
	require.NoError(t, err)
	require.Len(t, pairs, 2)
	require.Equal(t, LevelPair{From: "no", Association: pairs[0].Association}, pairs[0])
	require.InDeltaSlice(t, []float64{-r, r}, []float64{pairs[0].Association, pairs[1].Association}, 1e-12)

	// Columns 0 and 1 are utilities of b and c minus that of a; the rest is columns 2, 4.
	var sigma mat.Dense
	require.NoError(t, sigma.Inverse(p))
	given := func(x, y []float64) float64 { // partial covariance of two combinations of columns 0, 1, 3
		at, rest := []int{0, 1, 3}, []int{2, 4}
		part := func(rows, columns []int) *mat.Dense {
			m := mat.NewDense(len(rows), len(columns), nil)
			m.Apply(func(i, k int, _ float64) float64 { return sigma.At(rows[i], columns[k]) }, m)
			return m
		}
		var own, other mat.Dense
		require.NoError(t, other.Solve(part(rest, rest), part(rest, at)))
		own.Mul(part(at, rest), &other)
		own.Sub(part(at, at), &own)
		return mat.Inner(mat.NewVecDense(3, x), &own, mat.NewVecDense(3, y))
	}
	number := []float64{0, 0, 1}
	want := func(level []float64) float64 {
		return given(level, number) / math.Sqrt(given(level, level)*given(number, number))
	}
	nominal, single := Side{First: 0, Width: 2, Levels: []string{"a", "b", "c"}}, Side{First: 3, Width: 1}
	pairs, err = Together(p, nominal, single)
	require.NoError(t, err)
	for k, level := range [][]float64{{-1. / 3, -1. / 3, 0}, {2. / 3, -1. / 3, 0}, {-1. / 3, 2. / 3, 0}} {
		require.Equal(t, nominal.Levels[k], pairs[k].From)
		require.InDelta(t, want(level), pairs[k].Association, 1e-12)
	}
	turned, err := Together(p, single, nominal)
	require.NoError(t, err)
	require.Equal(t, "c", turned[2].To)
	require.InDelta(t, pairs[2].Association, turned[2].Association, 1e-12)

	_, err = Together(mat.NewSymDense(2, []float64{1, 2, 2, 1}), Side{First: 0, Width: 1}, Side{First: 1, Width: 1})
	require.ErrorContains(t, err, "not positive definite")
}

func TestFilesOfLevels(t *testing.T) {
	n := &Network{Nodes: []string{"home", "sex", "x"}, Levels: [][]string{{"a", "b", "c"}, {"f", "m"}, nil}, Edges: []Edge{
		{From: "home", To: "x", Ends: [2]int{0, 2}, PartialCorrelation: 0.5, Precision: -0.5, Unsigned: true, Together: []LevelPair{{From: "a", Association: 0.25}}},
		{From: "sex", To: "x", Ends: [2]int{1, 2}, PartialCorrelation: -0.25, Precision: 0.25},
	}}
	require.True(t, n.HasLevels())
	var text strings.Builder
	require.NoError(t, n.WriteLevels(&text))
	require.Equal(t, "from,level_from,to,level_to,association\nhome,a,x,,0.25\n", text.String())
	text.Reset()
	require.NoError(t, n.WriteJSON(&text))
	require.Contains(t, text.String(), `"sign": "",
      "levels": [
        {
          "level_from": "a",
          "association": 0.25
        }
      ]`)
	text.Reset()
	require.NoError(t, n.WriteDOT(&text))
	require.Contains(t, text.String(), `color="#555555"`)
	u := Unknown(10)
	u.SameSign = 1
	pairs := []Uncertainty{u, u, u}
	n.SetUncertainty(mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), pairs)
	require.True(t, n.Pairs[0].Unsigned && n.Pairs[1].Unsigned && !n.Pairs[2].Unsigned)
	require.True(t, math.IsNaN(pairs[0].SameSign))
	require.Equal(t, 1., pairs[2].SameSign)
}
