//go:build linux

package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/fuzztest"
	"missingscore/internal/memory"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/trainers/estimator"
)

var (
	soakRuns = flag.Int("soak", 3, "how many runs the soak makes")
	soakFrom = flag.Uint64("soak-from", 1, "the seed of the first; each run has the next one")
)

const (
	soakLimit  = 20 * time.Second
	soakMemory = 300e6 // bytes that each process may use
	soakAbove  = 400e6 // what the program itself and rubbish not yet collected may add
)

// Each run has a random table and random flags by its seed. Runs that write results are killed at
// random moments, resumed, and compared with a run never cut. A longer one:
//
//	go test ./cmd -run Soak -soak 1000 -soak-from 41 -timeout 0
func TestSoak(t *testing.T) {
	t.Parallel()
	for seed := *soakFrom; seed < *soakFrom+uint64(*soakRuns); seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { soak(t, seed) })
	}
}

func soak(t *testing.T, seed uint64) {
	dir, rng := t.TempDir(), stream.New(seed)
	randomFiles(t, dir, rng)
	given, err := os.ReadDir(dir)
	require.NoError(t, err)
	line := randomLine(rng)
	t.Logf("missingscore %q", line)
	whole := process(t, dir, line, 0)
	cut := slices.ContainsFunc(line, func(w string) bool {
		return w == "--resume" || strings.HasPrefix(w, "--shard") || strings.HasPrefix(w, "--merge") || strings.HasPrefix(w, "--out=complete")
	})
	if whole.slow || cut || !slices.Contains([]string{"network", "fit", "compare", "power"}, line[0]) || whole.code != exitDone && whole.code != exitUnconverged {
		return
	}
	made, err := os.ReadDir(dir)
	require.NoError(t, err)
	uncut := t.TempDir()
	for _, e := range made {
		if !slices.ContainsFunc(given, func(g os.DirEntry) bool { return g.Name() == e.Name() }) {
			require.NoError(t, os.Rename(filepath.Join(dir, e.Name()), filepath.Join(uncut, e.Name())))
		}
	}
	const kills = 4
	for k := range kills + 1 {
		words, after := line, time.Duration(0)
		if below(t, dir, stateName) != nil {
			words = slices.Concat(line, []string{"--resume"})
		}
		if k < kills {
			after = max(time.Millisecond, time.Duration(rng.Float64()*1.1*float64(whole.took)))
		}
		last := process(t, dir, words, after)
		if last.code == -1 && k < kills {
			continue
		}
		if last.slow {
			return
		}
		require.Equal(t, whole.code, last.code, last.stderr)
		require.NotContains(t, last.stderr, "nothing to resume")
		break
	}
	require.Empty(t, below(t, dir, stateName), "a state is left behind by a run that ended")
	for _, e := range given {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	sameFolders(t, uncut, dir)
}

type ended struct {
	code   int
	stderr string
	took   time.Duration
	slow   bool // it was killed at soakLimit
}

// process runs the program in a folder, and kills it after killAfter > 0.
func process(t *testing.T, dir string, line []string, killAfter time.Duration) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command("missingscore", line...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Env = append(os.Environ(), memory.Variable+"="+strconv.Itoa(int(soakMemory))+"B", saveEachVariable+"=2ms") // most runs take less than the second after which users' runs save first
	begin, limit := time.Now(), soakLimit
	require.NoError(t, c.Start())
	if killAfter > 0 {
		limit = killAfter
	}
	timer := time.AfterFunc(limit, func() { _ = c.Process.Kill() })
	peak, err := waitPeak(c)
	killed := !timer.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	e := ended{c.ProcessState.ExitCode(), stderr.String(), time.Since(begin), killed && killAfter == 0}
	if e.code == -1 {
		require.True(t, killed, "the system killed it: %s", e.stderr)
		return e
	}
	require.Contains(t, []int{exitDone, exitError, exitUsage, exitUnconverged}, e.code, e.stderr)
	require.Empty(t, fuzztest.Unknown(e.stderr, line...), e.stderr)
	require.Empty(t, below(t, dir, temporaryName))
	require.LessOrEqual(t, peak, soakMemory+soakAbove)
	if slices.Contains(line, "--json") && e.code != exitUsage {
		require.True(t, json.Valid(stdout.Bytes()), stdout.String())
	}
	return e
}

var (
	stateName     = regexp.MustCompile(`^state(-[ab])?\.bin$|\.state$`)
	temporaryName = regexp.MustCompile(`\.(tmp|lock)$|^\.writable\.`)
)

// below are the paths in a folder and its folders whose last names match.
func below(t *testing.T, dir string, name *regexp.Regexp) (paths []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && name.MatchString(filepath.Base(path)) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func randomFiles(t testing.TB, dir string, rng *rand.Rand) {
	t.Helper()
	d, n := 3+rng.IntN(3), 12+rng.IntN(40)
	g, err := simulate.Normal(d, rng)
	require.NoError(t, err)
	whole, err := g.Sample(n, rng)
	require.NoError(t, err)
	gaps, err := data.HideMCAR(whole, 0.1+0.4*rng.Float64(), rng)
	for err != nil { // a column of few rows may have been left with one value
		gaps, err = data.HideMCAR(whole, 0.1+0.4*rng.Float64(), rng)
	}
	positive, ordered := slices.Clone(gaps.Values), slices.Clone(gaps.Values)
	for i, x := range gaps.Values {
		positive[i], ordered[i] = x*x, float64(int(2+x)%4)
	}
	for name, values := range map[string][]float64{
		"complete.csv": whole.Values, "gaps.csv": gaps.Values, "positive.csv": positive, "ordered.csv": ordered,
		"gaps.xlsx": gaps.Values, "gaps.parquet": gaps.Values, "gaps.feather": gaps.Values,
	} {
		values = slices.Clone(values)
		for i, seen := range gaps.Observed {
			if !seen && name != "complete.csv" {
				values[i] = math.NaN()
			}
		}
		require.NoError(t, data.WriteNumbers(atomicfile.Write, filepath.Join(dir, name), whole.Names, values))
	}
	g, err = simulate.Graph("chain", d, 0, 0, rng)
	require.NoError(t, err)
	var truth strings.Builder
	require.NoError(t, network.WritePrecision(&truth, whole.Names, g.Precision))
	for name, text := range map[string]string{
		"bad.csv":          "x1,x2\n1,2\n3,q\n",
		"empty.csv":        "",
		"domain.json":      `{"lower":{"x1":-9},"upper":{},"halfspace":{"a":{"x1":1,"x2":-1},"b":30}}`,
		"missingness.json": `{"logistic":{"x1":{"intercept":1,"slope":{"x1":-0.5}}}}`,
		"truth.csv":        truth.String(),
		"groups.csv":       "name,group\nx1,a\nx2,b\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var discard strings.Builder
	code := run([]string{"fit", filepath.Join(dir, "complete.csv"), "--out", filepath.Join(dir, "model.json"), "-q"}, &discard, &discard)
	require.Contains(t, []int{exitDone, exitUnconverged}, code, discard.String())
}

// small settings keep a run below a second; drawing and training are for methods that draw or train.
var (
	small = map[string]map[string]string{
		"network": {"lambdas": "6"}, "compare": {"lambdas": "6", "permutations": "2"},
		"power":  {"lambdas": "6", "d": "4", "rows": "20,30", "tables": "2"},
		"impute": {"draws": "2"}, "sample": {"n": "5"}, "score": {"draws": "2"}, "simulate": {"n": "20", "d": "3"},
	}
	drawing  = map[string]map[string]string{"network": {"draws": "2"}, "compare": {"draws": "2"}, "power": {"draws": "2"}, "fit": {"draws": "2", "epochs": "3"}}
	training = map[string]map[string]string{"network": {"imputer-steps": "1"}, "compare": {"imputer-steps": "1"}, "power": {"imputer-steps": "1"}, "fit": {"imputer-steps": "1", "warm-up": "2"}}
)

func smallFor(name string, words []string) map[string]string {
	all := maps.Clone(small[name])
	if all == nil {
		all = map[string]string{}
	}
	for _, w := range words {
		e, err := estimator.ByName(strings.TrimPrefix(w, "--method="))
		if err == nil && e.Draws() {
			maps.Copy(all, drawing[name])
		}
		if err == nil && e.Trains() {
			maps.Copy(all, training[name])
		}
	}
	return all
}

// values of flags beside their completions, the valid ones first.
var values = map[string][]string{
	"method":            {"exakt"},
	"model":             {"poisson"},
	"model-options":     {`{"components":2}`, `{"hidden":[4]}`, `{`, `{"hiden":3}`, `null`},
	"objective-options": {`{"noise":{"kind":"fixed"}}`, `{"number":2}`, `{"kind":"fixed"}`, `[]`},
	"imputer-options":   {`{"hidden":5}`, `{"hidden":-1}`},
	"select":            {"cv=2", "density=0.5", "fdr=0.1", "cv=0"},
	"penalty":           {"adaptive=0.2", "l0"},
	"inference":         {"bootstrap=3", "bootstrap=0"},
	"columns":           {"x1,x2", "x1", "x2,x1", "x9", ""},
	"lower":             {"0", "x1=-9", "x1=0", "x1=5", "x9=0"},
	"upper":             {"x1=99", "x2=0", "1e9"},
	"transform":         {"npn", "x1=log", "x2=sqrt", "x1=logg"},
	"ordinal":           {"all", "x1", "x9"},
	"domain":            {"domain.json", "gaps.csv", "nothere.json"},
	"missingness":       {"missingness.json", "domain.json"},
	"missing-by":        {"missingness.json"},
	"truth":             {"truth.csv", "model.json"},
	"groups":            {"groups.csv"},
	"labels":            {"groups.csv"},
	"weights":           {"x2"},
	"na":                {"-9", "NA,."},
	"sep":               {",", ";", "tab", "ab"},
	"dec":               {".", ","},
	"shard":             {"1/2", "3/2"},
	"merge":             {"out"},
	"truncate":          {"box", "box=0.2", "halfspace", "ball"},
	"model-out":         {"saved.json"},
	"graph":             {"random", "chain", "hub", "star", "tree"},
	"like":              {"model.json", "out", "nothere"},
	"table":             {"gaps.csv", "bad.csv"},
	"rows":              {"20,30", "15", "1,2", "0", "x"},
	"permutations":      {"2", "3", "0"},
	"tables":            {"2", "0"},
	"out":               {"out", "out/deep/x", "complete.csv"},
	"memory":            {"300MB", "60MB", "1kB", "0GB", "x"},
	"seed":              {"1", "7", "18446744073709551615"},
}

var byType = map[string][]string{
	"int":     {"3", "2", "5", "9", "1", "0", "-1", "99999999999999"},
	"uint":    {"0", "3"},
	"float64": {"0.1", "0.5", "0.9", "0.01", "1", "2", "0", "1e-12", "-1", "NaN", "1e300"},
	"string":  {"x1", "none", "", "a=b", "…"},
}

// partners are flags that an option requires.
var partners = map[string]string{
	`--objective-options={"noise":{"kind":"fixed"}}`: "--objective=denoising",
	`--objective-options={"number":2}`:               "--objective=sliced",
	`--model-options={"components":2}`:               "--model=mixture",
	`--model-options={"hidden":[4]}`:                 "--model=energy",
}

var endless = []string{"help", "help-all", "stability"}

var tablesOfLines = []string{"gaps.csv", "positive.csv", "complete.csv", "ordered.csv", "gaps.parquet", "gaps.xlsx", "gaps.feather", "bad.csv", "empty.csv", "model.json", "nothere.csv"}

func randomLine(rng *rand.Rand) []string {
	table := func() string { return among(tablesOfLines, rng) }
	lines := [][]string{
		{"network", table()}, {"network", table()}, {"network", table(), "--select=stars"},
		{"fit", table()}, {"fit", table()}, {"moments", table()},
		{"impute", table()}, {"impute", "model.json", table()}, {"sample", "model.json"}, {"score", "model.json", table()},
		{"simulate", []string{"normal", "star", "dense", "quartic", "moons", "modes", "ring"}[rng.IntN(7)]},
		{"compare", table(), table()}, {"power"}, {"power", "--graph=chain", "--missing=0.2"},
	}
	line := lines[rng.IntN(len(lines))]
	name := line[0]
	cmd, _, err := newRoot().Find([]string{name})
	if err != nil {
		panic(err)
	}
	return append(line, randomFlags(cmd, name, rng)...)
}

// among prefers the beginning of a list, where valid values stand.
func among(list []string, rng *rand.Rand) string {
	return list[min(rng.IntN(len(list)), rng.IntN(len(list)), rng.IntN(len(list)))]
}

func randomFlags(cmd *cobra.Command, name string, rng *rand.Rand) (words []string) {
	var flags []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(endless, f.Name) {
			flags = append(flags, f)
		}
	})
	set := map[string]bool{}
	for range rng.IntN(4) {
		f := flags[rng.IntN(len(flags))]
		if set[f.Name] {
			continue
		}
		set[f.Name] = true
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			continue
		}
		var from []string
		for _, word := range completed(name)[f.Name] {
			word, _, _ = strings.Cut(word, "\t") // a note
			from = append(from, strings.TrimSuffix(word, "="))
		}
		from = append(from, values[f.Name]...)
		if from == nil {
			if from = byType[f.Value.Type()]; from == nil {
				from = byType["string"]
			}
		}
		words = append(words, "--"+f.Name+"="+among(from, rng))
	}
	for _, w := range slices.Clone(words) {
		if partner, ok := partners[w]; ok {
			if flag, _, _ := strings.Cut(partner[2:], "="); cmd.Flags().Lookup(flag) != nil && !set[flag] {
				set[flag] = true
				words = append(words, partner)
			}
		}
	}
	for flag, value := range smallFor(name, words) {
		if !set[flag] {
			words = append(words, "--"+flag+"="+value)
		}
	}
	slices.Sort(words)
	if !set["out"] && cmd.Flags().Lookup("out") != nil {
		words = append(words, "--out=out")
	}
	return words
}

