package reproduce

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks"
	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/internal/picture"
	"missingscore/internal/report"
)

// Report draws what Out holds of all experiments: pictures beside the results, and in
// Out the tables of claims (claims.csv, claims.md) and report.html with everything, a
// page that needs no other file. A figure that cannot be drawn does not lose the rest:
// the page tells it, and so does the error.
func Report(out string) error {
	page := study{}
	var err, trouble error
	if page.Versions, err = versions(); err != nil {
		return err
	}
	for _, e := range Experiments {
		s, err := sectionOf(e, filepath.Join(out, e.Name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		if s.Trouble != nil {
			trouble = errors.Join(trouble, fmt.Errorf("%s: %w", e.Name, s.Trouble))
		}
		page.Sections = append(page.Sections, *s)
		page.Claims = append(page.Claims, s.claims...)
	}
	for _, c := range Across {
		v, err := page.across(c)
		if err != nil {
			return fmt.Errorf("claim %s: %w", c.ID, err)
		}
		if v != nil {
			page.Claims = append(page.Claims, judged{c.Of, benchmarks.Claim{ID: c.ID, Quote: c.Quote, Where: c.Where}, *v})
		}
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

// study is the page from top to bottom.
type study struct {
	Versions [][2]string
	Claims   []judged
	Sections []section
}

// judged is a claim with what the cells say of it.
type judged struct {
	Experiments []string
	benchmarks.Claim
	benchmarks.Verdict
}

// section is an experiment's.
type section struct {
	benchmarks.Experiment
	Run          run
	Done, Wanted int
	Written      []setting
	Ours         []string
	Figures      []shown
	Trouble      error // with the figures
	results      benchmarks.Results
	claims       []judged
}

type setting struct{ Name, Value string }

type shown struct {
	Caption string
	Markup  template.HTML
	Small   bool // two of them fit beside each other
}

// sectionOf draws an experiment's pictures into its folder and tests its claims.
func sectionOf(e benchmarks.Experiment, dir string) (*section, error) {
	r, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	grid, err := r.grid(e)
	if err != nil {
		return nil, err
	}
	results := benchmarks.Results{Columns: slices.Concat(grid.Key, grid.Value)}
	lines, err := benchmarks.ReadLines(filepath.Join(dir, cellsFile), results.Columns)
	if err != nil {
		return nil, err
	}
	results.Lines = benchmarks.Select(grid.Cells, lines)
	s := &section{Experiment: e, Run: r, Done: len(results.Lines), Wanted: len(grid.Cells), results: results}
	if s.Written, s.Ours, err = written(r.Settings); err != nil {
		return nil, err
	}
	for _, c := range e.Claims {
		v, err := c.Test(results)
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.ID, err)
		}
		s.claims = append(s.claims, judged{[]string{e.Name}, c, v})
	}
	if s.Done == 0 {
		return s, nil
	}
	s.Trouble = s.draw(e, dir, results)
	return s, nil
}

// Section is that of an experiment; nil if nothing of it has been run.
func (s study) Section(name string) *section {
	for i := range s.Sections {
		if s.Sections[i].Name == name && s.Sections[i].Done > 0 {
			return &s.Sections[i]
		}
	}
	return nil
}

// across tests a claim that compares experiments, which all have to be run, in the same
// size; of none that has been run there is no verdict.
func (s study) across(c benchmarks.Across) (*benchmarks.Verdict, error) {
	results := map[string]benchmarks.Results{}
	var sizes, missing []string
	for _, name := range c.Of {
		of := s.Section(name)
		if of == nil {
			missing = append(missing, name)
			continue
		}
		results[name] = of.results
		if !slices.Contains(sizes, of.Run.Size) {
			sizes = append(sizes, of.Run.Size)
		}
	}
	undecided := &benchmarks.Verdict{Outcome: benchmarks.Undecided, Effect: math.NaN(), Low: math.NaN(), High: math.NaN()}
	switch {
	case len(results) == 0:
		return nil, nil
	case len(missing) > 0:
		undecided.Evidence = fmt.Sprintf("Not run: %s.", strings.Join(missing, ", "))
		return undecided, nil
	case len(sizes) > 1:
		undecided.Evidence = fmt.Sprintf("Not run in one size: %s.", strings.Join(sizes, "; "))
		return undecided, nil
	}
	v, err := c.Test(results)
	return &v, err
}

// draw saves the figures and puts them into the section.
func (s *section) draw(e benchmarks.Experiment, dir string, results benchmarks.Results) error {
	figures, err := e.Figures(s.Run.Settings, results)
	if err != nil {
		return err
	}
	for _, f := range figures {
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

// written are the settings as the file has them, one line each, and those that the
// paper does not state.
func written(settings json.RawMessage) (lines []setting, ours []string, err error) {
	d := json.NewDecoder(strings.NewReader(string(settings)))
	if _, err := d.Token(); err != nil { // {
		return nil, nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		if name == "ours" {
			if err := json.Unmarshal(value, &ours); err != nil {
				return nil, nil, err
			}
			continue
		}
		lines = append(lines, setting{fmt.Sprint(name), strings.ReplaceAll(string(value), `,"`, `, "`)})
	}
	return lines, ours, nil
}

// versions are of what computed: on another processor or with another library of
// matrix products the last digits differ.
func versions() ([][2]string, error) {
	blas, err := graph.BLAS()
	if err != nil {
		return nil, err
	}
	out := [][2]string{{"go", runtime.Version()}, {"platform", runtime.GOOS + "/" + runtime.GOARCH}, {"matrix products", blas}}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				out = append(out, [2]string{s.Key, s.Value})
			}
		}
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "gonum.org/") || strings.HasPrefix(m.Path, "gorgonia.org/gorgonia") {
				out = append(out, [2]string{m.Path, m.Version})
			}
		}
	}
	return out, nil
}

