// Package certified compares fits of small tables with optima known to 20 digits by two routes
// outside the program (folder reference), as NIST's Statistical Reference Datasets.
package certified

import (
	"encoding/json"
	"flag"
	"fmt"
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
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

var (
	updateDigits = flag.Bool("update-digits", false, "write digits.json from this run")
	routes       = flag.Bool("routes", false, "run both scripts of reference again (some minutes; python3 with mpmath, gp)")
)

const (
	reachedVariable = "MISSINGSCORE_TEST_REACHED" // the file for the results by another matrix library
	tight           = 1e-13                       // tolerance at which rounding ends a fit
	most            = 15.0                        // digits that are counted
	nearlySingular  = 1e6                         // condition from which on rounding decides the last digit
)

// The gradient's rounding is larger than the verdict allows.
const rounded = "near-singular | gaussian | `full`"

type certifiedCase struct {
	Table, Method, Model   string
	Weights                string // column of weights; "" for none
	Bounds                 [][2]*float64
	HalfSpaces             []domain.HalfSpace `json:"half_spaces"`
	Lambda                 float64            // of a network
	Condition              float64            // of the correlations, of a quartic model −θ: largest eigenvalue over the smallest
	Loss                   json.Number        // the least value; "" for an equation without a loss
	Mean, Precision, Theta []json.Number
}

type route struct {
	Tool  string // with its version
	Cases []certifiedCase
}

// digits are whole digits that the program finds: by default, and with the tolerance tight, 0 for
// networks, whose refinement is tight already.
type digits struct {
	Usual int `json:"usual"`
	Tight int `json:"tight,omitempty"`
}

func read[T any](t *testing.T, name string) (v T) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}

func (c certifiedCase) name() string {
	what := "gaussian"
	switch {
	case c.Model != "":
		what = c.Model
	case c.Lambda > 0:
		what = fmt.Sprintf("network at λ = %g", c.Lambda)
	case c.Bounds != nil:
		what += " within bounds"
	case c.HalfSpaces != nil:
		what += " in a half-space"
	case c.Weights != "":
		what += " with weights"
	}
	return c.Table + " | " + what + " | `" + c.Method + "`"
}

// fit returns the fewest digits of the case's numbers; tolerance 0 is the default.
func (c certifiedCase) fit(t *testing.T, tolerance float64) (float64, *trainers.Result) {
	name := "reference/" + c.Table + ".csv"
	options := data.ReadOptions{}
	if c.Weights != "" {
		options.Exclude = []string{c.Weights}
	}
	table, err := data.ReadCSV(name, options)
	require.NoError(t, err)
	if c.Weights != "" {
		weights, err := data.ReadCSV(name, data.ReadOptions{Columns: []string{c.Weights}})
		require.NoError(t, err)
		table, err = table.Weighted(weights.Values)
		require.NoError(t, err)
	}
	spec := c.spec()
	spec.Descent.Tolerance = tolerance
	r, err := trainers.Estimate(t.Context(), table, spec, trainers.Run{})
	require.NoError(t, err, c.name())
	var got []float64
	var p mat.Symmetric
	if c.Lambda > 0 {
		got, p = slices.Clone(r.Network.Mean), r.Network.Precision
	} else if q, ok := r.Model.Model.(*model.Quartic); ok {
		p = q.Theta()
	} else {
		normal, _ := model.AsNormal(r.Model.Model)
		got, p = normal.Mean(), normal.Precision()
	}
	for j := range p.SymmetricDim() {
		for k := j; k < p.SymmetricDim(); k++ {
			got = append(got, p.At(j, k))
		}
	}
	want, least := slices.Concat(c.Mean, c.Precision, c.Theta), most
	require.Len(t, got, len(want), c.name())
	for i, truth := range want {
		least = min(least, agreeing(t, truth, got[i]))
	}
	return least, r
}

// spec is in the units of the certified loss: losses of complete rows on R^d and the likelihood do
// not depend on units.
func (c certifiedCase) spec() trainers.Spec {
	s := trainers.Spec{Steps: engine.Config{Method: c.Method}, Model: trainers.ModelSpec{Kind: c.Model}}
	s.KeepUnits = c.Lambda == 0 && (c.Method == "exact" || c.Method == "zeroed") || c.Model != "" || c.Bounds != nil || c.HalfSpaces != nil
	if c.HalfSpaces != nil {
		s.Domain = domain.All(len(c.HalfSpaces[0].A))
		s.Domain.Half = c.HalfSpaces
	}
	if c.Bounds != nil {
		s.Domain = domain.All(len(c.Bounds))
		for j, b := range c.Bounds {
			if b[0] != nil {
				s.Domain.Lower[j] = *b[0]
			}
			if b[1] != nil {
				s.Domain.Upper[j] = *b[1]
			}
		}
	}
	if c.Lambda > 0 {
		s.Network = &regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}, Lambdas: 10, LambdaMax: 10 * c.Lambda, LambdaMin: c.Lambda,
			Select: regpath.Selection{Kind: "none"}, Refit: new(false), Tolerance: 1e-12, RefineIter: 100000}
	}
	return s
}

