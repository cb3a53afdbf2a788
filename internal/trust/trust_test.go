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
	"time"

	"github.com/stretchr/testify/require"

	"missingscore/internal/provenance"
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

// The changes are those of the package's own files, by their place; those in lines without a test
// are counted alone.
func TestChanges(t *testing.T) {
	var r report
	require.NoError(t, json.Unmarshal([]byte(`{"files":[
		{"file_name":"b.go","mutations":[{"type":"ARITHMETIC_BASE","status":"RUNNABLE","line":3,"column":7},{"type":"ARITHMETIC_BASE","status":"NOT COVERED","line":9,"column":1}]},
		{"file_name":"below/c.go","mutations":[{"type":"ARITHMETIC_BASE","status":"RUNNABLE","line":1,"column":1},{"type":"ARITHMETIC_BASE","status":"NOT COVERED","line":2,"column":1}]},
		{"file_name":"a.go","mutations":[{"type":"CONDITIONALS_NEGATION","status":"RUNNABLE","line":3,"column":1},{"type":"CONDITIONALS_BOUNDARY","status":"RUNNABLE","line":3,"column":1},{"type":"ARITHMETIC_BASE","status":"RUNNABLE","line":2,"column":8}]}]}`), &r))
	covered, notCovered := r.sorted()
	require.Equal(t, 1, notCovered)
	var words []string
	for _, c := range covered {
		words = append(words, c.String())
	}
	require.Equal(t, []string{"ARITHMETIC_BASE a.go:2", "CONDITIONALS_BOUNDARY a.go:3", "CONDITIONALS_NEGATION a.go:3", "ARITHMETIC_BASE b.go:3"}, words)

	require.ElementsMatch(t, covered, drawn(covered, 9, 1))
	require.Equal(t, drawn(covered, 2, 1), drawn(covered, 2, 1))
	seen := map[string]int{}
	for seed := range uint64(400) {
		for _, c := range drawn(covered, 1, seed) {
			seen[c.String()]++
		}
	}
	for _, w := range words { // each has probability 1/4: the standard error is 8.7
		require.InDelta(t, 100, seen[w], 35, w)
	}
}

// One operator is another, and nothing else of the source.
func TestChangeOf(t *testing.T) {
	const source = "x := a <= b\ny := c - 1\n"
	for _, c := range []struct {
		change
		want string
	}{
		{change{Type: "CONDITIONALS_BOUNDARY", Line: 1, Column: 8}, "x := a < b\ny := c - 1\n"},
		{change{Type: "CONDITIONALS_NEGATION", Line: 1, Column: 8}, "x := a > b\ny := c - 1\n"},
		{change{Type: "ARITHMETIC_BASE", Line: 2, Column: 8}, "x := a <= b\ny := c + 1\n"},
	} {
		got, err := c.of(source)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	for _, c := range []change{
		{Type: "ARITHMETIC_BASE", Line: 1, Column: 8}, {Type: "ARITHMETIC_BASE", Line: 2, Column: 99}, {Type: "ARITHMETIC_BASE", Line: 9, Column: 1},
	} {
		_, err := c.of(source)
		require.Error(t, err)
	}
}

// Of a package of our own: tests that notice, that do not, that have no end, and what does not compile.
func TestMutation(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example\n\ngo 1.26\n",
		"p/p.go": `package p

func Sum(a, b int) int { return a + b }

func Name() string { return "a" + "b" }

func Loop() {
	for i := 0; i < 9; i++ {
	}
}
`,
		"p/p_test.go": `package p

import (
	"testing"
	"time"
)

func TestAll(t *testing.T) {
	Loop()
	Name()
}

func TestSlow(t *testing.T) {
	time.Sleep(50 * time.Millisecond)
	if Sum(1, 2) != 3 {
		t.Error("wrong")
	}
}
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	m := mutated{Covered: 4}
	require.NoError(t, m.try(t.TempDir(), "p", []change{
		{Type: "ARITHMETIC_BASE", Line: 3, Column: 35, file: "p.go"},
		{Type: "ARITHMETIC_BASE", Line: 5, Column: 33, file: "p.go"},
		{Type: "CONDITIONALS_BOUNDARY", Line: 8, Column: 16, file: "p.go"},
		{Type: "INCREMENT_DECREMENT", Line: 8, Column: 22, file: "p.go"},
	}))
	require.Equal(t, mutated{Killed: 1, Lived: 1, TimedOut: 1, Unbuilt: 1, Covered: 4, Survivors: []string{"CONDITIONALS_BOUNDARY p.go:8"}}, m)
	require.InDelta(t, 2.0/3, m.Share(), 1e-12)
	require.True(t, m.whole())
}

// Quick tests go together and first, slow ones follow by their time, and each has its own limit.
func TestRunsOf(t *testing.T) {
	const said = "=== RUN   TestA\n--- PASS: TestA (3.00s)\n    --- PASS: TestA/part (2.90s)\n--- PASS: TestB (0.01s)\n--- PASS: ExampleC (0.00s)\nprinted--- PASS: TestD (0.99s)\n"
	list := runsOf([]byte(said), 8*time.Second)
	require.Len(t, list, 3)
	for i, want := range []run{{"-test.skip=^(TestD|TestA)$", 2100 * time.Millisecond}, {"-test.run=^TestD$", 11900 * time.Millisecond}, {"-test.run=^TestA$", 32 * time.Second}} {
		require.Equal(t, want.tests, list[i].tests)
		require.InDelta(t, want.limit.Seconds(), list[i].limit.Seconds(), 1e-6)
	}
	require.Equal(t, []run{{"-test.skip=^()$", 2 * time.Second}}, runsOf([]byte("PASS\n"), time.Second))
}

// The interval is Clopper and Pearson's, by R's binom.test(k, n).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		noticed, made int
		low, high     float64
	}{
		{85, 100, 0.7646925, 0.9135456}, {9, 10, 0.5549839, 0.9974714}, {10, 10, 0.6915029, 1}, {0, 10, 0, 0.3084971},
	} {
		low, high := mutated{Killed: c.noticed, Lived: c.made - c.noticed}.interval()
		require.InDelta(t, c.low, low, 1e-6, c)
		require.InDelta(t, c.high, high, 1e-6, c)
	}
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
