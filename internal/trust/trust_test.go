package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/provenance"
	"missingscore/internal/stream"
)

const root = "../.."

// The page is that of the kept figures.
func TestPageIsNotStale(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs the short tests, writes figures as it goes, and the page comes after it")
	}
	e, err := readEvidence(root)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, pageFile))
	require.NoError(t, err)
	require.Equal(t, e.page(), string(text), "go run ./internal/trust page")
}

// Every promise names tests that are there, and has two faults at least, each of which can
// be put in.
func TestPromisesHaveTestsAndFaults(t *testing.T) {
	e, err := readEvidence(root)
	require.NoError(t, err)
	exists := func(pkg, name string) {
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(text) {
				return
			}
		}
		t.Errorf("%s has no test %s", pkg, name)
	}
	faults := map[string]int{}
	for _, f := range e.faults {
		_, err := f.injected(root)
		require.NoError(t, err, f.Name)
		for name := range strings.SplitSeq(f.Test, "|") {
			exists(f.Package, name)
		}
		faults[f.Promise]++
		r, tried := e.noticed[f.Name]
		require.True(t, tried && r.Noticed, "%s is tried, and noticed", f.Name)
		require.Equal(t, f.Package+" "+f.Test, r.By, f.Name)
	}
	for _, p := range e.promises {
		require.GreaterOrEqual(t, faults[p.Name], 2, p.Name)
		for _, test := range p.Tests {
			pkg, name, _ := strings.Cut(test, " ")
			exists(pkg, name)
		}
	}
	require.Len(t, e.noticed, len(e.faults), "figures of faults that are no more")
}

// A fault is noticed where its test passes without it and fails with it: not where nothing
// compiles, time is over, or the test fails anyway.
func TestVerdict(t *testing.T) {
	f := fault{Test: "TestA|FuzzB"}
	const pass = "--- PASS: TestA (0.00s)\n--- PASS: FuzzB (0.00s)\nok\n"
	const fail = "--- PASS: TestA (0.00s)\n--- FAIL: FuzzB (0.00s)\nFAIL\n"
	noticed, says := f.verdict(pass, fail)
	require.True(t, noticed)
	require.Empty(t, says)
	for _, c := range []struct{ without, with, says string }{
		{pass, pass, ""},
		{fail, fail, "FuzzB does not pass without the fault"},
		{"testing: warning: no tests to run\nPASS\n", fail, "TestA does not pass without the fault"},
		{pass, "FAIL\tmissingscore/cmd [build failed]\n", "does not compile"},
		{pass, "FAIL\tmissingscore/cmd [setup failed]\n", "does not compile"},
		{pass, "panic: test timed out after 10m0s\n--- FAIL: TestA (600.00s)\n", "time was over"},
		{pass, "--- FAIL: TestAnother (0.00s)\nFAIL\n", "something else failed"},
	} {
		noticed, says := f.verdict(c.without, c.with)
		require.False(t, noticed, c.with)
		require.Contains(t, says, c.says)
	}
}

// The page names the packages that the race detector did not run over.
func TestRaces(t *testing.T) {
	e := evidence{tested: []string{"a", "b", "c"}, race: map[string]raced{"a": {OK: true}, "b": {Run: "X"}, "gone": {}}}
	require.Equal(t, "The race detector ran over the short tests of 2 of 3 packages: 1 failed (b). Of some, tests of a pattern alone: b (`X`). Not run: c.\n", e.races())
	all, err := tested(root)
	require.NoError(t, err)
	require.Subset(t, all, []string{"cmd", "losses", "examples/extension", "internal/browser"})
}

// Without a C compiler no package is said to have failed.
func TestRaceNeedsACompiler(t *testing.T) {
	t.Setenv("CC", "no-such-compiler -g")
	require.EqualError(t, race([]string{"internal/spelling"}), "the race detector needs a C compiler, and no-such-compiler is not here: install gcc")
}