// agreeing is −log₁₀ of the relative error, of the size where the truth is 0 (NIST's log relative
// error).
func agreeing(t *testing.T, want json.Number, found float64) float64 {
	truth, err := want.Float64()
	require.NoError(t, err)
	gap := math.Abs(found - truth)
	if truth != 0 {
		gap /= math.Abs(truth)
	}
	return min(most, -math.Log10(max(gap, 1e-300)))
}

// To the digits in digits.json, by OpenBLAS and by Go's own products: 0.3 fewer, and one fewer for
// nearly singular tables, as libraries and processors round differently.
func TestCertifiedOptima(t *testing.T) {
	cases, promised := read[route](t, "reference/certified.json").Cases, read[map[string]digits](t, "digits.json")
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
	if !strings.HasPrefix(library, "gonum") { // in a separate process
		file := filepath.Join(t.TempDir(), "reached.json")
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCertifiedOptima$")
		c.Env = append(os.Environ(), reachedVariable+"="+file, graph.BLASVariable+"=gonum")
		said, err := c.CombinedOutput()
		require.NoError(t, err, "%s", said)
		for name, there := range read[map[string][2]float64](t, file) {
			fewest[name] = [2]float64{min(fewest[name][0], there[0]), min(fewest[name][1], there[1])}
		}
	}
	require.Len(t, fewest, len(cases), "two cases have one name")
	for _, c := range cases {
		found, slack := fewest[c.name()], 0.3
		if *updateDigits {
			promised[c.name()] = digits{int(found[0]), int(found[1])}
		}
		if c.Condition > nearlySingular {
			slack = 1
		}
		own := promised[c.name()]
		require.Positive(t, own.Usual, "%s: go test ./trainers/certified -update-digits", c.name())
		require.Equal(t, c.Lambda == 0, own.Tight > 0, c.name())
		require.GreaterOrEqual(t, found[0], float64(own.Usual)-slack, c.name())
		require.GreaterOrEqual(t, found[1], float64(own.Tight)-1, "%s, tight", c.name())
	}
	if *updateDigits {
		text, err := json.MarshalIndent(promised, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("digits.json", append(text, '\n'), 0o644))
	}
}

// reached has the digits by default and with the tolerance tight, 0 for networks.
func reached(t *testing.T, cases []certifiedCase) map[string][2]float64 {
	out := map[string][2]float64{}
	for _, c := range cases {
		usual, r := c.fit(t, 0)
		require.Equal(t, c.name() != rounded, r.Converged, "%s: %s", c.name(), r.Verdict)
		if c.spec().KeepUnits {
			require.Greater(t, agreeing(t, c.Loss, r.Loss), 11.0, "%s: the least loss", c.name())
		}
		further := usual
		switch {
		case c.Lambda > 0:
			further = 0
		case c.name() != rounded:
			further, _ = c.fit(t, tight)
		}
		out[c.name()] = [2]float64{usual, further}
	}
	return out
}

func TestRoutesAgree(t *testing.T) {
	first, second := read[route](t, "reference/certified.json"), read[route](t, "reference/confirmed.json")
	require.Regexp(t, `^Python [\d.]+, mpmath [\d.]+`, first.Tool)
	require.Regexp(t, `^PARI/GP [\d.]+`, second.Tool)
	require.Len(t, second.Cases, len(first.Cases))
	for i, a := range first.Cases {
		b := second.Cases[i]
		require.Equal(t, [3]any{a.Table, a.Method, a.Loss == ""}, [3]any{b.Table, b.Method, b.Loss == ""})
		one, other := slices.Concat(a.Mean, a.Precision, a.Theta), slices.Concat(b.Mean, b.Precision, b.Theta)
		if a.Loss != "" {
			one, other = append(one, a.Loss), append(other, b.Loss)
		}
		require.Len(t, other, len(one), a.name())
		for k := range one { // as decimals, to more than 18 digits
			x, y := exactly(t, one[k]), exactly(t, other[k])
			gap := new(big.Rat).Abs(new(big.Rat).Sub(y, x))
			require.LessOrEqual(t, gap.Cmp(new(big.Rat).Abs(new(big.Rat).Mul(x, big.NewRat(1, 1e18)))), 0, "%s: %s and %s", a.name(), one[k], other[k])
		}
	}
}

func exactly(t *testing.T, text json.Number) *big.Rat {
	v, ok := new(big.Rat).SetString(text.String())
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
		require.Equal(t, string(tool.ReplaceAll(want, nil)), string(tool.ReplaceAll(got, nil)), name)
	}
}

// A mean of 10⁶ in the table's own units leaves a gradient of rounding error.
func TestFitsEndWhereOnlyRoundingIsLeft(t *testing.T) {
	cases := read[route](t, "reference/certified.json").Cases
	k := slices.IndexFunc(cases, func(c certifiedCase) bool { return c.Table == "far-gaps" && c.Method == "exact" })
	_, r := cases[k].fit(t, 0)
	require.Less(t, len(r.History), 400)
	require.Contains(t, r.Verdict, "converged to rounding error")
	for _, h := range r.History[len(r.History)-100:] {
		require.LessOrEqual(t, r.Final.Gradient, 1.000001*h.Gradient)
	}
}
