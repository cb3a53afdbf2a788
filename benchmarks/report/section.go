package report

import (
	"fmt"
	"html/template"
	"path/filepath"

	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/internal/picture"
)

// section is an experiment's.
type section struct {
	harness.Loaded
	Written []setting
	Ours    []string
	Figures []shown
	Tables  []markdown.Table
	Trouble error // with the figures
	claims  []Judged
}

// Done is the number of finished cells.
func (s section) Done() int { return len(s.Results.Lines) }

type setting struct{ Name, Value string }

type shown struct {
	Caption string
	Markup  template.HTML
	Small   bool // two of them fit beside each other
}

// sectionOf loads an experiment and tests its claims.
func sectionOf(e harness.Experiment, out string) (*section, error) {
	l, err := harness.Load(e, out)
	if err != nil {
		return nil, err
	}
	s := &section{Loaded: l}
	if s.Written, s.Ours, err = written(l.Settings); err != nil {
		return nil, err
	}
	for _, c := range e.Claims {
		v, err := c.Test(l.Results)
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.ID, err)
		}
		s.claims = append(s.claims, Judged{[]string{e.Name}, c, v})
	}
	if e.Tables != nil && s.Done() > 0 {
		s.Tables, err = e.Tables(l.Settings, l.Results)
	}
	return s, err
}

// draw saves the figures and puts them into the section.
func (s *section) draw(dir string) error {
	if s.Experiment.Figures == nil {
		return nil
	}
	drawn, err := s.Experiment.Figures(s.Settings, s.Results)
	if err != nil {
		return err
	}
	for _, f := range drawn {
		width, height := vg.Length(f.Width)*vg.Centimeter, vg.Length(f.Height)*vg.Centimeter
		for _, suffix := range []string{".svg", ".png"} {
			if err := picture.Save(filepath.Join(dir, f.Name+suffix), f.Plot, width, height); err != nil {
				return fmt.Errorf("figure %s: %w", f.Name, err)
			}
		}
		svg, err := picture.SVG(f.Plot, width, height)
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		s.Figures = append(s.Figures, shown{f.Caption, template.HTML(svg), f.Width <= 12})
	}
	return nil
}

// Span is the replicates in words.
func (s section) Span() string {
	if s.Replicates == 1 {
		return "replicate 1"
	}
	return fmt.Sprintf("replicates 1 to %d", s.Replicates)
}
