package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/data/transform"
	"missingscore/graph"
	"missingscore/trainers"
	"missingscore/trainers/compare"
	"missingscore/trainers/fitted"
	"missingscore/trainers/regpath"
)

func example() Report {
	return Report{
		Title:     "Network of <airquality> & more",
		Verdict:   "All 100 fits reached their tolerance.",
		Converged: true,
		Warnings:  []string{"Column \"Ozone\" has <b>24 %</b> missing.", "second"},
		Settings:  [][2]string{{"z method", "exact"}, {"a lambda", "0.1 < 0.2"}},
		Columns: []Column{
			{Name: "Ozone<script>alert(1)</script>", Observed: 116, Missing: 37, Mean: 42.129310, Deviation: 32.98788},
			{Name: "Größe", Observed: 0, Missing: 0, Mean: math.NaN(), Deviation: math.NaN()},
		},
		Edges:    []network.Edge{{From: "Ozone", To: "\"Wind\"", Precision: 0.25, PartialCorrelation: -0.123456}},
		Pictures: []Picture{{Caption: "A <circle>", SVG: `<svg viewBox="0 0 9 9"><path d="M0,0L9,9"></path></svg>`}},
	}
}

// read is the text of each element of the page, by element name in order.
func read(t *testing.T, r Report) map[string][]string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, r))
	d := xml.NewDecoder(&b)
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	found := map[string][]string{}
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			open = append(open, x.Name.Local)
			found[x.Name.Local] = append(found[x.Name.Local], "")
			for _, a := range x.Attr {
				if a.Name.Local == "class" {
					found["class"] = append(found["class"], a.Value)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				at := found[open[len(open)-1]]
				at[len(at)-1] += string(x)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	r := example()
	got := read(t, r)
	require.Equal(t, []string{r.Title}, got["title"])
	require.Equal(t, []string{r.Title}, got["h1"])
	require.Equal(t, []string{"Converged.", "Warnings"}, got["strong"])
	require.NotContains(t, got["p"], r.Verdict, "the box says it")
	require.Equal(t, r.Warnings, got["li"])
	require.Equal(t, []string{"A <circle>"}, got["figcaption"])
	require.Len(t, got["svg"], 1)
	require.NotContains(t, got["h2"], "Are cells missing completely at random?")
	require.Len(t, got["path"], 1)
	require.Equal(t, []string{
		"from", "to", "partial correlation", "precision", "Ozone",
		"name", "observed", "missing", "mean", "sd", "Ozone<script>alert(1)</script>", "Größe",
		"z method", "a lambda"}, got["th"])
	require.Equal(t, []string{
		`"Wind"`, "−0.123", "0.25",
		"116", "24.2 %", "42.13", "32.99",
		"0", "–", "–", "–",
		"exact", "0.1 < 0.2"}, got["td"])
	require.Empty(t, got["script"])
	require.Empty(t, got["b"])
	require.Contains(t, got["class"], "good-words")
	require.NotContains(t, got["class"], "box bad")
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	require.ErrorIs(t, Write(full{}, example()), errFull)
	var b bytes.Buffer
	err := Write(&b, Report{Pictures: []Picture{{"net", "<?xml version=\"1.0\"?><svg></svg>"}}})
	require.EqualError(t, err, `report: the picture "net" does not begin with <svg`)
	require.Zero(t, b.Len())
}

// Columns with gaps are shown with p and predictor, if there are any.
func TestWriteGaps(t *testing.T) {
	r := example()
	r.Gaps = []mcar.Column{
		{Name: "Ozone<i>", Missing: 37, P: 0.0123, Corrected: 0.0246, Predictor: "Month", Direction: "low"},
		{Name: "Solar", Missing: 7, P: math.NaN(), Corrected: math.NaN()},
		{Name: "Wind", Missing: 9, P: 1e-40, Corrected: 2e-40, Predictor: "Day", Direction: "high"},
	}
	got := read(t, r)
	require.Contains(t, got["h2"], "Are cells missing completely at random?")
	require.Subset(t, got["td"], []string{"37", "0.012", "0.025", "Month is low", "–", "too few to test", "< 1e−15", "Day is high"})
	require.Contains(t, got["th"], "Ozone<i>")
}

func TestWriteColumns(t *testing.T) {
	nan := math.NaN()
	var b bytes.Buffer
	require.NoError(t, writeColumns(&b, []Column{
		{Name: "a,b", Observed: 3, Missing: 1, Mean: 0.5, Deviation: 2},
		{Name: "whole", Observed: 4, Mean: -1e-9, Deviation: nan},
		{Name: "alone", Observed: 2, Missing: 2, Mean: 1, Deviation: 1},
	}, []mcar.Column{
		{Name: "a,b", Missing: 1, P: 0.01, Corrected: 0.02, Predictor: "whole", Direction: "low"},
		{Name: "alone", Missing: 2, P: nan, Corrected: nan},
	}))
	require.Equal(t, `name,observed,missing,mean,deviation,p,p_corrected,predictor,direction
"a,b",3,1,0.5,2,0.01,0.02,whole,low
whole,4,0,-1e-09,,,,,
alone,2,2,1,1,,,,
`, b.String())
}

// Of very many columns the page has those with most missing cells and those whose gaps have the
// smallest p, and says where the others are.
func TestManyColumns(t *testing.T) {
	const all = mostRows + 3
	var r Report
	for j := range all {
		name := fmt.Sprint("x", j)
		r.Columns = append(r.Columns, Column{Name: name, Observed: all - j, Missing: j})
		p := 1 / float64(1+j)
		if j == all-1 {
			p = math.NaN()
		}
		r.Gaps = append(r.Gaps, mcar.Column{Name: name, P: p, Corrected: p})
	}
	require.Equal(t, "x1002", r.ColumnRows()[0].Name)
	require.Equal(t, "x3", r.ColumnRows()[mostRows-1].Name)
	require.Equal(t, "x1001", r.GapRows()[0].Name, "x1002 has no p")
	require.Equal(t, "x2", r.GapRows()[mostRows-1].Name)
	var b bytes.Buffer
	require.NoError(t, Write(&b, r))
	text := b.String()
	require.True(t, strings.Contains(text, "The 1000 columns with most missing cells, most first. All 1003 are in columns.csv."))
	require.True(t, strings.Contains(text, "the 1000 smallest of 1003 are here, all in columns.csv."))
	require.Equal(t, 2*mostRows, strings.Count(text, `<th scope="row">`))

	r.Columns, r.Gaps = r.Columns[:3], r.Gaps[:3]
	require.Equal(t, "x0", r.ColumnRows()[0].Name, "few are in the order of the table")
	b.Reset()
	require.NoError(t, Write(&b, r))
	require.NotContains(t, b.String(), "columns.csv")
}

func TestDiffering(t *testing.T) {
	nan := math.NaN()
	c := Comparison{Result: &compare.Result{Pairs: []compare.Difference{
		{From: "a", To: "b", Value: 0.1, P: 0.5, Q: 0.6},
		{From: "a", To: "c", Value: -0.4, P: 0.01, Q: 0.06},
		{From: "a", To: "d", Value: 0.5, P: 0.01, Q: 0.06},
		{From: "b", To: "c", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: 0.01}},
		{From: "b", To: "d", Value: 0.2, P: 0.3, Q: 0.4, Estimates: &compare.Estimates{Q: nan}},
	}}}
	var got []string
	for _, d := range c.Differing() {
		got = append(got, d.From+d.To)
	}
	require.Equal(t, []string{"bc", "ad", "ac"}, got, "by q, then p, then size")
	require.Len(t, c.Ranked(), 5)
	shown := differences(c.Result.Pairs, map[string]string{"d": "Delta"})
	require.Len(t, shown, 5)
	require.Equal(t, [2]string{"a", "Delta"}, [2]string{shown[0].From, shown[0].To})
	require.Equal(t, 0.5, shown[0].Uncertainty.Estimate)
	require.Equal(t, -0.4, shown[4].Uncertainty.Estimate)
}

