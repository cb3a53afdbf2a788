package cmd

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
	"missingscore/trainers/estimator"
)

// randomFiles makes the files that random command lines name, in a folder.
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
	positive, ordered := *gaps, *gaps
	positive.Values, ordered.Values = slices.Clone(gaps.Values), slices.Clone(gaps.Values)
	for i, x := range gaps.Values {
		positive.Values[i] = x * x
		ordered.Values[i] = float64(int(2+x) % 4)
	}
	for name, table := range map[string]*data.Table{"complete.csv": whole, "gaps.csv": gaps, "positive.csv": &positive, "ordered.csv": &ordered, "gaps.xlsx": gaps, "gaps.parquet": gaps, "gaps.feather": gaps} {
		values := slices.Clone(table.Values)
		for i, seen := range table.Observed {
			if !seen {
				values[i] = math.NaN()
			}
		}
		require.NoError(t, data.WriteNumbers(atomicfile.Write, filepath.Join(dir, name), table.Names, values))
	}
	for name, text := range map[string]string{
		"bad.csv":          "x1,x2\n1,2\n3,q\n",
		"empty.csv":        "",
		"domain.json":      `{"lower":{"x1":-9},"upper":{},"halfspace":{"a":{"x1":1,"x2":-1},"b":30}}`,
		"missingness.json": `{"logistic":{"x1":{"intercept":1,"slope":{"x1":-0.5}}}}`,
		"truth.csv":        chain(whole.Names),
		"groups.csv":       "name,group\nx1,a\nx2,b\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	var discard strings.Builder
	code := run([]string{"fit", filepath.Join(dir, "complete.csv"), "--out", filepath.Join(dir, "model.json"), "--history", filepath.Join(dir, "kept.csv"), "-q"}, &discard, &discard)
	require.Contains(t, []int{exitDone, exitUnconverged}, code, discard.String())
}

// chain is a precision as CSV whose network joins each column to the next.
func chain(names []string) string {
	text := strings.Join(names, ",") + "\n"
	for j := range names {
		row := slices.Repeat([]string{"0"}, len(names))
		row[j] = "1"
		if j > 0 {
			row[j-1] = "0.2"
		}
		if j+1 < len(names) {
			row[j+1] = "0.2"
		}
		text += strings.Join(row, ",") + "\n"
	}
	return text
}

// small are settings that keep a run of a second, where a random line sets none of its own;
// drawing and training are those of the methods that draw, and that train an imputer, which
// the others refuse.
var (
	small = map[string]map[string]string{
		"network": {"lambdas": "6"}, "compare": {"lambdas": "6", "permutations": "2"},
		"power":  {"lambdas": "6", "d": "4", "rows": "20,30", "tables": "2"},
		"impute": {"draws": "2"}, "sample": {"n": "5"}, "score": {"draws": "2"}, "simulate": {"n": "20", "d": "3"},
	}
	drawing  = map[string]map[string]string{"network": {"draws": "2"}, "compare": {"draws": "2"}, "power": {"draws": "2"}, "fit": {"draws": "2", "epochs": "3"}}
	training = map[string]map[string]string{"network": {"imputer-steps": "1"}, "compare": {"imputer-steps": "1"}, "power": {"imputer-steps": "1"}, "fit": {"imputer-steps": "1", "warm-up": "2"}}
)

// smallFor are the settings for a command whose flags are words.
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

// values that flags of a name may have; others go by their type.
var values = map[string][]string{
	"method":            {"exact", "var", "iw", "em-chains", "em-exact", "variw", "zeroed", "exact-mc", "em", "em-full", "auto", "chains", "pairwise", "full", "em-latent", "exakt"},
	"model":             {"gaussian", "gaussian-natural", "gaussian-network", "quartic", "mixture", "energy", "score-network", "poisson"},
	"model-options":     {`{"components":2}`, `{"hidden":[4]}`, `{`, `{"hiden":3}`, `null`},
	"objective":         {"auto", "classical", "truncated", "sliced", "denoising"},
	"objective-options": {`{"noise":{"kind":"fixed"}}`, `{"number":2}`, `{"kind":"fixed"}`, `[]`},
	"imputer-options":   {`{"hidden":5}`, `{"hidden":-1}`},
	"select":            {"ebic", "cv=2", "stars", "none", "density=0.5", "fdr=0.1", "stability", "cv=0"},
	"penalty":           {"l1", "adaptive", "ridge", "auto", "adaptive=0.2", "l0"},
	"inference":         {"none", "model", "robust", "bootstrap=3", "bootstrap=0"},
	"columns":           {"x1,x2", "x1", "x2,x1", "x9", ""},
	"exclude":           {"x1", "x9"},
	"id":                {"x1", "name"},
	"lower":             {"0", "x1=-9", "x1=0", "x1=5", "x9=0"},
	"upper":             {"x1=99", "x2=0", "1e9"},
	"transform":         {"npn", "x1=log", "x2=sqrt", "x1=logg"},
	"ordinal":           {"all", "x1", "x9"},
	"domain":            {"domain.json", "gaps.csv", "nothere.json"},
	"missingness":       {"missingness.json", "estimate", "domain.json"},
	"truth":             {"truth.csv", "model.json"},
	"groups":            {"groups.csv"},
	"labels":            {"groups.csv"},
	"weights":           {"x2"},
	"by":                {"x1"},
	"na":                {"-9", "NA,."},
	"sep":               {",", ";", "tab", "ab"},
	"dec":               {".", ","},
	"optimiser":         {"auto", "adam", "em", "lbfgs", "sgd"},
	"sampler":           {"auto", "exact", "mcmc", "hmc", "mala", "imputer", "latent", "sde"},
	"round":             {"none", "all", "x1"},
	"clip":              {"all", "none", "x1"},
	"shard":             {"1/2", "3/2"},
	"merge":             {"out"},
	"truncate":          {"box", "box=0.2", "halfspace", "ball"},
	"missing-by":        {"missingness.json"},
	"dtype":             {"float32", "float64", "float16"},
	"weighting":         {"uniform", "leave-one-out", "none"},
	"imputer-loss":      {"kl", "fisher", "mse"},
	"prices":            {"x1,x2,x3"},
	"save-model":        {"saved.json"},
	"history":           {"steps.csv"},
	"graph":             {"random", "chain", "hub", "star", "tree"},
	"like":              {"model.json", "out", "nothere"},
	"table":             {"gaps.csv", "bad.csv"},
	"rows":              {"20,30", "15", "1,2", "0", "x"},
	"experiment":        {"normal", "quartic", "star", "moons"},
	"seconds":           {"0.001", "0", "-1"},
	"permutations":      {"2", "3", "0"},
	"tables":            {"2", "0"},
	"out":               {"out", "out/deep/x", "complete.csv"},
	"workers":           {"1", "2", "5"},
	"memory":            {"300MB", "60MB", "1kB", "0GB", "x"},
	"seed":              {"1", "7", "18446744073709551615"},
}

