package certified

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

var (
	updateDigits = flag.Bool("update-digits", false, "write digits.json and the tables of docs/reference/digits.md and reference/README.md from this run")
	routes       = flag.Bool("routes", false, "run both scripts of reference again (some minutes; python3 with mpmath, gp)")
)

const (
	digitsPage = "../../docs/reference/digits.md"
	readme     = "reference/README.md"

	// reachedVariable names the file to which TestCertifiedOptima writes what it reached, by
	// another matrix library than the process that started it.
	reachedVariable = "MISSINGSCORE_TEST_REACHED"

	mark = "<!-- written by go test ./trainers/certified -update-digits -->"
)

// rounded are cases whose gradient is rounding of a size that the verdict does not take for 0:
// of near-singular 3e-6 where the fit starts.
var rounded = map[string]bool{"near-singular | gaussian | `full`": true}

// Every loss comes to its certified optimum, to the digits that docs/reference/digits.md
// promises, by OpenBLAS and by Go's own products.
func TestCertifiedOptima(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	require.Greater(t, len(cases), 30)
	fewest := reached(t, cases)
	if file := os.Getenv(reachedVariable); file != "" {
		text, err := json.Marshal(fewest)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return
	}
	library, err := graph.BLAS()
	require.NoError(t, err)
	if !strings.HasPrefix(library, "gonum") {
		for name, there := range byGonum(t) {
			t.Logf("%s | %.1f by %s, %.1f by gonum | tight %.1f, %.1f", name, fewest[name][0], library, there[0], fewest[name][1], there[1])
			fewest[name] = [2]float64{min(fewest[name][0], there[0]), min(fewest[name][1], there[1])}
		}
	}
	require.Len(t, fewest, len(cases), "two cases have one name")
	promised, least := map[string]Digits{}, most
	for i, c := range cases {
		found := fewest[c.Name()]
		if *updateDigits {
			cases[i].Promised = Digits{Usual: int(found[0]), Tight: int(found[1])}
			c = cases[i]
		}
		require.Positive(t, c.Promised.Usual, "%s: go test ./trainers/certified -update-digits", c.Name())
		require.Equal(t, c.Lambda == 0, c.Promised.Tight > 0, c.Name())
		require.GreaterOrEqual(t, found[0], c.Least(), c.Name())
		require.GreaterOrEqual(t, found[1], float64(c.Promised.Tight)-1, "%s, tight", c.Name())
		promised[c.Name()] = c.Promised
		least = min(least, found[0])
	}
	t.Logf(`figures {"optima": %d, "least digits": %.1f}`, len(cases), least)
	if *updateDigits {
		text, err := json.MarshalIndent(promised, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("digits.json", append(text, '\n'), 0o644))
	}
	written(t, digitsPage, digitsTable(t, cases))
	written(t, readme, casesTable(t, cases))
}

// reached are the digits of each case by this process' matrix library, as the program is used
// and with the tolerance tight, 0 for networks. Fits end converged and, in the table's units, at
// the least value: so reference/README.md has its normalisation right.
func reached(t *testing.T, cases []Case) map[string][2]float64 {
	out, values := map[string][2]float64{}, 0
	for _, c := range cases {
		usual, r, err := c.Find(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, !rounded[c.Name()], r.Converged, "%s: %s", c.Name(), r.Verdict)
		if c.spec().KeepUnits {
			value, err := numbers([]json.Number{c.Loss})
			require.NoError(t, err)
			require.Greater(t, agreeing(value[0], r.Loss), 11.0, "%s: the least loss", c.Name())
			values++
		}
		further := usual
		switch {
		case c.Lambda > 0:
			further = 0
		case !rounded[c.Name()]:
			further, _, err = c.Find(t.Context(), tight)
			require.NoError(t, err)
		}
		out[c.Name()] = [2]float64{usual, further}
	}
	require.Greater(t, values, 15)
	return out
}

