package trainers_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/path"
)

var updateDigits = flag.Bool("update-digits", false, "write docs/reference/digits.md from this run")

// certified is an optimum that testdata/reference/certify.py has found in 60 digits.
type certified struct {
	Table, Method, Model   string
	Bounds                 [][2]*float64
	Lambda                 float64
	Mean, Precision, Theta []json.Number
}

func (c certified) numbers() (out []float64) {
	for _, list := range [][]json.Number{c.Mean, c.Precision, c.Theta} {
		for _, text := range list {
			v, _ := strconv.ParseFloat(text.String(), 64)
			out = append(out, v)
		}
	}
	return out
}

// name of the case in a table of digits.
func (c certified) name() string {
	name := c.Table + " | "
	switch {
	case c.Model != "":
		name += c.Model
	case c.Lambda > 0:
		name += fmt.Sprintf("network at λ = %g", c.Lambda)
	case c.Bounds != nil:
		name += "gaussian within bounds"
	default:
		name += "gaussian"
	}
	return name + " | `" + c.Method + "`"
}

// spec of the case, in the units that its loss was certified in: losses of complete rows on
// all of R^d and the likelihood do not depend on units, the others are in the table's.
func (c certified) spec() trainers.Spec {
	s := trainers.Spec{Steps: engine.Config{Method: c.Method}, Model: trainers.ModelSpec{Kind: c.Model}}
	s.KeepUnits = c.Method == "exact" || c.Model != "" || c.Bounds != nil
	if c.Bounds != nil {
		s.Domain = &domain.Domain{}
		for _, b := range c.Bounds {
			lower, upper := math.Inf(-1), math.Inf(1)
			if b[0] != nil {
				lower = *b[0]
			}
			if b[1] != nil {
				upper = *b[1]
			}
			s.Domain.Lower, s.Domain.Upper = append(s.Domain.Lower, lower), append(s.Domain.Upper, upper)
		}
	}
	if c.Lambda > 0 {
		s.Network = &path.Config{Penalty: path.Penalty{Kind: "l1"}, Lambdas: 10, LambdaMax: 10 * c.Lambda, LambdaMin: c.Lambda,
			Select: path.Selection{Kind: "none"}, Refit: new(false), Tolerance: 1e-12, RefineIter: 100000}
	}
	return s
}

// found are a result's numbers in the order of certified.numbers.
func found(t *testing.T, c certified, r *trainers.Result) (out []float64) {
	t.Helper()
	var p mat.Symmetric
	if c.Lambda > 0 {
		p = r.Network.Precision
		for _, v := range c.Mean { // of a path without gaps the observed ones
			number, _ := strconv.ParseFloat(v.String(), 64)
			out = append(out, number)
		}
	} else if q, ok := r.Model.Model.(*model.Quartic); ok {
		p = q.Theta()
	} else {
		normal, ok := model.AsNormal(r.Model.Model)
		require.True(t, ok)
		out, p = normal.Mean(), normal.Precision()
	}
	for j := range p.SymmetricDim() {
		for k := j; k < p.SymmetricDim(); k++ {
			out = append(out, p.At(j, k))
		}
	}
	return out
}

// digits are those that agree: −log₁₀ of the relative error, of the size where the truth is
// 0, at most 15 (NIST's log relative error).
func digits(truth, found float64) float64 {
	gap := math.Abs(found - truth)
	if truth != 0 {
		gap /= math.Abs(truth)
	}
	return min(15, -math.Log10(max(gap, 1e-300)))
}

// Every loss comes to its certified optimum, to the digits that docs/reference/digits.md
// promises.
func TestCertifiedOptima(t *testing.T) {
	text, err := os.ReadFile("testdata/reference/certified.json")
	require.NoError(t, err)
	var cases []certified
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Greater(t, len(cases), 11)
	promised, err := os.ReadFile(digitsPage)
	if !*updateDigits {
		require.NoError(t, err)
	}
	var lines []string
	for _, c := range cases {
		table, err := data.ReadCSV(filepath.Join("testdata/reference", c.Table+".csv"), data.ReadOptions{})
		require.NoError(t, err)
		r, err := trainers.Estimate(t.Context(), table, c.spec(), trainers.Run{})
		require.NoError(t, err)
		rounded := c.Table == "near-singular" && c.Method == "full" // its gradient is rounding, of 3e-6, which the verdict does not take for 0
		require.Equal(t, !rounded, r.Converged, "%s: %s", c.name(), r.Verdict)
		want, got := c.numbers(), found(t, c, r)
		require.Len(t, got, len(want))
		least := 15.
		for i := range want {
			least = min(least, digits(want[i], got[i]))
		}
		line := fmt.Sprintf("| %s | ", c.name())
		lines = append(lines, fmt.Sprintf("%s%d |", line, int(least)))
		t.Logf("%s%.1f", line, least)
		if !*updateDigits {
			_, after, ok := strings.Cut(string(promised), line)
			require.True(t, ok, "%s has no line %q: go test ./trainers -run Certified -update-digits", digitsPage, line)
			number, _, _ := strings.Cut(after, " ")
			floor, err := strconv.Atoi(number)
			require.NoError(t, err)
			require.GreaterOrEqual(t, least, float64(floor)-0.3, c.name()) // another library's rounding
		}
	}
	if *updateDigits {
		before, _, ok := strings.Cut(string(promised), digitsMark)
		require.True(t, ok, "%s has no line %q", digitsPage, digitsMark)
		require.NoError(t, os.WriteFile(digitsPage, []byte(before+digitsMark+"\n\n| table | model | method | digits |\n| --- | --- | --- | --- |\n"+strings.Join(lines, "\n")+"\n"), 0o644))
	}
}

const (
	digitsPage = "../docs/reference/digits.md"
	digitsMark = "<!-- written by go test ./trainers -run Certified -update-digits -->"
)
