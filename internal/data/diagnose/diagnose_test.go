package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
)

// Rows are functions of three correlated normals a, b, c and an independent e.
func columns(t *testing.T, n int, names []string, row func(i int, a, b, c, e float64) []float64) *data.Table {
	t.Helper()
	rng := stream.New(7)
	var values []float64
	for i := range n {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		values = append(values, row(i, a, 0.6*a+0.8*b, 0.3*a+0.4*b+0.87*c, rng.NormFloat64())...)
	}
	table, err := data.NewTable(names, values, nil)
	require.NoError(t, err)
	return table
}

func find(t *testing.T, table *data.Table, s diagnose.Setting) []diagnose.Finding {
	t.Helper()
	found, err := diagnose.Table(table, s)
	require.NoError(t, err)
	s.Workers = 3
	again, err := diagnose.Table(table, s)
	require.NoError(t, err)
	require.Equal(t, found, again, "by workers")
	return found
}

func only(t *testing.T, table *data.Table, s diagnose.Setting) diagnose.Finding {
	t.Helper()
	found := find(t, table, s)
	require.Len(t, found, 1, "%v", found)
	return found[0]
}

func texture(_ int, a, b, c, e float64) []float64 {
	sand, silt, clay := 50+10*a, 30+5*b, 20+4*c
	return []float64{sand, silt, clay, e, sand + silt + clay}
}

var textureNames = []string{"sand", "silt", "clay", "other", "total"}

func TestSumAndParts(t *testing.T) {
	table := columns(t, 600, textureNames, texture)
	f := only(t, table, diagnose.Setting{})
	require.Equal(t, diagnose.Finding{Kind: "dependent", Severity: diagnose.Warning, Columns: []string{"total", "sand", "silt", "clay"},
		Message:  "columns total, sand, silt and clay are nearly collinear: total ≈ sand + silt + clay (exact up to rounding), so their partial correlations are unreliable; leave one of them out (ReadOptions.Exclude total)",
		LeaveOut: []string{"total"}, Exact: "total ≈ sand + silt + clay"}, f)
	gaps, err := data.HideMCAR(table, 0.45, stream.New(1))
	require.NoError(t, err)
	require.Equal(t, f, only(t, gaps, diagnose.Setting{}))
}

