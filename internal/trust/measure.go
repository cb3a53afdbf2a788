package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"missingscore/internal/provenance"
	"missingscore/trainers/invariance"
)

// measurement is a test that logs what it finds as a line "figures {…}" of numbers by name, or
// the self-check, whose parts are read.
type measurement struct {
	Name    string
	Promise string
	Command []string
}

// measurements are all of them; a new one is a line here and one in found.
var measurements = []measurement{
	logged("invariances", "invariant", "trainers/invariance", "TestEveryCaseHasEveryProperty"),
	logged("laws of draws", "invariant", "trainers/invariance", "TestWhateverDrawsHasTheSameLaw"),
	logged("matrix libraries", "invariant", "trainers/invariance", "TestEveryCaseByAnotherLibrary"),
	logged("certified values", "certified", "trainers/certified", "TestCertifiedOptima"),
	logged("calibration", "calibrated", "trainers/calibration", "TestRanksAreUniform"),
	logged("errors by size", "calibrated", "trainers/calibration", "TestErrorsGoBySize"),
	logged("chains", "calibrated", "trainers/mcmc", "TestReferenceDiagnostics"),
	{Name: "self-check", Command: []string{"go", "run", "./cmd/missingscore", "self-check", "--json"}},
}

func logged(name, promise, pkg, test string) measurement {
	return measurement{name, promise, []string{"go", "test", "-count=1", "-v", "./" + pkg, "-run", "^" + test + "$"}}
}

// measured is what a measurement found.
type measured struct {
	Command string             `json:"command"`
	Figures map[string]float64 `json:"figures"`
	provenance.Source
}

var figuresLine = regexp.MustCompile(`figures (\{.*\})`)

// measure runs measurements, all if none are named, and keeps what they find.
func measure(names []string) error {
	results, err := readFigures[measured](".", "measured")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.Name == name }) {
			return fmt.Errorf("there is no measurement %q", name)
		}
	}
	source, err := provenance.Of(".")
	if err != nil {
		return err
	}
	for _, m := range measurements {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		out, failure := exec.Command(m.Command[0], m.Command[1:]...).CombinedOutput()
		if failure != nil {
			return fmt.Errorf("%s: %w\n%s", m.Name, failure, out)
		}
		figures, err := m.read(string(out))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		results[m.Name] = measured{strings.Join(m.Command, " "), figures, source}
		fmt.Printf("%s: %v\n", m.Name, figures)
		if err := keepFigures("measured", results); err != nil {
			return err
		}
	}
	return nil
}

// read takes the numbers out of what a measurement printed.
func (m measurement) read(out string) (figures map[string]float64, err error) {
	if m.Name == "self-check" {
		return selfChecked(out)
	}
	found := figuresLine.FindStringSubmatch(out)
	if found == nil {
		return nil, fmt.Errorf("it has logged no line \"figures {…}\":\n%s", out)
	}
	err = json.Unmarshal([]byte(found[1]), &figures)
	return figures, err
}

// selfChecked counts what a self-check has tried.
func selfChecked(out string) (map[string]float64, error) {
	var r struct {
		Parts []struct {
			Part   string
			Tried  float64
			Failed []string
		}
	}
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &r); err != nil {
		return nil, err
	}
	figures := map[string]float64{"failed": 0}
	for _, p := range r.Parts {
		figures["tried, "+p.Part] = p.Tried
		figures["failed"] += float64(len(p.Failed))
	}
	return figures, nil
}

// words are the figures of a promise's measurements.
func (e evidence) words(promise string) string {
	of := func(name, figure string) float64 { return e.measured[name].Figures[figure] }
	switch promise {
	case "invariant":
		return fmt.Sprintf("%.0f combinations, in the table below. Of %.0f combinations whose draws go by the order, %.0f of them networks, %.0f numbers were compared over 40 seeds each: the worst |z| is %.2f. %.0f combinations and wide tables by OpenBLAS and by Go's own products.",
			of("invariances", "cases"), of("laws of draws", "cases"), of("laws of draws", "networks"), of("laws of draws", "numbers"), of("laws of draws", "worst |z|"), of("matrix libraries", "cases"))
	case "certified":
		return fmt.Sprintf("%.0f optima, the least with %.1f digits ([all](docs/reference/digits.md)).", of("certified values", "optima"), of("certified values", "least digits"))
	case "calibrated":
		return fmt.Sprintf("%.0f samplers, %.0f to %.0f ranks each: the least p of uniformity is %.2g. Of %.0f ways with an error that goes by a size, the error is seen at the first size, and at the second ranks are uniform with p of %.2g and more. R-hat of %.0f sets of chains differs from R's posterior by at most %.1g, the effective size by at most %.0f %%.",
			of("calibration", "samplers"), of("calibration", "fewest ranks"), of("calibration", "ranks"), of("calibration", "least p"), of("errors by size", "tried"), of("errors by size", "least p"), of("chains", "sets"), of("chains", "R-hat"), 100*of("chains", "effective size"))
	}
	return ""
}

// measuredFor are the measurements of a promise.
func (e evidence) measuredFor(promise string) iter.Seq[measured] {
	return func(yield func(measured) bool) {
		for _, m := range measurements {
			if of, ok := e.measured[m.Name]; ok && m.Promise == promise && !yield(of) {
				return
			}
		}
	}
}

// properties is a table of what must not change an estimate: by how many combinations it is held,
// and why others are left out.
func (e evidence) properties() string {
	figures := e.measured["invariances"].Figures
	var b strings.Builder
	b.WriteString("\n| change | what is asked | held by | left out |\n| --- | --- | --- | --- |\n")
	for _, p := range invariance.Properties {
		var reasons []string
		for _, key := range slices.Sorted(maps.Keys(figures)) {
			if reason, ok := strings.CutPrefix(key, "left out of "+p.Name+": "); ok {
				reasons = append(reasons, fmt.Sprintf("%.0f: %s", figures[key], reason))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f of %.0f | %s |\n", p.Name, p.Says, figures[p.Name], figures["cases"], strings.Join(reasons, "; "))
	}
	return b.String()
}
