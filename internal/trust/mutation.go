package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mathext"

	"missingscore/internal/provenance"
	"missingscore/internal/stream"
)

// mutated says how many changes of a package's source its own tests notice.
type mutated struct {
	Killed     int      `json:"killed"`
	Lived      int      `json:"lived"`
	TimedOut   int      `json:"timed_out"`   // noticed, too: the tests did not come to an end
	Unbuilt    int      `json:"unbuilt"`     // does not compile: neither noticed nor not
	Covered    int      `json:"covered"`     // of so many in lines that tests reach the changes were drawn; 0: of files that gremlins looked at
	NotCovered int      `json:"not_covered"` // in lines that no test reaches
	Seed       uint64   `json:"seed"`        // 0: gremlins made the changes itself
	Survivors  []string `json:"survivors"`   // kind, file and line of each that lived
	provenance.Source
}

func (m mutated) noticed() int { return m.Killed + m.TimedOut }

// made are the changes that compile, of those drawn.
func (m mutated) made() int { return m.noticed() + m.Lived }

// whole says that no change was left out.
func (m mutated) whole() bool { return m.made()+m.Unbuilt == m.Covered }

// Share is the part of the changes that was noticed.
func (m mutated) Share() float64 { return float64(m.noticed()) / float64(m.made()) }

// interval is Clopper and Pearson's 95 % interval of the share of all changes, of which those made
// were drawn at random.
func (m mutated) interval() (low, high float64) {
	const tail = 0.025
	k, n := float64(m.noticed()), float64(m.made())
	high = 1
	if k > 0 {
		low = mathext.InvRegIncBeta(k, n-k+1, tail)
	}
	if k < n {
		high = mathext.InvRegIncBeta(k+1, n-k, 1-tail)
	}
	return low, high
}

// report is what gremlins writes.
type report struct {
	Files []struct {
		Name      string   `json:"file_name"`
		Mutations []change `json:"mutations"`
	} `json:"files"`
}

// change is an operator of a package in whose place another one comes.
type change struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Line   int    `json:"line"`
	Column int    `json:"column"` // the operator's first byte, from 1 on
	file   string // name in the package's folder
}

func (c change) String() string { return fmt.Sprintf("%s %s:%d", c.Type, c.file, c.Line) }

// others are the operators that come in the places of others, by the type of a change.
var others = map[string]map[string]string{
	"ARITHMETIC_BASE":       {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"},
	"CONDITIONALS_BOUNDARY": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
	"CONDITIONALS_NEGATION": {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"},
	"INCREMENT_DECREMENT":   {"++": "--", "--": "++"},
}

// of is a source with the change.
func (c change) of(source string) (string, error) {
	lines := strings.SplitAfter(source, "\n")
	if c.Line <= len(lines) && c.Column <= len(lines[c.Line-1]) {
		line := lines[c.Line-1]
		before, after := line[:c.Column-1], line[c.Column-1:]
		for _, width := range []int{2, 1} {
			operator := after[:min(width, len(after))]
			if other, ok := others[c.Type][operator]; ok {
				lines[c.Line-1] = before + other + after[len(operator):]
				return strings.Join(lines, ""), nil
			}
		}
	}
	return "", fmt.Errorf("%v, column %d: no operator of this kind is there", c, c.Column)
}

// mutation makes changes of packages, one by one, and asks whether the packages' own tests notice:
// all in lines that tests reach, or some that a seed draws.
func mutation(args []string) error {
	set := flag.NewFlagSet("mutation", flag.ExitOnError)
	number := set.Int("changes", math.MaxInt, "how many of a package's changes are drawn")
	seed := set.Uint64("seed", 1, "seed of that")
	set.Parse(args)
	if *number < 1 || *seed < 1 {
		return fmt.Errorf("-changes %d, -seed %d: both are 1 at least", *number, *seed)
	}
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gremlins := filepath.Join(dir, "gremlins")
	build := exec.Command("go", "-C", "internal/tools", "build", "-o", gremlins, "github.com/go-gremlins/gremlins/cmd/gremlins")
	build.Env = append(os.Environ(), "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of gremlins: %w\n%s", err, said)
	}
	results, err := readFigures[mutated](".", "mutation")
	if err != nil {
		return err
	}
	source, err := provenance.Of(".")
	if err != nil {
		return err
	}
	for _, p := range set.Args() {
		covered, notCovered, err := changes(gremlins, dir, p)
		if err != nil {
			return err
		}
		m := mutated{Covered: len(covered), NotCovered: notCovered, Seed: *seed, Source: source}
		if err := m.try(dir, p, drawn(covered, *number, *seed)); err != nil {
			return err
		}
		results[p] = m
		if err := keepFigures("mutation", results); err != nil {
			return err
		}
	}
	return nil
}

// changes asks gremlins which changes of a package, without those below it, are in lines that tests
// reach, and how many are in others. The minus of a number is an operator like that of a difference
// and is changed once.
func changes(gremlins, dir, pkg string) (covered []change, notCovered int, err error) {
	out := filepath.Join(dir, "changes.json")
	c := exec.Command(gremlins, "unleash", "--dry-run", "--invert-negatives=false", "-o", out, "./"+pkg)
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off")
	if said, err := c.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("gremlins of %s: %w\n%s", pkg, err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, 0, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, 0, err
	}
	covered, notCovered = r.sorted()
	return covered, notCovered, nil
}

// sorted are the changes of the package's own files by their place.
func (r report) sorted() (covered []change, notCovered int) {
	for _, f := range r.Files {
		if f.Name != filepath.Base(f.Name) {
			continue
		}
		for _, one := range f.Mutations {
			if one.Status != "RUNNABLE" {
				notCovered++
				continue
			}
			one.file = f.Name
			covered = append(covered, one)
		}
	}
	slices.SortFunc(covered, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Type, b.Type))
	})
	return covered, notCovered
}

