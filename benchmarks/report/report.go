// Package report shows what a folder of results holds: figures, tables, settings, versions,
// and which of the tested sentences hold.
package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/atomicfile"
	"missingscore/internal/report"
)

// Write draws what out holds of the experiments: pictures beside the results, and in
// out the tables of claims (claims.csv, claims.md) and report.html with everything, a
// page that needs no other file. A figure that cannot be drawn does not cost the others:
// the page tells it, and so does the error.
func Write(out string, experiments []harness.Experiment, across []claims.Across) error {
	page, err := read(out, experiments, across)
	if err != nil {
		return err
	}
	var trouble error
	for i := range page.Sections {
		s := &page.Sections[i]
		if s.Done() == 0 {
			continue
		}
		if s.Trouble = s.draw(filepath.Join(out, s.Experiment.Name)); s.Trouble != nil {
			trouble = errors.Join(trouble, fmt.Errorf("%s: %w", s.Experiment.Name, s.Trouble))
		}
	}
	if page.Versions, err = versions(); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"claims.csv":  page.csv,
		"claims.md":   page.markdown,
		"report.html": page.html,
	} {
		if err := atomicfile.Write(filepath.Join(out, name), write); err != nil {
			return err
		}
	}
	return trouble
}

// Claims is the table of verdicts.
func Claims(all []Judged) markdown.Table { return study{Claims: all}.claims() }

// Paper is the table of verdicts on the paper's own sentences, with what each reading says.
func Paper(all []Judged) markdown.Table { return study{Claims: all}.paper() }

// Verdicts are those on what out holds, in the order of the tables.
func Verdicts(out string, experiments []harness.Experiment, across []claims.Across) ([]Judged, error) {
	page, err := read(out, experiments, across)
	return page.Claims, err
}

// read loads all sections and tests all claims, without a picture.
func read(out string, experiments []harness.Experiment, across []claims.Across) (page study, err error) {
	for _, e := range experiments {
		s, err := sectionOf(e, out)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return page, fmt.Errorf("%s: %w", e.Name, err)
		}
		page.Sections = append(page.Sections, *s)
	}
	for _, s := range page.Sections { // a sentence that one experiment is enough for stands with those of that
		page.Claims = append(page.Claims, s.claims...)
		if err := page.judge(across, func(c claims.Across) bool { return slices.Equal(c.Of, []string{s.Experiment.Name}) }); err != nil {
			return page, err
		}
	}
	return page, page.judge(across, func(c claims.Across) bool { return len(c.Of) > 1 })
}

// judge adds the chosen claims that have a verdict.
func (s *study) judge(across []claims.Across, chosen func(claims.Across) bool) error {
	for _, c := range across {
		if !chosen(c) {
			continue
		}
		v, err := s.across(c)
		if err != nil {
			return fmt.Errorf("claim %s: %w", c.ID, err)
		}
		if v != nil {
			s.Claims = append(s.Claims, Judged{slices.Concat(c.Of, c.Also), claims.Claim{ID: c.ID, Quote: c.Quote, Where: c.Where}, *v})
		}
	}
	return nil
}

// study is the page from top to bottom.
type study struct {
	Versions [][2]string
	Claims   []Judged
	Sections []section
}

// Section is that of an experiment; nil if nothing of it has been run.
func (s study) Section(name string) *section {
	for i := range s.Sections {
		if s.Sections[i].Experiment.Name == name && s.Sections[i].Done() > 0 {
			return &s.Sections[i]
		}
	}
	return nil
}

//go:embed report.html.tmpl
var source string

var page = template.Must(template.New("report").Funcs(template.FuncMap{"style": func() template.CSS { return report.Style }}).Parse(source))

func (s study) html(w io.Writer) error { return page.Execute(w, s) }
