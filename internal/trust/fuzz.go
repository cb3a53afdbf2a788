package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"missingscore/internal/provenance"
)

// target is a fuzz target.
type target struct{ pkg, name string }

// fuzzed are the executions of a target, in all, and the source of the last.
type fuzzed struct {
	Executions int `json:"executions"`
	provenance.Source
}

var (
	fuzzLine  = regexp.MustCompile(`^([^:]+)/[^/:]+_test\.go:func (Fuzz\w+)\(`)
	execsText = regexp.MustCompile(`execs: (\d+)`)
	overText  = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([\d.]+s\)\n\s+context deadline exceeded\nFAIL$`)
)

// targets are those of all packages, in the order of their names.
func targets(wanted []string) (found []target, err error) {
	out, err := exec.Command("git", "grep", "--untracked", "-E", `^func Fuzz\w+\(f \*testing\.F\)`, "--", "*_test.go").Output()
	if err != nil {
		return nil, fmt.Errorf("git grep of fuzz targets: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if m := fuzzLine.FindStringSubmatch(line); m != nil && (len(wanted) == 0 || slices.Contains(wanted, m[2])) {
			found = append(found, target{"./" + m[1], m[2]})
		}
	}
	return found, nil
}

// fuzz runs every target for a time and adds its executions to those made before. A target
// that fails leaves its input in testdata/fuzz, as go test does.
func fuzz(args []string) error {
	set := flag.NewFlagSet("fuzz", flag.ExitOnError)
	each := set.Duration("each", 20*time.Second, "time of each target")
	keep := set.Bool("keep", true, "add the executions to the figures")
	blind := set.Bool("blind", false, "without the coverage that guides it, for which everything is compiled once more: minutes where nothing is in the cache")
	set.Parse(args)
	command := guided
	if *blind {
		u, err := newUnguided()
		if err != nil {
			return err
		}
		defer os.RemoveAll(u.dir)
		command = u.run
	}
	list, err := targets(set.Args())
	if err != nil {
		return err
	}
	executions, err := readFigures[fuzzed](".", "fuzz")
	if err != nil {
		return err
	}
	source, err := provenance.Of(".")
	if err != nil {
		return err
	}
	failed := 0
	for _, t := range list {
		out, err := command(t, *each)
		n := 0
		for _, m := range execsText.FindAllStringSubmatch(string(out), -1) {
			n, _ = strconv.Atoi(m[1])
		}
		name := strings.TrimPrefix(t.pkg, "./") + " " + t.name
		executions[name] = fuzzed{executions[name].Executions + n, source}
		fmt.Printf("%s: %d executions\n", name, n)
		if err != nil && !timeOver(string(out)) {
			failed++
			fmt.Fprintf(os.Stderr, "%s\n", out)
		}
		if *keep {
			if err := keepFigures("fuzz", executions); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d fuzz targets failed", failed, len(list))
	}
	return nil
}

// timeOver tells whether a target ended because its time was over. Before Go 1.27 that may be
// called a failure, without an input that fails: https://go.dev/issue/75804.
func timeOver(out string) bool {
	return overText.MatchString(out) && !strings.Contains(out, "Failing input written")
}

// guided fuzzes by the coverage that inputs reach; its output.
func guided(t target, each time.Duration) ([]byte, error) {
	return exec.Command("go", "test", t.pkg, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String()).CombinedOutput()
}

// unguided fuzzes by random changes of the seeds, with the tests as they are compiled for go test:
// those of a package once.
type unguided struct {
	dir      string // of the compiled tests
	programs map[string]string
}

func newUnguided() (*unguided, error) {
	dir, err := os.MkdirTemp("", "")
	return &unguided{dir, map[string]string{}}, err
}

func (u *unguided) run(t target, each time.Duration) ([]byte, error) {
	program, compiled := u.programs[t.pkg]
	if !compiled {
		program = filepath.Join(u.dir, fmt.Sprint(len(u.programs)))
		if out, err := exec.Command("go", "test", "-c", "-o", program, t.pkg).CombinedOutput(); err != nil {
			return out, err
		}
		u.programs[t.pkg] = program
	}
	found := filepath.Join(u.dir, "found")
	c := exec.Command(program, "-test.run", "^$", "-test.fuzz", "^"+t.name+"$", "-test.fuzztime", each.String(), "-test.fuzzcachedir", found)
	c.Dir = t.pkg
	return c.CombinedOutput()
}