// drawn are so many of the changes, at random.
func drawn(all []change, number int, seed uint64) (some []change) {
	for _, i := range stream.New(seed).Perm(len(all))[:min(number, len(all))] {
		some = append(some, all[i])
	}
	return some
}

// try makes the changes and counts what the package's tests say.
func (m *mutated) try(dir, pkg string, some []change) error {
	tests := filepath.Join(dir, "package.test")
	if said, err := compiled(tests, pkg, ""); err != nil {
		return fmt.Errorf("go test -c of %s: %w\n%s", pkg, err, said)
	}
	unchanged := command(tests, pkg, "unlimited", "-test.v")
	said, err := unchanged.CombinedOutput()
	if err != nil {
		return fmt.Errorf("tests of %s fail before anything is changed: %w\n%s", pkg, err, said)
	}
	runs := runsOf(said, unchanged.ProcessState.UserTime()+unchanged.ProcessState.SystemTime())
	for i, c := range some {
		verdict, err := c.tried(dir, pkg, runs)
		if err != nil {
			return err
		}
		fmt.Printf("%s %d of %d: %s, column %d: %s\n", pkg, i+1, len(some), c, c.Column, verdict)
		switch verdict {
		case "noticed":
			m.Killed++
		case "no end":
			m.TimedOut++
		case "does not compile":
			m.Unbuilt++
		case "NOT noticed":
			m.Lived++
			m.Survivors = append(m.Survivors, c.String())
		}
	}
	slices.Sort(m.Survivors)
	return nil
}

// run is some of a package's tests.
type run struct {
	tests string        // as the test program takes them
	limit time.Duration // of the processor's time
}

// runsOf are the runs of tests whose times are given, and the processor's time of all: the quick ones
// together, then each slow one by its time. Most changes are noticed by quick ones. A run has five
// times what it took before the change.
func runsOf(said []byte, processor time.Duration) []run {
	times := map[string]float64{}
	all := 0.0
	for _, m := range regexp.MustCompile(`--- PASS: (\w+) \(([\d.]+)s\)`).FindAllSubmatch(said, -1) {
		seconds, _ := strconv.ParseFloat(string(m[2]), 64)
		times[string(m[1])] = seconds
		all += seconds
	}
	const least = 2 * time.Second
	limit := func(seconds float64) time.Duration {
		if all == 0 {
			return least
		}
		return least + time.Duration(5*seconds/all*float64(processor))
	}
	const slow = 0.02 // of the time of all
	quick := 0.0
	var names []string
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if times[name] > slow*all {
			names = append(names, name)
		} else {
			quick += times[name]
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(times[a], times[b]) })
	list := []run{{"-test.skip=^(" + strings.Join(names, "|") + ")$", limit(quick)}}
	for _, name := range names {
		list = append(list, run{"-test.run=^" + name + "$", limit(times[name])})
	}
	return list
}

// tried makes a change and says whether one of the runs of the package's tests notices.
func (c change) tried(dir, pkg string, runs []run) (verdict string, err error) {
	name, err := filepath.Abs(filepath.Join(pkg, c.file))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	changed, err := c.of(string(source))
	if err != nil {
		return "", err
	}
	overlay, err := overlaid(dir, name, changed)
	if err != nil {
		return "", err
	}
	tests := filepath.Join(dir, "package.test")
	if _, err := compiled(tests, pkg, overlay); err != nil {
		return "does not compile", nil
	}
	for _, r := range runs {
		err := command(tests, pkg, strconv.Itoa(int(math.Ceil(r.limit.Seconds()))), r.tests, "-test.failfast").Run()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && !exit.Exited():
			return "no end", nil
		case errors.As(err, &exit):
			return "noticed", nil
		case err != nil:
			return "", err
		}
	}
	return "NOT noticed", nil
}

// overlaid is a file that tells the go command to read a source from elsewhere; no file of the
// repository is changed.
func overlaid(dir, name, changed string) (overlay string, err error) {
	overlay, copied := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "changed.go")
	if err := os.WriteFile(copied, []byte(changed), 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{name: copied}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, text, 0o644)
}

// compiled makes the program of a package's tests.
func compiled(tests, pkg, overlay string) (said []byte, err error) {
	return exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+overlay, "-o", tests, "./"+pkg).CombinedOutput()
}

// command runs a package's tests where go test would, with a limit of seconds of processor time,
// which a busy machine does not use up, and of 8 GB of memory.
func command(tests, pkg, seconds string, args ...string) *exec.Cmd {
	c := exec.Command("sh", append([]string{"-c", `ulimit -v 8000000; ulimit -t "$0"; exec "$@"`, seconds, tests}, args...)...)
	c.Dir = pkg
	return c
}