var largestResident = regexp.MustCompile(`\nVmHWM:\s*(\d+) kB`)

// waitPeak waits for a process and returns its largest resident memory in bytes, sampled every few
// milliseconds; 0 if the system does not tell.
func waitPeak(c *exec.Cmd) (peak float64, err error) {
	process := strconv.Itoa(c.Process.Pid)
	for {
		status, err := os.ReadFile(filepath.Join("/proc", process, "status"))
		found := largestResident.FindSubmatch(status)
		if err != nil || found == nil { // it has ended, or was never to be seen
			return peak, c.Wait()
		}
		kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return peak, err
		}
		peak = max(peak, 1024*kilobytes)
		time.Sleep(2 * time.Millisecond)
	}
}

// wideFile is a Parquet file of a chain of 20 normal columns with missing cells.
func wideFile(t *testing.T, rows int, missing float64) string {
	rng := stream.New(1, stream.Simulate)
	g, err := simulate.Graph("chain", 20, 0, 0, rng)
	require.NoError(t, err)
	table, err := g.Sample(rows, rng)
	require.NoError(t, err)
	for k := range table.Values {
		if rng.Float64() < missing {
			table.Values[k] = math.NaN()
		}
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	require.NoError(t, data.WriteNumbers(atomicfile.Write, path, table.Names, table.Values))
	return path
}

// peakOf runs a command on two processors and returns its largest memory in bytes.
func peakOf(t *testing.T, code int, args ...string) (most float64) {
	c := exec.Command("missingscore", args...)
	c.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "GOMAXPROCS=2")
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	require.NoError(t, c.Start())
	most, err := waitPeak(c)
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Equal(t, code, c.ProcessState.ExitCode(), "%s", &text)
	require.NotZero(t, most)
	return most
}

