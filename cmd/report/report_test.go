package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/cmd/picture"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/data/transform"
	"missingscore/internal/printable"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/fitted"
)

func example() page {
	t := &table{ID: "x", Words: 1, Head: []string{"name", "mean"}}
	t.add("Ozone<script>alert(1)</script>", rounded("%.4g", -42.129310))
	return page{
		Title: "Network of <airquality> & more", Lead: "5 of 15 edges.",
		Warnings: []string{"WARNING: column \"Ozone\" has <b>24 %</b> missing: too many", "second"},
		Sections: []section{{Title: "Columns", Note: "All of them.", Table: t, Pictures: []Picture{{Caption: "A <circle>", SVG: `<svg viewBox="0 0 9 9"><path d="M0,0L9,9"></path></svg>`}}}},
	}
}

func TestPage(t *testing.T) {
	p := example()
	var b bytes.Buffer
	require.NoError(t, p.write(&b))
	body := b.String()[strings.Index(b.String(), "<body>"):]
	words := strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " ")))
	require.Equal(t, "Network of <airquality> & more 5 of 15 edges. Converged."+
		` Warning: column "Ozone" has <b>24 %</b> missing too many Warning: second`+
		" Columns All of them. name mean Ozone<script>alert(1)</script> −42.13 A <circle>", strings.Join(words, " "))
	require.Contains(t, body, `<details class="notice bad" open><summary>`)
	require.NotContains(t, body, "<script")

	p.Verdict = "NOT converged: the last step moved 1 %"
	b.Reset()
	require.NoError(t, p.write(&b))
	require.NotContains(t, b.String(), "Converged.")
	require.Equal(t, notice{"NOT converged: the last step moved 1 %", "", true}, p.Notices()[0])
	full := errors.New("disk full")
	r, w := io.Pipe()
	require.NoError(t, r.CloseWithError(full))
	require.ErrorIs(t, p.write(w), full)
}

func TestCutNotice(t *testing.T) {
	require.Equal(t, notice{Short: "columns a and b are observed in 9 rows (the least: 5)", Rest: "get more"}, cutNotice("columns a and b are observed in 9 rows (the least: 5): get more"))
	require.Equal(t, notice{Short: "left out: age: a column of words", Rest: "no number"}, cutNotice("left out: age: a column of words; no number"))
}

func TestVerdict(t *testing.T) {
	r := &compare.Result{Pairs: []compare.Difference{{Q: 0.2}, {Q: 0.1}}}
	c := Comparison{Result: r}
	require.Equal(t, "The networks differ in structure and in global strength and in 1 of 2 edges.", c.Verdict())
	r.Structure.P, r.Strength.P, r.Pairs[1].Q = 0.051, 0.9, 0.11
	require.Equal(t, "No evidence that the networks differ.", c.Verdict())
}

func TestGapTable(t *testing.T) {
	_, _, got := gapTable([]mcar.Column{
		{Name: "Solar", Missing: 7, P: math.NaN(), Corrected: math.NaN()},
		{Name: "Ozone", Missing: 37, P: 0.0123, Corrected: 0.0246, Predictor: "Month", Direction: "low"},
		{Name: "Wind", Missing: 9, P: 1e-40, Corrected: 2e-40, Predictor: "Day", Direction: "high"},
	})
	require.Equal(t, [][]string{
		{"Wind", "Day is high", "9", "< 1e−15", "< 1e−15"},
		{"Ozone", "Month is low", "37", "0.012", "0.025"},
		{"Solar", "too few to test", "7", "–", "–"},
	}, got.Rows)
}

func TestPatternTable(t *testing.T) {
	x := math.NaN()
	of, err := data.NewTable([]string{"whole", "some", "most"}, []float64{1, 2, x, 2, 3, x, 3, x, x, 4, 5, 6, 5, 6, 7, 6, 7, x}, []bool{
		true, true, false, true, true, false, true, false, false, true, true, true, true, true, true, true, true, false,
	})
	require.NoError(t, err)
	_, _, got := patternTable(of, of.Names)
	require.Equal(t, [][]string{{"most", "1", "3"}, {"none", "0", "2"}, {"some, most", "2", "1"}}, got.Rows)
}

