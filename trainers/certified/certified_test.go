package certified

import (
	"encoding/json"
	"flag"
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
	updateDigits = flag.Bool("update-digits", false, "write digits.json from this run")
	routes       = flag.Bool("routes", false, "run both scripts of reference again (some minutes; python3 with mpmath, gp)")
)

// The file for the results by another matrix library.
const reachedVariable = "MISSINGSCORE_TEST_REACHED"

// The gradient's rounding is larger than the verdict allows.
var rounded = map[string]bool{"near-singular | gaussian | `full`": true}

// To the digits in digits.json, by OpenBLAS and by Go's own products.
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
}

// Digits by default and with the tolerance tight, 0 for networks.
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

// In a separate process with Go's own products.
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

func listed(c Case) (out []json.Number) {
	if c.Loss != "" {
		out = append(out, c.Loss)
	}
	out = append(out, c.Mean...)
	out = append(out, c.Precision...)
	return append(out, c.Theta...)
}

// At most 20 digits, of decimals, not of float64.
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

// A mean of 10⁶ in the table's own units leaves a gradient of rounding error.
func TestFitsEndWhereOnlyRoundingIsLeft(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	k := slices.IndexFunc(cases, func(c Case) bool { return c.Table == "far-gaps" && c.Method == "exact" })
	_, r, err := cases[k].Find(t.Context(), 0)
	require.NoError(t, err)
	require.Less(t, len(r.History), 400)
	require.Contains(t, r.Verdict, "converged to rounding error")
	for _, h := range r.History[len(r.History)-100:] {
		require.LessOrEqual(t, r.Final.Gradient, 1.000001*h.Gradient)
	}
}
