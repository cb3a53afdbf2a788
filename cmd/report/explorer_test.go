package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/cmd/picture"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/printable"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/compare"
)

// On a path of three λ, a – c comes with the second and b – c with the third.
func small(t *testing.T) (*trainers.NetworkResult, *picture.Scene) {
	t.Helper()
	const d = 3
	r := &trainers.NetworkResult{Names: []string{`</script><script>alert(1)</script>`, `"b"`, "\u202ec"}, Threshold: 1e-6, Chosen: 1, Lambda: 1}
	point := func(lambda, ac, bc float64) regpath.Point {
		packed := make([]float64, d*(d+1)/2)
		for j := range d {
			packed[graph.PackedIndex(d, j, j)] = 1
		}
		packed[graph.PackedIndex(d, 0, 2)], packed[graph.PackedIndex(d, 1, 2)] = -ac, -bc
		p := regpath.Point{Lambda: lambda, Packed: packed}
		p.EachEdge(d, 1e-6, func(int, int) { p.Edges++ })
		return p
	}
	r.Points = []regpath.Point{point(2, 0, 0), point(1, 0.25, 0), point(0.5, 0.5, -0.1234)}
	u := network.Unknown(9)
	u.Estimate, u.Low, u.High, u.Q = 0.4, 0.3, 0.5, 0.01
	r.Network = &network.Network{Nodes: r.Names, Edges: []network.Edge{{From: r.Names[0], To: r.Names[2], PartialCorrelation: 0.4, Uncertainty: &u}}}
	s := picture.NewScene(r.Network, picture.Style{})
	return r, s
}

func TestExplore(t *testing.T) {
	r, s := small(t)
	x := explore(r, s, 0.95)
	require.Equal(t, []int{0, 1}, x.From, "the edge, then what the path has")
	require.Equal(t, []int{2, 2}, x.To)
	require.Equal(t, []column{{0.4, 0}}, x.Values)
	require.Equal(t, 0.3, x.Low[0])
	require.True(t, math.IsNaN(x.Low[1]))
	require.Nil(t, x.Inclusion, "nothing is known of it")
	require.Equal(t, column{2, 1, 0.5}, x.Lambdas)
	require.Equal(t, 1, x.Chosen)
	require.Equal(t, [][]int{{1, 250, 500}, {2, -123}}, x.Path)
	require.Equal(t, 95.0, x.Level)

	require.Nil(t, x.Radii)
	x.size("expected_influence", []float64{-1, 3, 1})
	require.Equal(t, [][]float64{{0.5, 1, 0.75}}, x.Radii)
	require.Equal(t, "expected influence", x.Sizes)

	text, err := json.Marshal(x.Low)
	require.NoError(t, err)
	require.Equal(t, "[0.3,null]", string(text))
}

func TestExploreManyEdges(t *testing.T) {
	n := &network.Network{}
	for i := range 200 {
		n.Nodes = append(n.Nodes, fmt.Sprint("x", i))
	}
	r := &trainers.NetworkResult{Names: n.Nodes, Network: n, Threshold: 1e-6}
	for j := range 60 {
		for k := range j {
			n.Edges = append(n.Edges, network.Edge{From: n.Nodes[k], To: n.Nodes[j], PartialCorrelation: 1 / float64(10+j)})
		}
	}
	for _, c := range []struct {
		edges  int
		left   string
		crowds []int
	}{
		{1500, "144 nodes without an edge are not drawn.", nil},
		{1770, "The picture shows the nodes of the 1500 strongest edges and hides 144 other nodes.", []int{1500, 500, 200, 100}},
	} {
		whole := n.Edges
		n.Edges = whole[:c.edges]
		s := picture.NewScene(n, picture.Style{})
		x := explore(r, s, 0.95)
		require.Equal(t, c.left, x.Left)
		require.Equal(t, c.crowds, x.Crowds())
		n.Edges = whole
	}
}

// No data can end the page's script, and the policy lets nothing else run.
func TestThePageIsClosed(t *testing.T) {
	r, s := small(t)
	p := example()
	p.Explorer = explore(r, s, 0.95)
	p.Sections = append(p.Sections, Made{Command: "missingscore network '</pre><b>.csv'"}.section())
	var b bytes.Buffer
	require.NoError(t, p.write(&b))
	text := b.String()
	require.Equal(t, 2, strings.Count(text, "<script"))
	require.Equal(t, 2, strings.Count(text, "</script"))
	require.NotContains(t, text, "</pre><b>")
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>\s*<script>(.*?)</script>`).FindStringSubmatch(text)
	require.NotNil(t, found)
	var told struct{ Nodes []string }
	require.NoError(t, json.Unmarshal([]byte(found[1]), &told))
	require.Equal(t, printable.Texts(r.Names), told.Nodes, "and none of them turns the direction")
	hash := sha256.Sum256([]byte(found[2]))
	allowed := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1])
	require.Equal(t, "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'", allowed)
	for _, s := range []string{"https://", "src=\"", "@import", "url("} {
		require.NotContains(t, text, s)
	}
}

func TestExploreComparison(t *testing.T) {
	r, s := small(t)
	nan := math.NaN()
	names := r.Names
	c := Comparison{Result: &compare.Result{Config: compare.Config{Level: 0.9}, Pairs: []compare.Difference{
		{From: names[0], To: names[1], P: 0.9, Q: 0.9, Low: nan, High: nan},
		{From: names[0], To: names[2], Weights: [2]float64{0.4, 0.1}, Value: 0.3, Low: 0.1, High: 0.5, P: 0.01, Q: 0.03},
		{From: names[1], To: names[2], P: 0.2, Q: 0.5, Estimates: &compare.Estimates{Value: -0.2, Low: -0.3, High: -0.1, P: 0.001, Q: 0.002}},
	}}}
	for i := range c.Groups {
		c.Groups[i] = Group{Name: string(rune('a' + i)), Result: &trainers.Result{Network: r}}
	}
	x := c.explore(s)
	require.Equal(t, []int{1, 0}, x.From, "the most certain first, none that is no edge and may not differ")
	require.Equal(t, []column{{0, 0.4}, {0, 0.1}}, x.Values)
	require.Equal(t, column{-0.2, 0.3}, x.Estimate, "of the two the more certain")
	require.Equal(t, column{0.002, 0.03}, x.Q)
	require.Equal(t, column{-0.3, 0.1}, x.Low)
	require.Equal(t, []string{"a", "b"}, x.Panels)
	require.True(t, x.Compare)
	require.Nil(t, x.Unsigned)

	r.Network.Levels = make([][]string, len(names)) // of both groups
	r.Network.Levels[0] = []string{"flat", "house", "tent"}
	r.Network.Levels[1] = []string{"no", "yes"}
	require.Equal(t, []bool{false, true}, c.explore(s).Unsigned, "pairs 1 – 2 and 0 – 2")
}