// byGonum is reached in a process of its own, in which Go's own products compute.
func byGonum(t *testing.T) (out map[string][2]float64) {
	file := filepath.Join(t.TempDir(), "reached.json")
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCertifiedOptima$")
	c.Env = append(os.Environ(), reachedVariable+"="+file, graph.BLASVariable+"=gonum")
	said, err := c.CombinedOutput()
	require.NoError(t, err, "%s", said)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// written compares what stands after the mark of a page, or writes it.
func written(t *testing.T, page, table string) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, _, ok := strings.Cut(string(text), mark)
	require.True(t, ok, "%s has no line %q", page, mark)
	want := before + mark + "\n\n" + table
	if *updateDigits {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text))
}

// facts of a case's table: rows, columns, share of the cells that is missing, by what.
func facts(t *testing.T, c Case) (n, d int, missing, why string) {
	rows, err := c.rows()
	require.NoError(t, err)
	gaps := 0
	for _, seen := range rows.Observed {
		if !seen {
			gaps++
		}
	}
	missing = "–"
	if gaps > 0 {
		missing = fmt.Sprintf("%.0f %%", 100*float64(gaps)/float64(len(rows.Observed)))
	}
	return rows.N, rows.D, missing, tables(t)[c.Table].Missing
}

// description of a table, as reference/tables.json has it.
type description struct{ Missing, About string }