// Interval is the effect as it is read; empty where there is none.
func (j judged) Interval() string {
	if math.IsNaN(j.Effect) || j.Outcome == benchmarks.Undecided && j.Low == j.High {
		return ""
	}
	return strings.ReplaceAll(fmt.Sprintf("%.3g [%.3g, %.3g]", j.Effect, j.Low, j.High), "-", "−")
}

// Class is the verdict's in the style sheet.
func (j judged) Class() string {
	return map[benchmarks.Outcome]string{benchmarks.Holds: "good", benchmarks.DoesNotHold: "bad", benchmarks.Undecided: "warn"}[j.Outcome]
}

// Replicates in words.
func (s section) Replicates() string {
	if s.Run.Replicates == 1 {
		return "replicate 1"
	}
	return fmt.Sprintf("replicates 1 to %d", s.Run.Replicates)
}

// Count of each outcome.
func (s study) Count() string {
	n := map[benchmarks.Outcome]int{}
	for _, c := range s.Claims {
		n[c.Outcome]++
	}
	return fmt.Sprintf("Holds: %d; does not hold: %d; undecided: %d", n[benchmarks.Holds], n[benchmarks.DoesNotHold], n[benchmarks.Undecided])
}

func (s study) csv(w io.Writer) error {
	lines := [][]string{{"experiment", "claim", "quote", "where", "verdict", "measure", "effect", "low", "high", "replicates", "evidence"}}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	for _, c := range s.Claims {
		lines = append(lines, []string{strings.Join(c.Experiments, " "), c.ID, c.Quote, c.Where, string(c.Outcome), c.Measure,
			number(c.Effect), number(c.Low), number(c.High), strconv.Itoa(c.Replicates), c.Evidence})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

func (s study) markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| claim | the paper's words | verdict | effect, 95 % interval | of what | replicates | evidence |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	cell := func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
	for _, c := range s.Claims {
		fmt.Fprintf(&b, "| `%s` | %s | **%s** | %s | %s | %d | %s |\n", c.ID, cell(c.Quote), c.Outcome, c.Interval(), cell(c.Measure), c.Replicates, cell(c.Evidence))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

//go:embed report.html.tmpl
var source string

var page = template.Must(template.New("report").Funcs(template.FuncMap{"style": func() template.CSS { return report.Style }}).Parse(source))

func (s study) html(w io.Writer) error { return page.Execute(w, s) }
