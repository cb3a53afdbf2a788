package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"missingscore/internal/provenance"
)

const pageFile = "TRUST.md"

// promise is what the program promises, and how that is tested.
type promise struct {
	Name   string   `json:"name"`
	Says   string   `json:"says"`
	How    string   `json:"how"`
	Tests  []string `json:"tests"` // package and name of each
	Limits string   `json:"limits"`
}

func readPromises(root string) (list []promise, err error) {
	text, err := os.ReadFile(filepath.Join(root, home, "promises.json"))
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err
}

// soaked are those figures of cmd's soak that the page shows.
type soaked struct {
	Runs        int            `json:"runs"`
	Portions    []portion      `json:"portions"`
	Codes       map[string]int `json:"exit_codes"`
	Slow        int            `json:"slow"`
	Killed      int            `json:"killed"`
	KilledSaved int            `json:"killed_saved"`
	Resumed     int            `json:"resumed"`
	Anew        int            `json:"begun_anew"`
	Uncut       int            `json:"uncut"`
	Differences int            `json:"differences"`
	Unplain     int            `json:"unplain"`
	Leaks       int            `json:"leaks"`
	Peak        int            `json:"peak_mb"`
}

// portion are runs of a soak made at a time.
type portion struct{ provenance.Source }

// evidence is all that is kept.
type evidence struct {
	promises []promise
	faults   []fault
	noticed  map[string]caught
	fuzz     map[string]fuzzed
	mutation map[string]mutated
	lived    map[string]string // by package, what the changes were that its tests did not notice
	race     map[string]raced
	measured map[string]measured
	tested   []string // packages that have tests
	soak     soaked
}

func readEvidence(root string) (e evidence, err error) {
	if e.promises, err = readPromises(root); err != nil {
		return e, err
	}
	if e.faults, err = readFaults(root); err != nil {
		return e, err
	}
	if e.noticed, err = readFigures[caught](root, "faults"); err != nil {
		return e, err
	}
	if e.fuzz, err = readFigures[fuzzed](root, "fuzz"); err != nil {
		return e, err
	}
	if e.mutation, err = readFigures[mutated](root, "mutation"); err != nil {
		return e, err
	}
	if e.lived, err = readSurvivors(root); err != nil {
		return e, err
	}
	if e.race, err = readFigures[raced](root, "race"); err != nil {
		return e, err
	}
	if e.measured, err = readFigures[measured](root, "measured"); err != nil {
		return e, err
	}
	if e.tested, err = tested(root); err != nil {
		return e, err
	}
	text, err := os.ReadFile(filepath.Join(root, figureFile("soak")))
	if err == nil {
		err = json.Unmarshal(text, &e.soak)
	}
	return e, err
}

// readSurvivors are the words of survivors.json.
func readSurvivors(root string) (words map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(root, "internal/trust/survivors.json"))
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &words)
	return words, err
}

func writePage([]string) error {
	e, err := readEvidence(".")
	if err != nil {
		return err
	}
	return os.WriteFile(pageFile, []byte(e.page()), 0o644)
}

// page is TRUST.md.
func (e evidence) page() string {
	var b strings.Builder
	b.WriteString("# What can be trusted, and why\n\n<!-- written by go run ./internal/trust page -->\n\n" +
		"Each promise of the program, how it is tested, what the last runs found, and where it ends. " +
		"`missingscore self-check` tries gradients and the first three, of the invariances a sixth of the combinations, on your own machine, in about a minute. The figures are kept in " +
		"[internal/trust/figures](internal/trust/figures), each with the commit that it was made at (a + where files had been changed since), and each is made again by a command named below. Dates are those of these commits.\n\n## Promises\n")
	for _, p := range e.promises {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", p.Name, p.Says)
		fmt.Fprintf(&b, "- **How.** %s\n- **Tests.**", p.How)
		for i, t := range p.Tests {
			pkg, name, _ := strings.Cut(t, " ")
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " `%s` in [%s](%s)", name, pkg, pkg)
		}
		b.WriteString("\n")
		if found := e.found(p.Name); found != "" {
			fmt.Fprintf(&b, "- **Last run%s.** %s\n", e.dates(p.Name), found)
		}
		b.WriteString("- **Faults put in on purpose.** The tests named pass without them. ")
		b.WriteString(e.faultsOf(p.Name))
		fmt.Fprintf(&b, "\n- **Limits.** %s\n", p.Limits)
		if p.Name == "invariant" {
			b.WriteString(e.properties())
		}
	}
	b.WriteString("\n## Do the tests notice?\n\n" + e.mutations() + "\n" + e.races() + `
## Make it again

| figures | command |
| --- | --- |
| fuzzing | ` + "`go run ./internal/trust fuzz -each 1h`" + `, as often as you like: executions add up |
| soak | ` + "`go test ./cmd -run Soak -soak 1000 -soak-from 1 -soak-figures ../internal/trust/figures/soak.json -timeout 0`" + `, each portion from another seed on |
| mutation | ` + "`go run ./internal/trust mutation -changes 100 -seed 1 data/domain losses/latent`" + ` |
| race detector | ` + "`go run ./internal/trust race`" + `, of a large package with -run or -timeout |
| invariances, certified values, calibration, self-check | ` + "`go run ./internal/trust measure`" + ` |
| faults | ` + "`go run ./internal/trust faults`" + ` |
| this page | ` + "`go run ./internal/trust page`" + ` |
`)
	return b.String()
}