// A picture of the path has at most mostCurves pairs: the chosen ones, then the largest.
func TestCurves(t *testing.T) {
	const d = 40 // 780 pairs
	r := &trainers.NetworkResult{Threshold: 1e-6, Adjacency: network.Adjacency{D: d, Edge: make([]bool, d*(d-1)/2)}}
	packed := make([]float64, d*(d+1)/2)
	for j := range d {
		r.Names = append(r.Names, strconv.Itoa(j))
		packed[graph.PackedIndex(d, j, j)] = 1
		for k := range j {
			packed[graph.PackedIndex(d, k, j)] = 1e-4 * float64(j)
		}
	}
	r.Points = []regpath.Point{{Lambda: 2, Packed: make([]float64, len(packed))}, {Lambda: 1, Packed: packed}}
	for j := range d { // the empty network has no correlations, but a diagonal
		r.Points[0].Packed[graph.PackedIndex(d, j, j)] = 1
	}
	r.Adjacency.Edge[0] = true // 0 – 1, which is the weakest
	r.Network = &network.Network{Edges: []network.Edge{{From: "0", To: "1", PartialCorrelation: 0.2}}, Labels: map[string]string{"1": "one"}}
	drawn, left := curves(r)
	require.Len(t, drawn, mostCurves)
	require.Equal(t, d*(d-1)/2-mostCurves, left)
	require.True(t, drawn[0].Chosen)
	require.Equal(t, 0.2, drawn[0].Size, "as in the result")
	require.Equal(t, "0 – one", drawn[0].Name)
	require.Equal(t, []float64{2, 1}, drawn[0].X)
	require.InDeltaSlice(t, []float64{0, -1e-4}, drawn[0].Y, 1e-12)
	require.InDelta(t, -39e-4, drawn[1].Y[1], 1e-12)
	for _, c := range drawn[1:] {
		require.LessOrEqual(t, c.Y[1], -24e-4, c.Name)
	}
}

// Pairs go from the most positive to the most negative; those that the network and most
// resamples are without, and those without an estimate, are not shown.
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

// The codes of levels have no mean, and a column of them has its own name.
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
