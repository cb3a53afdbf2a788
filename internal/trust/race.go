package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"missingscore/internal/provenance"
)

// raced says how a package fared under the race detector.
type raced struct {
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
	Run     string  `json:"run,omitempty"`  // pattern of the tests that were run; all if there is none
	Says    string  `json:"says,omitempty"` // the end of what a failure printed
	provenance.Source
}

const mostSaid = 2000 // characters of it

// race runs the tests of packages, of all if none are named, one by one with -race. Short
// tests only: the detector makes them ten times as slow.
func race(args []string) error {
	set := flag.NewFlagSet("race", flag.ExitOnError)
	run := set.String("run", "", "pattern of the tests that are run, for packages whose tests take too long with the detector")
	timeout := set.Duration("timeout", 20*time.Minute, "of each package")
	set.Parse(args)
	packages := set.Args()
	if len(packages) == 0 {
		var err error
		if packages, err = tested("."); err != nil {
			return err
		}
	}
	if err := compiler(); err != nil {
		return err
	}
	results, err := readFigures[raced](".", "race")
	if err != nil {
		return err
	}
	source, err := provenance.Of(".")
	if err != nil {
		return err
	}
	failed := 0
	for _, p := range packages {
		p = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(p)), "missingscore/")
		begin := time.Now()
		c := exec.Command("go", "-C", p, "test", "-race", "-short", "-count=1", "-timeout="+timeout.String(), "-run="+*run, ".")
		c.Env = append(moduleEnvironment(p), "CGO_ENABLED=1") // the detector is in C
		out, err := c.CombinedOutput()
		r := raced{OK: err == nil, Seconds: float64(int(time.Since(begin).Seconds())), Run: *run, Source: source}
		if err != nil {
			failed++
			r.Says = end(string(out))
		}
		results[p] = r
		fmt.Printf("%s: ok %v, %.0f s\n", p, r.OK, r.Seconds)
		if err := keepFigures("race", results); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d packages failed", failed, len(packages))
	}
	return nil
}

// compiler fails where there is no C compiler, without which there is no race detector.
func compiler() error {
	out, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		return fmt.Errorf("go env CC: %w", err)
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("the race detector needs a C compiler, and %s is not here: install gcc", name)
	}
	return nil
}

// apart is a module that is not in the workspace.
const apart = "internal/browser"

func moduleEnvironment(dir string) []string {
	if dir == apart {
		return append(os.Environ(), "GOWORK=off")
	}
	return os.Environ()
}

// tested are the packages that have tests, of all modules that are tested, as folders.
func tested(root string) (all []string, err error) {
	whole, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	for dir, patterns := range map[string][]string{".": {"./...", "./examples/extension/..."}, apart: {"./..."}} {
		c := exec.Command("go", append([]string{"-C", filepath.Join(whole, dir), "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, patterns...)...)
		c.Env = moduleEnvironment(dir)
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		for _, p := range strings.Fields(string(out)) {
			name, err := filepath.Rel(whole, p)
			if err != nil {
				return nil, err
			}
			all = append(all, filepath.ToSlash(name))
		}
	}
	slices.Sort(all)
	return all, nil
}

// races says over how many of the tested packages the race detector ran, and over which it did not.
func (e evidence) races() string {
	var ran, failed, partial, not []string
	for _, p := range e.tested {
		r, ok := e.race[p]
		switch {
		case !ok:
			not = append(not, p)
			continue
		case !r.OK:
			failed = append(failed, p)
		}
		if ran = append(ran, p); r.Run != "" {
			partial = append(partial, fmt.Sprintf("%s (`%s`)", p, r.Run))
		}
	}
	text := fmt.Sprintf("The race detector ran over the short tests of %d of %d packages%s: %d failed", len(ran), len(e.tested), between(maps.Values(e.race)), len(failed))
	if len(failed) > 0 {
		text += " (" + strings.Join(failed, ", ") + ")"
	}
	text += "."
	if len(partial) > 0 {
		text += " Of some, tests of a pattern alone: " + strings.Join(partial, ", ") + "."
	}
	if len(not) > 0 {
		text += " Not run: " + strings.Join(not, ", ") + "."
	}
	return text + "\n"
}