// Each table has the findings of these kinds, in this order; want is in the message of the first.
func TestFindings(t *testing.T) {
	names := []string{"a", "b", "c"}
	type row = func(i int, a, b, c, e float64) []float64
	plain := func(_ int, a, b, c, _ float64) []float64 { return []float64{a, b, c} }
	first := func(value func(i int, a float64) float64) row {
		return func(i int, a, b, c, _ float64) []float64 { return []float64{value(i, a), b, c} }
	}
	copied := func(slope, noise float64) row {
		return func(_ int, a, b, _, e float64) []float64 { return []float64{a, b, 2 + slope*(a+noise*e)} }
	}
	levels := func(rare int) row { // a has five levels, b two and a third in rare rows
		return func(i int, a, b, c, _ float64) []float64 {
			third := 0.
			if i < rare {
				third = 1
			}
			return []float64{max(-2, min(2, math.Round(a))), math.Copysign(0.5, b) + third, c}
		}
	}
	many := func(_ int, a, b, c, _ float64) []float64 {
		return []float64{math.Round(4 * max(-2, min(2, a))), math.Copysign(0.5, b), c}
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(60)
	lognormal := first(func(_ int, a float64) float64 { return math.Exp(4 + 1.2*a) })
	counts := func(_ int, a, b, c, _ float64) []float64 {
		return []float64{max(0, math.Round(1+a)), math.Exp(1.5 * b), c}
	}
	below, above := domain.All(3), domain.All(3)
	below.Lower[0], above.Upper[0] = 0, 0
	bound, upper := diagnose.Setting{Domain: below}, diagnose.Setting{Domain: above}
	number := func(value func(i int) float64) row { return first(func(i int, _ float64) float64 { return value(i) }) }
	ordinal := map[string]string{"a": "ordinal", "b": "ordinal"}
	const out = "leave it out (ReadOptions.Exclude a)"
	for name, c := range map[string]struct {
		n         int
		row       row
		s         diagnose.Setting
		functions map[string]string // of columns
		kinds     string
		want      string
	}{
		// The unexplained share is (0.03/1.03)² to about two digits.
		"a copy":    {n: 400, row: copied(1.03, 0.03), kinds: "dependent", want: "c ≈ 1.03 a + 2 (all but 0.0"},
		"r is 0.98": {n: 400, row: copied(1, 0.2)},

		"rows":      {n: 60, row: number(func(i int) float64 { return 1000 + float64(i) }), kinds: "identifier", want: out},
		"time":      {n: 60, row: number(func(i int) float64 { return 0.1 * float64(i) }), kinds: "identifier", want: out},
		"rising":    {n: 60, row: number(func(i int) float64 { return float64(i*i + 5) }), kinds: "identifier", want: out},
		"shuffled":  {n: 60, row: number(func(i int) float64 { return float64(order[i]) }), kinds: "identifier", want: out},
		"by chance": {n: 60, row: number(func(i int) float64 { return float64(i * 7919 % 60013) })},
		"twice":     {n: 60, row: first(func(_ int, a float64) float64 { return math.Round(5 * a) })},

		"bound":       {n: 300, row: lognormal, s: bound, kinds: "bound", want: "a (bound 0, mean 1"},
		"its flag":    {n: 300, row: lognormal, s: bound, kinds: "bound", want: "Spec.Transform a=log"},
		"transformed": {n: 300, row: lognormal, s: bound, functions: map[string]string{"a": "log"}},
		"upper bound": {n: 300, row: first(func(_ int, a float64) float64 { return -math.Exp(4 + 1.2*a) }), s: upper,
			kinds: "bound", want: "Spec.Transform a=npn"},
		"skewed": {n: 300, row: lognormal, kinds: "skewed"},
		"limit":  {n: 200, row: first(func(_ int, a float64) float64 { return max(a, -1) }), kinds: "limit", want: "a (-1, "},

		"12 rows": {n: 12, row: plain, kinds: "few-rows", // tanh(1.96/√9)
			want: "only 12 rows: independent columns show correlations up to 0.57"},
		"19 rows": {n: 19, row: plain},

		"few values": {n: 100, row: levels(0), kinds: "few-values", want: "columns a and b have only 2 to 5 different values"},
		"their flag": {n: 100, row: levels(0), kinds: "few-values", want: "for ordered levels add Spec.Transform=ordinal a,b"},
		"ordinal":    {n: 300, row: levels(0), functions: ordinal},
		"rare level": {n: 300, row: levels(3), functions: ordinal, kinds: "categories",
			want: "column b has a category with fewer than 5 cells"},
		"many levels": {n: 300, row: many, functions: ordinal, kinds: "categories categories",
			want: "column a has more than 12 categories (the maximum is 40): " +
				"as a number (without Spec.Transform=ordinal) it gives"},
		"few values, skewed": {n: 200, row: counts, kinds: "skewed few-values"},
	} {
		table := columns(t, c.n, names, c.row)
		if c.functions != nil {
			functions, err := transform.Spec{Columns: c.functions}.Fit(table, c.s.Domain)
			require.NoError(t, err)
			c.s.Transform = functions
		}
		found := find(t, table, c.s)
		var kinds []string
		for _, f := range found {
			kinds = append(kinds, f.Kind)
			if f.Kind != "categories" {
				require.Equal(t, strings.Contains("skewed few-values limit", f.Kind), f.Severity == diagnose.Note, name)
			}
		}
		require.Equal(t, c.kinds, strings.Join(kinds, " "), name)
		if len(found) > 0 {
			require.Contains(t, found[0].Message, c.want, name)
		}
	}

	table := columns(t, 200, names, counts)
	natural, err := transform.Spec{Columns: map[string]string{"a": "npn", "b": "log"}}.Fit(table, nil)
	require.NoError(t, err)
	require.Empty(t, find(t, table, diagnose.Setting{Natural: natural}))
	named := columns(t, 60, []string{"id", "b", "c"}, number(func(i int) float64 { return float64(i*7919%60013) * 17 }))
	require.Equal(t, "identifier", only(t, named, diagnose.Setting{}).Kind)
	named.Marks = map[string]data.Mark{"b": {Text: "None", Cells: 7}}
	require.Equal(t, diagnose.Finding{Kind: "marked-cells", Severity: diagnose.Note, Columns: []string{"b"},
		Message: "cells None are read as missing (7 of b): if None is a level, " +
			"list the marks of missing cells without it (ReadOptions.NA NA)"}, find(t, named, diagnose.Setting{})[0])
}

func TestFewness(t *testing.T) {
	names := []string{"a", "b", "c"}
	plain := func(_ int, a, b, c, _ float64) []float64 { return []float64{a, b, c} }
	require.EqualError(t, diagnose.Refusal(columns(t, 3, names, plain)),
		"only 3 rows have a value: at least 4 are needed for a correlation")
	require.NoError(t, diagnose.Refusal(columns(t, 4, names, plain)))

	rng := stream.New(2)
	values := make([]float64, 30*40)
	wide := make([]string, 40)
	for j := range values {
		values[j], wide[j%40] = rng.NormFloat64(), fmt.Sprintf("x%d", j%40)
	}
	square, err := data.NewTable(wide, values, nil)
	require.NoError(t, err)
	require.Equal(t, diagnose.Note, only(t, square, diagnose.Setting{}).Severity)
	require.Equal(t, diagnose.Warning, only(t, square, diagnose.Setting{Unpenalised: true}).Severity)
	square.Sampled = &data.Sampled{Rows: 10_000, Own: slices.Repeat([]int{10_000}, 40)}
	require.Empty(t, find(t, square, diagnose.Setting{Unpenalised: true}))

	rare := columns(t, 100, names, plain)
	for i := 8; i < 100; i++ {
		rare.Observed[3*i+2] = false
	}
	f := only(t, rare, diagnose.Setting{})
	require.Equal(t, "seldom-observed", f.Kind)
	require.Contains(t, f.Message, "column c is observed in fewer than 19 of 100 rows (minimum: 8)")
	require.Contains(t, f.Message, "leave it out (ReadOptions.Exclude c)")
	two, err := rare.Select([]string{"a", "c"}) // without c nothing is left to estimate
	require.NoError(t, err)
	f = only(t, two, diagnose.Setting{})
	require.Contains(t, f.Message, "are mostly noise; get more rows, or treat the result as exploratory")
	rare.Sampled = &data.Sampled{Rows: 10_000, Own: []int{10_000, 10_000, 800}} // 100 of 10 000
	require.Empty(t, find(t, rare, diagnose.Setting{}))
}

func TestNoFalseAlarms(t *testing.T) {
	for seed := range uint64(20) {
		for _, missing := range []float64{0, 0.3, 0.7} {
			g, err := simulate.Star(15, stream.New(seed, 1))
			require.NoError(t, err)
			table, err := g.Sample(300, stream.New(seed, 2))
			require.NoError(t, err)
			table, err = data.HideMCAR(table, missing, stream.New(seed, 3))
			require.NoError(t, err)
			require.Empty(t, find(t, table, diagnose.Setting{}), "seed %d, %g missing", seed, missing)
		}
	}
}

// told are the severities and messages of one kind of findings.
func told(t *testing.T, table *data.Table, kind string) (found []string) {
	t.Helper()
	for _, f := range find(t, table, diagnose.Setting{}) {
		if f.Kind == kind {
			found = append(found, f.Severity+": "+f.Message)
		}
	}
	return found
}

func TestLevelsWithoutAColumn(t *testing.T) {
	table := columns(t, 60, []string{"source", "a", "b"}, func(i int, a, b, _, _ float64) []float64 { return []float64{float64(i % 3), a, b} })
	table.Kinds, table.Levels = []data.Kind{data.Nominal, data.Number, data.Number}, [][]string{{"x", "y", "z"}, nil, nil}
	require.Empty(t, told(t, table, "apart-levels"))
	for i := 1; i < 60; i += 3 {
		table.Observed[3*i+2] = false
	}
	require.Equal(t, []string{"warning: never observed: b where source is y: their edges, and imputations there, " +
		"rest on the model alone"}, told(t, table, "apart-levels"))
	require.Subset(t, find(t, table, diagnose.Setting{})[0].Columns, []string{"b", "source"})
	table.Observed[3*1+2] = true
	require.Empty(t, told(t, table, "apart-levels"), "one row shows both")
}

// Codes are in turn in every 25th row of column a.
func coded(t *testing.T, codes []float64, value func(row int) float64) []string {
	t.Helper()
	return told(t, columns(t, 400, []string{"a", "b"}, func(i int, _, _, c, _ float64) []float64 {
		if len(codes) > 0 && i%25 == 3 {
			return []float64{codes[i/25%len(codes)], c}
		}
		return []float64{value(i), c}
	}), "code")
}

func TestCodes(t *testing.T) {
	rng := stream.New(1)
	between := func(low, high int) func(int) float64 {
		return func(int) float64 { return float64(low + rng.IntN(high-low+1)) }
	}
	for _, scale := range [][2]int{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {0, 5}, {1, 6}, {1, 7}, {0, 10}, {18, 90}} {
		value := between(scale[0], scale[1])
		require.Empty(t, coded(t, nil, value), "%v", scale)
		for _, codes := range [][]float64{{-99}, {-9}, {-8, -9}, {999}, {-99, 999}, {777, 888, 999}, {-999, -99, 9999}} {
			found := coded(t, codes, value)
			require.Len(t, found, len(codes), "%v in %v: %v", codes, scale, found)
			for _, f := range found {
				require.Contains(t, f, "warning: ")
			}
		}
	}

	const mark = "if it marks a missing cell, read it as missing (ReadOptions.NA NA,"
	const written = ", as written in the file)"
	for _, c := range []struct {
		codes []float64
		value func(int) float64
		want  []string
	}{
		{[]float64{-99, 999}, between(1, 5), []string{
			"warning: -99 is far outside the other values of a (8 times): " + mark + "-99,999" + written,
			"warning: 999 is far outside the other values of a (8 times): " + mark + "-99,999" + written,
		}},
		{[]float64{-1}, between(16, 65), []string{
			"warning: -1 is far outside the other values of a (16 times): " + mark + "-1" + written}},
		{[]float64{-1}, func(int) float64 { return math.Floor(2 * rng.ExpFloat64()) }, []string{
			"note: -1 is the only negative value of a (16 times): " + mark + "-1" + written}},
		{[]float64{8, 9, -99}, between(1, 5), []string{
			"warning: -99 is far outside the other values of a (5 times): " + mark + "-99" + written,
			"note: 8 is apart from the other values of a (6 times): " + mark + "-99,8" + written,
			"note: 9 is apart from the other values of a (5 times): " + mark + "-99,9" + written,
		}},
		{[]float64{7, 9}, between(1, 6), nil}, // 7 belongs to 1 to 6
	} {
		require.Equal(t, c.want, coded(t, c.codes, c.value))
	}

	table := columns(t, 300, []string{"item", "weight"}, func(i int, _, b, _, _ float64) []float64 {
		if i%20 == 0 {
			return []float64{99, math.Round(90 + 10*b)}
		}
		return []float64{float64(1 + i*7%5), math.Round(90 + 10*b)}
	})
	require.Equal(t, []string{"warning: 99 is far outside the other values of item (15 times): " +
		"if it marks a missing cell, replace it by NA in the file, because ReadOptions.NA NA,99 would also remove the 99 of weight"}, told(t, table, "code"))
}

func TestNoCodesInWholeNumbers(t *testing.T) {
	alarms := 0
	for seed := range uint64(25) {
		rng := stream.New(seed, 9)
		draws := []func() float64{
			func() float64 { return float64(95 + rng.IntN(5)) },                     // years
			func() float64 { return []float64{0, 10, 50, 100}[rng.IntN(4)] },        // doses
			func() float64 { return float64(2*rng.IntN(2) - 1) },                    // effects
			func() float64 { return math.Round(min(100, 80+10*rng.NormFloat64())) }, // grades
		}
		for _, m := range []float64{0.3, 1, 2, 3, 5, 20} {
			p := distuv.Poisson{Lambda: m, Src: rng}
			draws = append(draws, p.Rand, func() float64 { return p.Rand() - p.Rand() })
			for _, sd := range []float64{0.5, 1, 1.5, 2, 3} {
				draws = append(draws, func() float64 { return math.Round(m + sd*rng.NormFloat64()) })
			}
		}
		for _, k := range []int{2, 3, 4, 5, 6, 7, 10, 11} {
			draws = append(draws, func() float64 { return float64(1 + rng.IntN(k)) })
			draws = append(draws, func() float64 { return float64(rng.IntN(k) - k/2) })
		}
		for _, draw := range draws {
			var values []float64
			for range []int{60, 200, 1000}[seed%3] {
				values = append(values, draw(), rng.NormFloat64())
			}
			table, err := data.NewTable([]string{"a", "b"}, values, nil)
			if err != nil {
				continue // all drawn are equal
			}
			found, err := diagnose.Table(table, diagnose.Setting{})
			require.NoError(t, err)
			if slices.ContainsFunc(found, func(f diagnose.Finding) bool { return f.Kind == "code" }) {
				alarms++
			}
		}
	}
	require.LessOrEqual(t, alarms, 5, "of 1600 tables")
}

func TestMatrixInPlaceOfRows(t *testing.T) {
	rng := stream.New(1)
	x := mat.NewDense(50, 6, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, x, nil)
	sd := func(i int) float64 { return math.Sqrt(covariance.At(i, i)) }
	for name, c := range map[string]struct {
		change func(i, j int, v float64) float64
		want   string
	}{
		"correlations, rounded": {func(i, j int, v float64) float64 { return math.Round(1e4*v/sd(i)/sd(j)) / 1e4 },
			"a correlation matrix (symmetric, 1 on the diagonal): its rows are not observations; give the original table"},
		"covariances":   {func(_, _ int, v float64) float64 { return v }, "a covariance matrix"},
		"not symmetric": {func(i, _ int, v float64) float64 { return v + 0.01*float64(i) }, ""},
		"a covariance above both variances": {func(i, j int, v float64) float64 {
			if i+j == 1 {
				return 2 * sd(0) * sd(1)
			}
			return v
		}, ""},
	} {
		changed := mat.NewDense(6, 6, nil)
		changed.Apply(c.change, &covariance)
		table, err := data.NewTable([]string{"a", "b", "c", "d", "e", "f"}, changed.RawMatrix().Data, nil)
		require.NoError(t, err)
		if found := told(t, table, "matrix"); c.want == "" {
			require.Empty(t, found, name)
		} else {
			require.Contains(t, found[0], "warning: the table looks like "+c.want, name)
		}
	}
}

// The columns that mice's complete(imp, "long") and impute --draws write.
func TestImputedTables(t *testing.T) {
	row := func(i int, a, b, _, _ float64) []float64 { return []float64{float64(i % 3), float64(i / 3), a, b} }
	require.Contains(t, strings.Join(told(t, columns(t, 60, []string{".imp", ".id", "a", "b"}, row), "imputed-tables"), ""), "columns .imp and .id mark imputed tables")
	require.Empty(t, told(t, columns(t, 60, []string{".imp", "id", "a", "b"}, row), "imputed-tables"))
}

func TestRepeatedMeasures(t *testing.T) {
	row := func(i int, a, b, _, _ float64) []float64 { return []float64{float64(i % 20), a, b} }
	for name, want := range map[string]int{"person": 1, "child_id": 1, "Id": 1, "age": 0} {
		found := told(t, columns(t, 60, []string{name, "a", "b"}, row), "repeated-measures")
		require.Len(t, found, want, name)
		if want > 0 {
			require.Contains(t, found[0], name+" has 20 values in 60 rows: rows with the same value are not independent")
		}
	}
	coded := columns(t, 60, []string{"person", "a", "b"}, row)
	coded.Kinds, coded.Levels = []data.Kind{data.Nominal, data.Number, data.Number}, [][]string{strings.Split("abcdefghijklmnopqrst", ""), nil, nil}
	require.Len(t, told(t, coded, "repeated-measures"), 1, "texts")
	require.Empty(t, told(t, columns(t, 39, []string{"person", "a", "b"}, row), "repeated-measures"), "fewer than two rows each")
}

func TestRepeatedRows(t *testing.T) {
	rng := stream.New(2)
	measured := func(int) []float64 {
		return []float64{math.Round(1e4*rng.NormFloat64()) / 1e4, math.Round(1e5*rng.NormFloat64()) / 1e5, float64(rng.IntN(2))}
	}
	answers := func(int) []float64 {
		a := 1 + rng.IntN(5)
		return []float64{float64(a), float64(max(1, a-rng.IntN(2))), float64(1 + rng.IntN(3))}
	}
	var hundred [][]float64
	for i := range 100 {
		hundred = append(hundred, answers(i))
	}
	once := func(int) int { return 1 }
	for name, c := range map[string]struct {
		n     int
		row   func(i int) []float64
		times func(i int) int
		want  string
	}{
		"20 copies": {15, measured, func(int) int { return 20 }, "285 of 300 rows repeat another row exactly: " +
			"copies make intervals too narrow and add false edges; keep one of each, or give their counts as weights (Table.Weights)"},
		"one to three copies":         {200, measured, func(i int) int { return 1 + i%2 + i%3/2 }, "of 366 rows repeat"},
		"a table below itself, twice": {300, func(i int) []float64 { return hundred[i%100] }, once, "of 300 rows repeat"},
		"no copies":                   {300, measured, once, ""},
		"answers equal by chance":     {500, answers, once, ""},
		"columns that tell each other": {500, func(int) []float64 {
			age := float64(20 + rng.IntN(40))
			return []float64{age, 2020 - age, math.Floor(age / 10)}
		}, once, ""},
		"many zeros": {300, func(i int) []float64 {
			if x := measured(i); rng.IntN(2) > 0 {
				return x
			}
			return []float64{0, 0, float64(rng.IntN(2))}
		}, once, ""},
	} {
		var values []float64
		for i := range c.n {
			values = append(values, slices.Concat(slices.Repeat([][]float64{c.row(i)}, c.times(i))...)...)
		}
		table, err := data.NewTable([]string{"a", "b", "c"}, values, nil)
		require.NoError(t, err)
		if found := told(t, table, "repeated-rows"); c.want == "" {
			require.Empty(t, found, name)
		} else {
			require.Len(t, found, 1, name)
			require.Contains(t, found[0], c.want, name)
		}
	}
}

func gaps(t *testing.T, names []string, rows [][]float64) *data.Table {
	values := slices.Concat(rows...)
	observed := make([]bool, len(values))
	for i, x := range values {
		if observed[i] = !math.IsNaN(x); !observed[i] {
			values[i] = 0
		}
	}
	table, err := data.NewTable(names, values, observed)
	require.NoError(t, err)
	return table
}

func TestApart(t *testing.T) {
	nan := math.NaN()
	rows := [][]float64{{1, nan, 2, 3}, {nan, 1, 3, 5}, {4, nan, 7, 6}, {nan, 2, 1, 2}}
	table := gaps(t, []string{"a", "b", "c", "d"}, rows)
	found := diagnose.Apart(table)
	require.Len(t, found, 1)
	require.Equal(t, diagnose.Finding{Kind: "apart", Severity: diagnose.Warning, Columns: []string{"a", "b"},
		Message: "a and b are never observed in the same row: their partial correlation is not determined by the data"}, found[0])
	all, err := diagnose.Table(table, diagnose.Setting{})
	require.NoError(t, err)
	require.Contains(t, all, found[0])
	require.Empty(t, diagnose.Apart(gaps(t, table.Names, append(rows, []float64{1, 1, nan, nan}))))

	var lone [][]float64
	var names []string
	for j := range 5 {
		for value := range 2 {
			row := []float64{nan, nan, nan, nan, nan}
			row[j] = float64(value)
			lone = append(lone, row)
		}
		names = append(names, fmt.Sprintf("x%d", j+1))
	}
	require.Equal(t, "x1 and x2; x1 and x3; x1 and x4; x1 and x5; 6 more pairs of columns are never observed in the same row: their partial correlations are not determined by the data",
		diagnose.Apart(gaps(t, names, lone))[0].Message)
}

// Prices are collinear, 40 is the last cycle, yeast and riboflavin have heavy tails and few rows.
func TestRealTables(t *testing.T) {
	dir := os.Getenv("MISSINGSCORE_DATA")
	if dir == "" {
		t.Skip("MISSINGSCORE_DATA does not name the folder of the real tables")
	}
	for _, c := range []struct{ file, exclude, want string }{
		{"airquality.csv", "", "few-values"},
		{"mkmep.csv", "", "few-rows code skewed limit"},
		{"nhanes2.csv", "age hyp", "few-rows"},
		{"sachs.csv.gz", "intervention", "limit"},
		{"walking.csv", "sex src", "few-values"},
		{"all_stocks_5yr_sample.csv", "date Name", "dependent dependent dependent skewed"},
		{"huge_stockdata.csv.gz", "", "skewed"},
		{"riboflavin.csv.gz", "", "few-rows skewed"},
		{"yeast_brem2005_complete.csv.gz", "", "few-rows skewed"},
		{"yeast_brem2005_missing.csv.gz", "", "few-rows skewed"},
		{"yeast_brem2005_missing106.csv", "", "skewed"},
		{"yeast_gasch2000.csv.gz", "", "few-rows skewed"},
	} {
		table, err := data.ReadCSV(filepath.Join(dir, c.file), data.ReadOptions{Exclude: strings.Fields(c.exclude)})
		require.NoError(t, err)
		var kinds []string
		for _, f := range find(t, table, diagnose.Setting{}) {
			kinds = append(kinds, f.Kind)
		}
		require.Equal(t, c.want, strings.Join(kinds, " "), c.file)
	}
}

// By hand: c = 2a − b + 1 in every complete row except one.
func TestExact(t *testing.T) {
	rng := stream.New(1)
	var values []float64
	var seen []bool
	for i := range 10 {
		a, b := 3*rng.NormFloat64(), rng.NormFloat64()
		values, seen = append(values, a, b, 2*a-b+1), append(seen, true, i != 3, i != 4)
	}
	values[3*3+2] = 70 // in a row without b
	table, err := data.NewTable([]string{"a", "b", "c"}, values, seen)
	require.NoError(t, err)
	rows, exact := diagnose.Exact(table, []int{2, 0, 1})
	require.Equal(t, 8, rows)
	require.True(t, exact)
	rows, exact = diagnose.Exact(table, []int{0, 1})
	require.Equal(t, 9, rows)
	require.False(t, exact)
	values[2] += 1e-8
	_, exact = diagnose.Exact(table, []int{2, 0, 1})
	require.False(t, exact)
	few, err := table.Rows([]int{0, 1, 2})
	require.NoError(t, err)
	rows, exact = diagnose.Exact(few, []int{2, 0, 1})
	require.Equal(t, 3, rows)
	require.True(t, exact, "a plane goes through any three points")
}

// 1 − R² of each of two columns of correlation ρ is 1 − ρ².
func TestDependent(t *testing.T) {
	const rho = 0.999999
	r := mat.NewSymDense(3, []float64{1, 0.1, rho, 0.1, 1, 0.1, rho, 0.1, 1})
	set := diagnose.Dependent(r, 2.1e-6)
	require.ElementsMatch(t, []int{0, 2}, set)
	require.Nil(t, diagnose.Dependent(r, 1.9e-6))
	require.Nil(t, diagnose.Dependent(mat.NewSymDense(151, nil), 1))
}
