// Package report writes a result as one HTML page without other files.
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
	"regexp"
	"strings"

	"missingscore/internal/data/mcar"
	"missingscore/internal/printable"
)

type page struct {
	Title, Lead string   // Lead is one sentence
	Verdict     string   // why the fit is not reliable; "" if it converged
	Warnings    []string // what may change a decision
	Explorer    *explorer
	Picture     *Picture  // in place of Explorer
	Sections    []section // folded
}

type section struct {
	Title, Note string
	Table       *table
	Pictures    []Picture
	Code        string
}

type table struct {
	ID    string // "" for none
	Words int
	Head  []string
	Rows  [][]string
}

func (t *table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

func settings(of [][2]string) *table {
	t := &table{Words: 2}
	for _, s := range of {
		t.add(s[0], s[1])
	}
	return t
}

type Made struct {
	Command, Version string
	Seed             uint64
}

func (m Made) section() section {
	return section{Title: "How to cite and reproduce", Code: strings.ToValidUTF8(m.Command, "\ufffd"),
		Note: fmt.Sprintf("missingscore %s, seed %d. This command and the same table give the same numbers. Cite Givens, Liu, Reeve: Score Matching with Missing Data, ICML 2025, and the program with its version.", m.Version, m.Seed)}
}

type notice struct {
	Short, Rest string
	Bad         bool
}

func (p page) Notices() (out []notice) {
	all := p.Warnings
	if p.Verdict != "" {
		all = append([]string{"WARNING: " + p.Verdict}, all...)
	}
	for _, w := range all {
		text, bad := strings.CutPrefix(w, "WARNING: ")
		n := cutNotice(text)
		n.Bad = bad
		out = append(out, n)
	}
	return out
}

// cutNotice splits a text after its first clause of at least 24 characters, outside parentheses.
func cutNotice(text string) notice {
	if found := clause.FindStringSubmatch(text); found != nil {
		return notice{Short: found[1], Rest: found[2]}
	}
	return notice{Short: text}
}

var clause = regexp.MustCompile(`(?s)^((?:[^()]|\([^()]*\)){24,}?)[:;.] (.*)$`)

// Picture is an <svg> element that is inserted without escaping: it must come from picture.SVG.
type Picture struct{ Caption, SVG string }

func (p Picture) Markup() template.HTML { return template.HTML(p.SVG) }

func others(pictures []Picture) (out []section) {
	s := section{Title: "More pictures"}
	for _, p := range pictures {
		if p.Caption != "" {
			s.Pictures = append(s.Pictures, p)
		}
	}
	if s.Pictures == nil {
		return nil
	}
	return []section{s}
}

func (p page) write(w io.Writer) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "page.tmpl", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := b.WriteTo(printable.Writer{W: w})
	return err
}

func pText(x float64) string {
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

//go:embed page/*
var files embed.FS

var script = "\n(() => {\n\"use strict\";\n" + text("data.js") + text("stage.js") + text("page.js") + "})();\n"

// policy allows only the page's own style and program (by its hash).
var policy = func() string {
	hash := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}()

func text(name string) string {
	content, _ := files.ReadFile("page/" + name) // which is embedded
	return string(content)
}

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"style":        func() template.CSS { return template.CSS(text("page.css")) },
	"picturestyle": func() template.CSS { return template.CSS(text("picture.css")) },
	"script":       func() template.JS { return template.JS(script) },
	"policy":       func() string { return policy },
}).ParseFS(files, "page/*.tmpl"))