func TestManyColumns(t *testing.T) {
	const all = mostRows + 3
	var columns []Column
	for j := range all {
		columns = append(columns, Column{Name: fmt.Sprint("x", j), Observed: all - j, Missing: j})
	}
	_, note, got := columnTable(columns)
	require.Equal(t, "Most missing cells first. The first 1000 of 1003 are shown; columns.csv has all.", note)
	require.Equal(t, "x1002", got.Rows[0][0])
	require.Equal(t, "x3", got.Rows[mostRows-1][0])
	_, note, got = columnTable(columns[:3])
	require.Empty(t, note)
	require.Equal(t, []string{"x0", "1003", "0.0 %", "0", "0"}, got.Rows[0])
}

func TestDiffering(t *testing.T) {
	nan := math.NaN()
	c := Comparison{Result: &compare.Result{Pairs: []compare.Difference{
		{From: "a", To: "b", Value: 0.1, P: 0.5, Q: 0.6},
		{From: "a", To: "c", Value: -0.4, P: 0.01, Q: 0.06},
		{From: "a", To: "d", Value: 0.5, P: 0.01, Q: 0.06},
		{From: "b", To: "c", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: 0.01}},
		{From: "b", To: "d", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: nan}},
		{From: "c", To: "d", P: 0.001, Q: 0.01, Estimates: &compare.Estimates{Q: 0.4}},
	}}}
	var got []string
	for _, d := range c.Differing() {
		got = append(got, d.From+d.To)
	}
	require.Equal(t, []string{"bc", "ad", "ac"}, got, "by q, then p, then size")
	require.Len(t, c.Ranked(), 6)
	shown := differences(c.Result.Pairs, map[string]string{"d": "Delta"})
	require.Len(t, shown, 5)
	require.Equal(t, [2]string{"a", "Delta"}, [2]string{shown[0].From, shown[0].To})
	require.Equal(t, 0.5, shown[0].Uncertainty.Estimate)
	require.Equal(t, -0.4, shown[4].Uncertainty.Estimate)
}

// Pairs absent from the network and most resamples are not shown.
func TestForest(t *testing.T) {
	pair := func(from string, estimate, inclusion float64) network.Edge {
		u := network.Unknown(9)
		u.Estimate, u.Inclusion = estimate, inclusion
		return network.Edge{From: from, To: "z", Uncertainty: &u}
	}
	nan := math.NaN()
	n := &network.Network{Pairs: []network.Edge{
		pair("a", -0.5, 1), pair("b", 0, 0.1), pair("c", 0.25, nan), pair("d", 0, 0.5), pair("e", nan, nan), pair("f", 0, nan), pair("g", 0.75, 1),
	}}
	var shown []string
	for _, e := range forest(n) {
		shown = append(shown, e.From)
	}
	require.Equal(t, []string{"g", "c", "d", "a"}, shown)
}

func TestColumnsOfLevels(t *testing.T) {
	table := &data.Table{Names: []string{"x", "sex", "item"}, N: 2, D: 3, Values: make([]float64, 6), Observed: []bool{true, true, true, true, false, true}}
	result := &trainers.Result{
		Network: &trainers.NetworkResult{Network: &network.Network{Nodes: []string{"sex", "x"}, Levels: [][]string{{"f", "m"}, nil}}},
		Model:   &fitted.Saved{Scale: data.Scale{Mean: []float64{4, 0, 0}, Deviation: []float64{2, 1, 1}}, Transform: transform.Columns{nil, nil, &transform.Ordinal{}}},
	}
	got := columnsOf(table, result, []string{"x", "ordinal of sex", "ordinal of item"})
	require.Equal(t, Column{Name: "x", Observed: 2, Mean: 4, Deviation: 2}, got[0])
	for j, name := range []string{"sex", "item"} {
		require.Equal(t, name, got[1+j].Name)
		require.True(t, math.IsNaN(got[1+j].Mean) && math.IsNaN(got[1+j].Deviation))
	}
}