// The dates are those of the first and the last source.
func TestBetween(t *testing.T) {
	at := func(dates ...string) (all []raced) {
		for _, d := range dates {
			all = append(all, raced{Source: provenance.Source{Commit: "x", Date: d}})
		}
		return all
	}
	require.Empty(t, between(slices.Values(at())))
	require.Equal(t, " (x of 2026-01-02)", between(slices.Values(at("2026-01-02", "2026-01-02"))))
	require.Equal(t, " (x of 2026-01-02 to x of 2026-03-01)", between(slices.Values(at("2026-02-02", "2026-03-01", "2026-01-02"))))
}

func TestTargets(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Chdir(root)
	list, err := targets(nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(list), 10)
	one, err := targets([]string{"FuzzCommand"})
	require.NoError(t, err)
	require.Equal(t, []target{{"./cmd", "FuzzCommand"}}, one)
}

func TestSum(t *testing.T) {
	var r report
	r.Files = append(r.Files, struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type, Status string
			Line         int
		}
	}{Name: "a.go"})
	for _, status := range []string{"KILLED", "KILLED", "LIVED", "TIMED OUT", "NOT COVERED"} {
		r.Files[0].Mutations = append(r.Files[0].Mutations, struct {
			Type, Status string
			Line         int
		}{"ARITHMETIC_BASE", status, 7})
	}
	m := r.sum()
	require.Equal(t, mutated{Killed: 2, Lived: 1, TimedOut: 1, NotCovered: 1, Survivors: []string{"ARITHMETIC_BASE a.go:7"}}, m)
	require.InDelta(t, 0.75, m.Share(), 1e-12)
}

// Files are drawn until they have the share of the changes that can be made; of all of them none
// is left out.
func TestFilesLeftOut(t *testing.T) {
	var r report
	require.NoError(t, json.Unmarshal([]byte(`{"files":[
		{"file_name":"a.go","mutations":[{"status":"RUNNABLE"},{"status":"RUNNABLE"},{"status":"NOT COVERED"}]},
		{"file_name":"b.go","mutations":[{"status":"RUNNABLE"},{"status":"RUNNABLE"}]},
		{"file_name":"c.go","mutations":[{"status":"RUNNABLE"},{"status":"RUNNABLE"}]},
		{"file_name":"d.go","mutations":[{"status":"NOT COVERED"}]}]}`), &r))
	require.Empty(t, r.without(1, stream.New(1)))
	require.Len(t, r.without(0.3, stream.New(1)), 2)
	require.Len(t, r.without(0.34, stream.New(1)), 1)
	require.Equal(t, r.without(0.3, stream.New(1)), r.without(0.3, stream.New(1)))
	seen := map[string]bool{}
	for seed := range uint64(50) {
		for _, name := range r.without(0.3, stream.New(seed)) {
			seen[name] = true
		}
	}
	require.Len(t, seen, 3, "each may be left out")
}

// Of every package it is said what the changes were that its tests did not notice.
func TestSurvivorsAreExplained(t *testing.T) {
	e, err := readEvidence(root)
	require.NoError(t, err)
	for p, m := range e.mutation {
		if m.Lived > 0 {
			require.NotEmpty(t, e.lived[p], p)
		}
	}
}

// A target whose time was over has not failed; one with an input that fails has, and so has one
// that hung.
func TestTimeOver(t *testing.T) {
	const over = "fuzz: elapsed: 3s, execs: 74179 (0/sec)\n--- FAIL: FuzzParseText (3.04s)\n    context deadline exceeded\nFAIL\n"
	require.True(t, timeOver(over))
	require.True(t, timeOver(over+"exit status 1\nFAIL\tmissingscore/data/domain\t3.1s\n"))
	for _, failed := range []string{
		"--- FAIL: FuzzParseText (0.04s)\n    --- FAIL: FuzzParseText (0.00s)\n        fuzz_test.go:12: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzParseText/1\nFAIL\n",
		over + "Failing input written to testdata/fuzz/FuzzParseText/1\n",
		"--- FAIL: FuzzParseText (3.04s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n",
		"",
	} {
		require.False(t, timeOver(failed))
	}
}
