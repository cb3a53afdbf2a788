package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/mcar"
	"missingscore/data/network"
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
	require.Equal(t, []string{"Converged", "Warnings"}, got["strong"])
	require.Equal(t, r.Verdict, got["p"][0])
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
	require.Contains(t, got["class"], "box good")
	require.NotContains(t, got["class"], "box bad")
}

func TestNotConvergedIsRed(t *testing.T) {
	got := read(t, Report{Title: "t", Verdict: "3 fits stopped short."})
	require.Equal(t, []string{"Not converged"}, got["strong"])
	require.Contains(t, got["class"], "box bad")
	require.NotContains(t, got["class"], "box good")
}

func TestWriteOfNothing(t *testing.T) {
	got := read(t, Report{})
	require.Contains(t, got["p"], "No edges.")
	require.Empty(t, got["table"])
	require.Empty(t, got["figure"])
	require.NotContains(t, got["class"], "box warn")
}

func TestWriteTwiceIsTheSame(t *testing.T) {
	var a, b bytes.Buffer
	require.NoError(t, Write(&a, example()))
	require.NoError(t, Write(&b, example()))
	require.Equal(t, a.String(), b.String())
}

func TestThePageNeedsNoOtherFile(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, example()))
	for _, s := range []string{"http://", "https://", "src=", "@import", "url("} {
		require.NotContains(t, strings.ReplaceAll(b.String(), "http://www.w3.org", ""), s)
	}
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
	require.Subset(t, got["td"], []string{"37", "0.012", "0.025", "Month is low", "–", "nothing to test with", "< 1e−15", "Day is high"})
	require.Contains(t, got["th"], "Ozone<i>")
}

// A pair without an interval has a dash, not two.
func TestIntervalsForReading(t *testing.T) {
	require.Equal(t, "−0.250 to 0.500", formatInterval(-0.25, 0.5))
	require.Equal(t, "–", formatInterval(math.NaN(), math.NaN()))
}
