// Package report writes what a fit found as one HTML page that needs no other file.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/internal/printable"
	"missingscore/trainers/power"
)

// Report is the page from top to bottom. Verdict says in plain words whether the
// fit can be relied on; it is set in red unless Converged. Settings and Edges are shown in
// their order (network.New puts the strongest first), of Edges, Columns and Gaps so many as
// Rows, ColumnRows and GapRows say.
type Report struct {
	Title, Verdict string
	Summary        string // the first sentence, empty for none
	Converged      bool
	Warnings       []string
	Transform      string // functions of columns that were modelled in their place, empty for none
	Settings       [][2]string
	Columns        []Column
	Gaps           []mcar.Column // of a test whether columns' gaps depend on others
	Edges          []network.Edge
	Explorer       *explorer // nil for none
	Centrality     []nodeRow
	Predicted      bool // the nodes have R²
	Missing        *missingMap
	Command        string  // that makes the result again
	Inference      string  // what the uncertainty of Edges rests on; empty without
	Level          float64 // of their intervals
	Pictures       []Picture
}

// Resampled tells whether the uncertainty is that of resamples, which have an inclusion
// share.
func (r Report) Resampled() bool {
	return slices.ContainsFunc(r.Edges, func(e network.Edge) bool { return e.Uncertainty != nil && !math.IsNaN(e.Uncertainty.Inclusion) })
}

// Unsigned tells whether there is an edge without a sign.
func (r Report) Unsigned() bool {
	return slices.ContainsFunc(r.Edges, func(e network.Edge) bool { return e.Unsigned })
}

// Tested tells whether pairs have p values.
func (r Report) Tested() bool {
	return slices.ContainsFunc(r.Edges, func(e network.Edge) bool { return e.Uncertainty != nil && !math.IsNaN(e.Uncertainty.P) })
}

// Picture is an <svg> element, put into the page as it is, so that it must come
// from a source that escapes names: picture.SVG does.
type Picture struct{ Caption, SVG string }

// Markup is the picture for the template, which escapes everything else.
func (p Picture) Markup() template.HTML { return template.HTML(p.SVG) }

// mostRows is how many edges, nodes and columns a page has in its tables.
const mostRows = 1000

// Rows are the edges of the table.
func (r Report) Rows() []network.Edge { return r.Edges[:min(len(r.Edges), mostRows)] }

// reading makes numbers for readers; exact values are in the CSV files.
var reading = template.FuncMap{
	"style":         func() template.CSS { return Style },
	"explorerstyle": func() template.CSS { return template.CSS(text("page/explorer.css")) },
	"picturestyle":  func() template.CSS { return template.CSS(text("page/picture.css")) },
	"script":        func() template.JS { return template.JS(script) },
	"policy":        func() string { return policy },
	"number":        func(x float64) string { return rounded("%.4g", x) },
	"correlation":   func(x float64) string { return rounded("%.3f", x) },
	"interval":      formatInterval,
	"p":             formatP,
	"level":         func(x float64) string { return rounded("%.3g %%", 100*x) },
	"mean":          formatMean,
	"percent":       func(x float64) string { return rounded("%.1f %%", 100*x) },
}

var page = parsed("report.html.tmpl")

// Write writes the page: equal reports give equal bytes. It fails, before anything
// is written, if a picture is not an <svg> element.
func Write(w io.Writer, r Report) error {
	for _, p := range r.Pictures {
		if !strings.HasPrefix(p.SVG, "<svg") {
			return fmt.Errorf("report: the picture %q does not begin with <svg", p.Caption)
		}
	}
	return render(w, page, r)
}

// render writes a page whole or not at all.
func render(w io.Writer, page *template.Template, v any) error {
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := b.WriteTo(printable.Writer{W: w})
	return err
}

// formatInterval is an interval of correlations for reading, a dash where there is none.
func formatInterval(low, high float64) string {
	if math.IsNaN(low) && math.IsNaN(high) {
		return "–"
	}
	return rounded("%.3f", low) + " to " + rounded("%.3f", high)
}

// formatMean is a mean with its interval for reading.
func formatMean(m power.Mean) string {
	if math.IsNaN(m.Value) {
		return "–"
	}
	return rounded("%.3f", m.Value) + " (" + rounded("%.3f", m.Low) + " to " + rounded("%.3f", m.High) + ")"
}

// formatP is a p value for reading.
func formatP(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strings.ReplaceAll(mcar.FormatP(x), "-", "−")
}

func rounded(format string, x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strings.ReplaceAll(fmt.Sprintf(format, x), "-", "−")
}

// Style is the sheet that all reports share.
//
//go:embed page/page.css
var Style template.CSS

//go:embed page/explorer.css page/picture.css page/*.js page/*.tmpl *.tmpl
var files embed.FS

// scripts are the parts of the page's program, in the order in which they need each other.
var scripts = []string{"data", "words", "stage", "view", "pick", "pointer", "tables", "path", "controls", "download", "start"}

// script is the page's program. It runs in a scope of its own.
var script = func() string {
	var b strings.Builder
	b.WriteString("\n(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(text("page/" + name + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
}()

// policy forbids the page all but its own style and its own program, whose hash is given:
// nothing is fetched or sent, and a script that came in by a name would not run.
var policy = func() string {
	hash := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}()

// text is an embedded file, which is always there.
func text(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(content)
}

// parsed is a page's template with the parts that pages share.
func parsed(name string) *template.Template {
	return template.Must(template.New(name).Funcs(reading).ParseFS(files, name, "page/*.tmpl"))
}