func tables(t *testing.T) (out map[string]description) {
	text, err := os.ReadFile("reference/tables.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func digitsTable(t *testing.T, cases []Case) string {
	out := "| table | model | method | n | d | missing | mechanism | condition | digits | by `--tolerance 1e-13` |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
	for _, c := range cases {
		n, d, missing, why := facts(t, c)
		tight := "–"
		if c.Promised.Tight > 0 {
			tight = fmt.Sprint(c.Promised.Tight)
		}
		out += fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %d | %s |\n", c.Name(), n, d, missing, why, condition(c.Condition), c.Promised.Usual, tight)
	}
	return out
}

func casesTable(t *testing.T, cases []Case) string {
	about := tables(t)
	out, before := "| table | what it is | n | d | missing | mechanism | optima, and condition |\n| --- | --- | --- | --- | --- | --- | --- |\n", ""
	for _, c := range cases {
		if c.Table == before {
			out = strings.TrimSuffix(out, " |\n") + ", "
		} else {
			n, d, missing, why := facts(t, c)
			out += fmt.Sprintf("| [%s](%s.csv) | %s | %d | %d | %s | %s | ", c.Table, c.Table, about[c.Table].About, n, d, missing, why)
		}
		before = c.Table
		_, of, _ := strings.Cut(c.Name(), " | ")
		out += fmt.Sprintf("%s: %s |\n", strings.ReplaceAll(of, " | ", " "), condition(c.Condition))
	}
	return out
}

// condition is a number in two or three digits.
func condition(v float64) string {
	switch {
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	case v < 1e4:
		return fmt.Sprintf("%.0f", v)
	}
	power := math.Floor(math.Log10(v))
	superscripts := map[rune]rune{'0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹'}
	return fmt.Sprintf("%.1f·10%s", v/math.Pow(10, power), strings.Map(func(r rune) rune { return superscripts[r] }, fmt.Sprint(power)))
}

// Two routes outside the program, of other languages and algorithms, find the same numbers.
func TestRoutesAgree(t *testing.T) {
	var first, second route
	require.NoError(t, read("reference/certified.json", &first))
	text, err := os.ReadFile("reference/confirmed.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &second))
	require.Regexp(t, `^Python [\d.]+, mpmath [\d.]+`, first.Tool)
	require.Regexp(t, `^PARI/GP [\d.]+`, second.Tool)
	require.Len(t, second.Cases, len(first.Cases))
	fewest := math.Inf(1)
	for i, a := range first.Cases {
		b := second.Cases[i]
		require.Equal(t, [2]string{a.Table, a.Method}, [2]string{b.Table, b.Method})
		require.Equal(t, a.Loss == "", b.Loss == "", a.Name())
		one, other := listed(a), listed(b)
		require.Len(t, other, len(one), a.Name())
		for k := range one {
			digits := common(t, one[k].String(), other[k].String())
			require.Greater(t, digits, 18.0, "%s: %s and %s", a.Name(), one[k], other[k])
			fewest = min(fewest, digits)
		}
	}
	t.Logf("at least %.1f digits", fewest)
}

// listed are all numbers of a case.
func listed(c Case) (out []json.Number) {
	if c.Loss != "" {
		out = append(out, c.Loss)
	}
	out = append(out, c.Mean...)
	out = append(out, c.Precision...)
	return append(out, c.Theta...)
}

// common are the digits that two numbers have in common, 20 at most: of decimals, not of float64.
func common(t *testing.T, a, b string) float64 {
	x, y := exactly(t, a), exactly(t, b)
	if x.Cmp(y) == 0 {
		return 20
	}
	if x.Sign() == 0 {
		return 0
	}
	gap, _ := new(big.Rat).Quo(new(big.Rat).Sub(y, x), x).Float64()
	return min(20, -math.Log10(math.Abs(gap)))
}

func exactly(t *testing.T, text string) *big.Rat {
	v, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	return v
}

func TestCommon(t *testing.T) {
	require.Equal(t, 20.0, common(t, "1.25", "1.250"))
	require.InDelta(t, 17, common(t, "1", "1.00000000000000001"), 1e-9)
	require.Negative(t, common(t, "2", "-2"))
	require.Zero(t, common(t, "0.0", "1e-30"))
	require.InDelta(t, 0, common(t, "1", "2"), 1e-9)
}

// Every table is described, and has a case.
func TestTables(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	used := map[string]bool{}
	for _, c := range cases {
		used[c.Table+".csv"] = true
	}
	names, err := fs.Glob(files, "reference/*.csv")
	require.NoError(t, err)
	require.Len(t, names, len(used))
	withGaps := 0
	for _, name := range names {
		name = strings.TrimPrefix(name, "reference/")
		require.True(t, used[name], name)
		of := tables(t)[strings.TrimSuffix(name, ".csv")]
		require.NotEmpty(t, of.About, name)
		text, err := files.ReadFile("reference/" + name)
		require.NoError(t, err)
		require.Equal(t, bytes.Contains(text, []byte("NA")), of.Missing != "none", "%s: %s", name, of.Missing)
		if of.Missing != "none" {
			withGaps++
		}
	}
	require.Len(t, tables(t), len(names))
	require.GreaterOrEqual(t, withGaps, 12)
}

// The scripts give the files that are kept, but for the tools' versions.
func TestScripts(t *testing.T) {
	if !*routes {
		t.Skip("go test ./trainers/certified -run Scripts -routes")
	}
	tool := regexp.MustCompile(`(?m)^ "tool": .*$`)
	for name, command := range map[string][]string{"certified.json": {"python3", "certify.py"}, "confirmed.json": {"gp", "-q", "-f", "confirm.gp"}} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir = "reference"
		got, err := c.Output()
		require.NoError(t, err, name)
		want, err := os.ReadFile("reference/" + name)
		require.NoError(t, err)
		require.Equal(t, tool.ReplaceAllString(string(want), ""), tool.ReplaceAllString(string(got), ""), name)
	}
}

func TestAgreeing(t *testing.T) {
	require.InDelta(t, 3, agreeing(2, 2.002), 1e-9)
	require.InDelta(t, 5, agreeing(0, 1e-5), 1e-9)
	require.Equal(t, 15.0, agreeing(7, 7))
	require.Negative(t, agreeing(1, -30))
}

// A mean of 10⁶ in the table's own units leaves a gradient that rounding alone makes: the fit
// ends soon after its loss has stopped falling, and where that gradient was least.
func TestFitsEndWhereOnlyRoundingIsLeft(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	k := slices.IndexFunc(cases, func(c Case) bool { return c.Table == "far-gaps" && c.Method == "exact" })
	_, r, err := cases[k].Find(t.Context(), 0)
	require.NoError(t, err)
	require.Less(t, len(r.History), 400)
	require.Contains(t, r.Verdict, "converged as far as rounding allows")
	for _, h := range r.History[len(r.History)-100:] {
		require.LessOrEqual(t, r.Final.Gradient, 1.000001*h.Gradient)
	}
}