func TestWriteDifferences(t *testing.T) {
	d := &inference.Differences{Of: []int{2, 0, 1}, Value: []float64{0.5, -0.25, 0.125}, Low: []float64{0.25, -0.5, -0.5}, High: []float64{1, 1, -0.125}}
	names := []string{"a", "b,c", "d"}
	var text strings.Builder
	require.NoError(t, writeDifferences(&text, []string{"node"}, func(node int) []string { return names[node : node+1] }, d))
	require.Equal(t, `node_1,node_2,value_1,value_2,difference,low,high,differs
d,a,0.5,-0.25,0.75,0.25,1,true
d,"b,c",0.5,0.125,0.375,-0.5,1,false
a,"b,c",-0.25,0.125,-0.375,-0.5,-0.125,true
`, text.String())
}

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
		p := regpath.Point{Lambda: lambda, P: *sparse.FromPacked(packed, d)}
		p.EachEdge(1e-6, func(int, int) { p.Edges++ })
		return p
	}
	r.Points = []regpath.Point{point(2, 0, 0), point(1, 0.25, 0), point(0.5, 0.5, -0.1234)}
	u := network.Unknown(9)
	u.Estimate, u.Low, u.High, u.Q = 0.4, 0.3, 0.5, 0.01
	r.Network = &network.Network{Nodes: r.Names, Edges: []network.Edge{{From: r.Names[0], To: r.Names[2], Ends: [2]int{0, 2}, PartialCorrelation: 0.4, Uncertainty: &u}}}
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
			n.Edges = append(n.Edges, n.Edge(k, j, 0, 1/float64(10+j)))
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
		{Ends: [2]int{0, 1}, P: 0.9, Q: 0.9, Low: nan, High: nan},
		{Ends: [2]int{0, 2}, Weights: [2]float64{0.4, 0.1}, Value: 0.3, Low: 0.1, High: 0.5, P: 0.01, Q: 0.03},
		{Ends: [2]int{1, 2}, P: 0.2, Q: 0.5, Estimates: &compare.Estimates{Value: -0.2, Low: -0.3, High: -0.1, P: 0.001, Q: 0.002}},
	}}}
	for i := range c.Groups {
		c.Groups[i] = Group{Name: string(rune('a' + i)), Result: &trainers.Result{Network: r}}
	}
	x := c.explore(s)
	require.Equal(t, []int{1, 0}, x.From, "the most certain first, none that is no edge and may not differ")
	require.Equal(t, []column{{0, 0.4}, {0, 0.1}}, x.Values)
	require.Equal(t, column{-0.2, 0.3}, x.Estimate, "by standard errors where there are any")
	require.Equal(t, column{0.002, 0.03}, x.Q)
	require.Equal(t, column{-0.3, 0.1}, x.Low)
	require.Equal(t, []string{"a", "b"}, x.Panels)
	require.True(t, x.Compare)
	require.Nil(t, x.Unsigned)

	require.Equal(t, "a minus b with 90 % intervals; grey if the interval contains 0.", c.differencesNote(x))
	c.Result.Pairs[1].Low, c.Result.Pairs[1].High = nan, nan
	require.Contains(t, c.differencesNote(c.explore(s)), "A pair has none with too few permutations")

	r.Network.Levels = make([][]string, len(names)) // of both groups
	r.Network.Levels[0] = []string{"flat", "house", "tent"}
	r.Network.Levels[1] = []string{"no", "yes"}
	require.Equal(t, []bool{false, true}, c.explore(s).Unsigned, "pairs 1 – 2 and 0 – 2")
}