// dates says when the last run for a promise was.
func (e evidence) dates(name string) string {
	switch name {
	case "resumed", "memory":
		return between(slices.Values(e.soak.Portions))
	case "plain":
		return between(maps.Values(e.fuzz))
	}
	return between(e.measuredFor(name))
}

// found is what the last run for a promise found, in words.
func (e evidence) found(name string) string {
	s := e.soak
	switch name {
	case "resumed":
		codes := ""
		for _, c := range slices.Sorted(maps.Keys(s.Codes)) {
			codes += fmt.Sprintf(", %d with exit code %s", s.Codes[c], c)
		}
		return fmt.Sprintf("%d runs of a soak (10 000 are wanted)%s, %d without an end in 20 s. Of those that made results and can be taken up, %d processes were killed, %d of them after a state was saved; %d runs went on from a state to their end, %d found none and were begun anew, %d ended before they could be killed; %d had other files than the run never cut. %d left temporary files, locks or states.",
			s.Runs, codes, s.Slow, s.Killed, s.KilledSaved, s.Resumed, s.Anew, s.Uncut, s.Differences, s.Leaks)
	case "plain":
		sum := 0
		var each []string
		for _, target := range slices.Sorted(maps.Keys(e.fuzz)) {
			sum += e.fuzz[target].Executions
			each = append(each, fmt.Sprintf("%s %d", target, e.fuzz[target].Executions))
		}
		return fmt.Sprintf("%d fuzz targets, %d executions in all: %s. %d messages of the soak had words of a programmer.", len(e.fuzz), sum, strings.Join(each, ", "), s.Unplain)
	case "memory":
		return fmt.Sprintf("Of %d soaked runs with MISSINGSCORE_MEMORY=300MB no process took more than %d MB in all, of which about 60 MB are the program's own.", s.Runs, s.Peak)
	}
	return e.words(name)
}

func (e evidence) faultsOf(promise string) string {
	var words []string
	for _, f := range e.faults {
		if f.Promise == promise {
			verdict := "not tried"
			if r, ok := e.noticed[f.Name]; ok {
				verdict = map[bool]string{true: "noticed", false: "NOT noticed"}[r.Noticed]
			}
			words = append(words, fmt.Sprintf("%s (%s, by `%s`)", f.Name, verdict, f.Test))
		}
	}
	return strings.Join(words, "; ") + "."
}

// mutations is the table of how many changes of packages their tests notice.
func (e evidence) mutations() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Mutation testing changes one operator of a package at a time and asks whether the package's own tests fail. gremlins finds the changes; those in lines that no test reaches, and those that do not compile, are not counted. Of most packages a random sample of the changes is made; the interval is Clopper and Pearson's, of 95 %%, for the share among all. (Where the table says so, gremlins made the changes itself, of which it counts as noticed what does not compile, too.) The aim is 85 %%; figures%s.\n\n", between(maps.Values(e.mutation)))
	b.WriteString("| package | changes noticed | interval | made | drawn from | not covered |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, p := range slices.Sorted(maps.Keys(e.mutation)) {
		m := e.mutation[p]
		within, from := "", "all"
		switch {
		case m.Covered == 0:
			from = "files named below, by gremlins"
		case m.Seed == 0:
			from = "all, by gremlins"
		case !m.whole():
			low, high := m.interval()
			within, from = fmt.Sprintf("%.0f to %.0f %%", 100*low, 100*high), fmt.Sprint(m.Covered)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %.1f %% | %s | %d | %s | %d |\n", p, p, 100*m.Share(), within, m.made(), from, m.NotCovered)
	}
	b.WriteString("\nWhat was not noticed, by kind ([each by file and line](internal/trust/figures/mutation.json)):\n\n")
	for _, p := range slices.Sorted(maps.Keys(e.mutation)) {
		if e.mutation[p].Lived > 0 {
			fmt.Fprintf(&b, "- **%s.** %s\n", p, e.lived[p])
		}
	}
	return b.String()
}