var byType = map[string][]string{
	"int":     {"3", "2", "5", "9", "1", "0", "-1", "99999999999999"},
	"uint":    {"0", "3"},
	"float64": {"0.1", "0.5", "0.9", "0.01", "1", "2", "0", "1e-12", "-1", "NaN", "1e300"},
	"string":  {"x1", "none", "", "a=b", "…"},
}

// partners are what an option is for, which a line with it has unless it names another.
var partners = map[string]string{
	`--objective-options={"noise":{"kind":"fixed"}}`: "--objective=denoising",
	`--objective-options={"number":2}`:               "--objective=sliced",
	`--model-options={"components":2}`:               "--model=mixture",
	`--model-options={"hidden":[4]}`:                 "--model=energy",
}

// endless are flags whose values cannot be made small.
var endless = []string{"help", "stability"}

var tablesOfLines = []string{"gaps.csv", "positive.csv", "complete.csv", "ordered.csv", "gaps.parquet", "gaps.xlsx", "gaps.feather", "bad.csv", "empty.csv", "model.json", "nothere.csv"}

// randomLine is a command with random flags.
func randomLine(rng *rand.Rand) []string {
	names := []string{"network", "network", "fit", "fit", "impute", "sample", "score", "check", "moments", "simulate", "compare", "stars", "power"}
	name := names[rng.IntN(len(names))]
	stars := name == "stars"
	if stars {
		name = "network"
	}
	cmd, _, err := newRoot().Find([]string{name})
	if err != nil {
		panic(err)
	}
	line := []string{name}
	table := func() string { return among(tablesOfLines, rng) }
	switch name {
	case "sample":
		line = append(line, "model.json")
	case "score":
		line = append(line, "model.json", table())
	case "impute":
		if rng.IntN(2) == 0 {
			line = append(line, "model.json")
		}
		line = append(line, table())
	case "simulate":
		line = append(line, []string{"normal", "star", "dense", "quartic", "moons", "modes", "ring"}[rng.IntN(7)])
	case "compare":
		line = append(line, table(), table())
	case "power":
		if rng.IntN(2) == 0 {
			line = append(line, "--graph=chain", "--missing=0.2")
		}
	default:
		line = append(line, table())
	}
	line = append(line, randomFlags(cmd, name, rng)...)
	if stars && !slices.ContainsFunc(line, func(w string) bool { return strings.HasPrefix(w, "--select=") }) {
		line = append(line, "--select=stars")
	}
	return line
}

// among takes one of a list, rather from its beginning, where what is right stands.
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
		from, ok := values[f.Name]
		if !ok {
			if from, ok = byType[f.Value.Type()]; !ok {
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

// A random line is the same for the same seed: what a soak reports can be made again.
func TestRandomLine(t *testing.T) {
	lines := map[string]bool{}
	for seed := range uint64(200) {
		line := randomLine(stream.New(seed))
		require.Equal(t, line, randomLine(stream.New(seed)))
		lines[strings.Join(line, " ")] = true
	}
	require.Greater(t, len(lines), 170)
}

// What random lines name is accepted, where it is not wrong on purpose: each file, and each
// option with what it is for.
func TestRandomLinesCanBeAccepted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	randomFiles(t, dir, stream.New(1))
	in := func(name string) string { return filepath.Join(dir, name) }
	lines := [][]string{
		{"fit", in("gaps.csv"), "--missingness", in("missingness.json"), "--epochs=1", "--draws=2", "--imputer-steps=1", "--warm-up=2"},
		{"fit", in("complete.csv"), "--domain", in("domain.json"), "--iterations=2"},
		{"network", in("complete.csv"), "--truth", in("truth.csv"), "--lambdas=6"},
		{"network", in("complete.csv"), "--groups", in("groups.csv"), "--columns=x1,x2", "--lambdas=6"},
	}
	for option, partner := range partners {
		lines = append(lines, []string{"fit", in("complete.csv"), partner, option, "--epochs=1"})
	}
	for _, table := range []string{"gaps.parquet", "gaps.xlsx", "gaps.feather"} {
		lines = append(lines, []string{"fit", in(table), "--iterations=2"})
	}
	for k, line := range lines {
		var out strings.Builder
		code := run(append(line, "--out", filepath.Join(dir, strconv.Itoa(k)), "-q"), &out, &out)
		require.Contains(t, []int{exitDone, exitUnconverged}, code, "%q: %s", line, out.String())
	}
}
