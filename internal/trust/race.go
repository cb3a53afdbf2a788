package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// raced says how a package fared under the race detector.
type raced struct {
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
	Says    string  `json:"says,omitempty"` // the end of what a failure printed
}

const mostSaid = 2000 // characters of it

// race runs the tests of packages, of all if none are named, one by one with -race. Short
// tests only: the detector makes them ten times as slow.
func race(packages []string) error {
	if len(packages) == 0 {
		out, err := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...").Output()
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		packages = strings.Fields(string(out))
	}
	results, err := readFigures[raced](".", "race")
	if err != nil {
		return err
	}
	failed := 0
	for _, p := range packages {
		begin := time.Now()
		out, err := exec.Command("go", "test", "-race", "-short", "-count=1", "-timeout=20m", p).CombinedOutput()
		r := raced{OK: err == nil, Seconds: float64(int(time.Since(begin).Seconds()))}
		if err != nil {
			failed++
			r.Says = string(out[max(0, len(out)-mostSaid):])
		}
		results[strings.TrimPrefix(p, "missingscore/")] = r
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