// On a terminal one line changes.
func TestLiveProgress(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	t.Setenv("TERM", "xterm")
	require.True(t, newProgress(&screen{w: terminal}, false).live)
	require.False(t, newProgress(&screen{w: new(bytes.Buffer)}, false).live)
}

// At most 2.5 times the table's numbers of 8 bytes, beside the program and about 50 MB for the test of MCAR.
func TestHeldMemory(t *testing.T) {
	slowtest.Skip(t, "measures resident memory; 30 s")
	t.Parallel()
	const program = 60e6 // bytes
	for _, missing := range []float64{0, 0.05} {
		const rows, numbers = 1_000_000, 1_000_000 * 20 * 8. // bytes
		table := wideFile(t, rows, missing)
		for _, command := range [][]string{
			{"network", table, "--penalty", "l1", "--lambdas", "20", "--inference", "none", "--out", filepath.Join(filepath.Dir(table), "out")},
			{table},
		} {
			most := peakOf(t, exitDone, command...)
			t.Logf("%s, %v missing: %.0f MB, %.2f times the numbers beside the program", command[0], missing, most/1e6, (most-program)/numbers)
			require.LessOrEqual(t, most, 2.5*numbers+program, "%s, %v missing", command[0], missing)
		}
	}
}

// A pass of Marg-Var straight from a Parquet file takes less memory than the table's numbers.
func TestStreamedMemory(t *testing.T) {
	slowtest.Skip(t, "measures resident memory; 20 s")
	t.Parallel()
	const numbers = 1_600_000 * 20 * 8 // bytes: 256 MB
	table := wideFile(t, 1_600_000, 0.1)
	most := peakOf(t, exitUnconverged, // of one pass nobody can tell whether it converged
		"fit", table, "--method", "var", "--epochs", "1", "--batch", "2000", "--draws", "2", "--imputer-steps", "1", "--imputer-options", `{"hidden":20}`, "--warm-up", "20",
		"--stream", "--memory", "200MB", "--out", table+".json")
	t.Logf("%.0f MB", most/1e6)
	require.Less(t, most, float64(numbers))
}
