package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

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

// The unexplained share is (0.03/1.03)² to about two digits.
func TestCopies(t *testing.T) {
	names := []string{"zinc", "lead", "icp"}
	f := only(t, columns(t, 400, names, func(_ int, a, b, _, e float64) []float64 { return []float64{a, b, 2 + 1.03*(a+0.03*e)} }), diagnose.Setting{})
	require.Equal(t, []string{"icp", "zinc"}, f.Columns)
	require.Regexp(t, `icp ≈ 1\.03 zinc \+ 2 \(all but 0\.0[789]\d* %`, f.Message)
	require.Empty(t, find(t, columns(t, 400, names, func(_ int, a, b, _, e float64) []float64 { return []float64{a, b, a + 0.2*e} }), diagnose.Setting{}), "r = 0.98 is no copy")
}

func TestIdentifiers(t *testing.T) {
	names := []string{"id", "b", "c"}
	with := func(first func(i int) float64) *data.Table {
		return columns(t, 60, names, func(i int, _, b, c, _ float64) []float64 { return []float64{first(i), b, c} })
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(60)
	for name, first := range map[string]func(i int) float64{
		"rows": func(i int) float64 { return 1000 + float64(i) }, "time": func(i int) float64 { return 0.1 * float64(i) },
		"rising": func(i int) float64 { return float64(i*i + 5) }, "shuffled": func(i int) float64 { return float64(order[i]) },
		"named": func(i int) float64 { return float64(i*7919%60013) * 17 },
	} {
		f := only(t, with(first), diagnose.Setting{})
		require.Equal(t, "identifier", f.Kind, name)
		require.Contains(t, f.Message, "leave it out (ReadOptions.Exclude id)")
	}
	names = []string{"income", "b", "c"}
	require.Empty(t, find(t, with(func(i int) float64 { return float64(i * 7919 % 60013) }), diagnose.Setting{}), "different by chance")
	f := only(t, columns(t, 60, names, func(i int, _, b, c, _ float64) []float64 { return []float64{math.Round(5 * b), b, c} }), diagnose.Setting{})
	require.NotEqual(t, "identifier", f.Kind, "numbers that come twice: %s", f.Message)
}

func TestTooSkewedForBound(t *testing.T) {
	names := []string{"zinc", "b"}
	table := columns(t, 300, names, func(_ int, a, b, _, _ float64) []float64 { return []float64{math.Exp(4 + 1.2*a), b} })
	s := domain.All(2)
	s.Lower[0] = 0
	f := only(t, table, diagnose.Setting{Domain: s})
	require.Equal(t, "bound", f.Kind)
	x := table.Column(0)
	mean, sd := stat.MeanStdDev(x, nil)
	require.Contains(t, f.Message, fmt.Sprintf("zinc (bound 0, mean %.4g, standard deviation %.4g)", mean, sd))
	require.Contains(t, f.Message, "Spec.Transform zinc=log")
	spec, err := transform.Parse([]string{"zinc=log"})
	require.NoError(t, err)
	functions, err := spec.Fit(table, s)
	require.NoError(t, err)
	require.Empty(t, find(t, table, diagnose.Setting{Domain: s, Transform: functions}))

	upper := columns(t, 300, names, func(_ int, a, b, _, _ float64) []float64 { return []float64{-math.Exp(4 + 1.2*a), b} })
	s = domain.All(2)
	s.Upper[0] = 0
	require.Contains(t, only(t, upper, diagnose.Setting{Domain: s}).Message, "Spec.Transform zinc=npn")

	require.Equal(t, "skewed", only(t, table, diagnose.Setting{}).Kind, "without a bound it is a note")
	require.Equal(t, diagnose.Note, only(t, table, diagnose.Setting{}).Severity)
}

func TestFewness(t *testing.T) {
	names := []string{"a", "b", "c"}
	plain := func(_ int, a, b, c, _ float64) []float64 { return []float64{a, b, c} }
	require.EqualError(t, diagnose.Refusal(columns(t, 3, names, plain)), "only 3 rows have a value: at least 4 are needed for a correlation")
	require.NoError(t, diagnose.Refusal(columns(t, 4, names, plain)))
	f := only(t, columns(t, 12, names, plain), diagnose.Setting{})
	require.Contains(t, f.Message, "only 12 rows: independent columns show correlations up to 0.57", "tanh(1.96/√9)")
	require.Empty(t, find(t, columns(t, 19, names, plain), diagnose.Setting{}))

	var wide []string
	for j := range 40 {
		wide = append(wide, fmt.Sprintf("x%d", j))
	}
	rng := stream.New(2)
	square := columns(t, 30, wide, func(int, float64, float64, float64, float64) []float64 {
		row := make([]float64, 40)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		return row
	})
	require.Equal(t, diagnose.Note, only(t, square, diagnose.Setting{}).Severity)
	require.Equal(t, diagnose.Warning, only(t, square, diagnose.Setting{Unpenalised: true}).Severity)

	rare := columns(t, 100, names, plain)
	for i := 8; i < 100; i++ {
		rare.Observed[3*i+2] = false
	}
	f = only(t, rare, diagnose.Setting{})
	require.Equal(t, "seldom-observed", f.Kind)
	require.Contains(t, f.Message, "column c is observed in fewer than 19 of 100 rows (minimum: 8)")
	require.Contains(t, f.Message, "leave it out (ReadOptions.Exclude c)")
	two, err := rare.Select([]string{"a", "c"}) // without c nothing is left to estimate
	require.NoError(t, err)
	f = only(t, two, diagnose.Setting{})
	require.Contains(t, f.Message, "are mostly noise; get more rows, or treat the result as exploratory")
	require.NotContains(t, f.Message, "exclude")

	rare.Sampled = &data.Sampled{Rows: 10_000, Own: []int{10_000, 10_000, 800}} // 100 of 10 000
	require.Empty(t, find(t, rare, diagnose.Setting{}))
	square.Sampled = &data.Sampled{Rows: 10_000, Own: slices.Repeat([]int{10_000}, 40)}
	require.Empty(t, find(t, square, diagnose.Setting{Unpenalised: true}))
	rare.Sampled, square.Sampled = nil, nil

	f = only(t, columns(t, 100, names, func(_ int, a, b, c, _ float64) []float64 {
		return []float64{max(-2, min(2, math.Round(a))), math.Copysign(0.5, b), c}
	}), diagnose.Setting{})
	require.Equal(t, "few-values", f.Kind)
	require.Contains(t, f.Message, "columns a and b have only 2 to 5 different values")
	require.Contains(t, f.Message, "for ordered levels add Spec.Transform=ordinal a,b")

	f = only(t, columns(t, 200, names, func(_ int, a, b, c, _ float64) []float64 { return []float64{max(a, -1), b, c} }), diagnose.Setting{})
	require.Equal(t, "limit", f.Kind)
	require.Contains(t, f.Message, "a (-1, ")
}

func TestOrdinalColumns(t *testing.T) {
	names := []string{"a", "b", "c"}
	ordinal := func(t *testing.T, row func(i int, a, b, c, d float64) []float64) []diagnose.Finding {
		table := columns(t, 300, names, row)
		functions, err := transform.Spec{Columns: map[string]string{"a": "ordinal", "b": "ordinal"}}.Fit(table, nil)
		require.NoError(t, err)
		return find(t, table, diagnose.Setting{Transform: functions})
	}
	require.Empty(t, ordinal(t, func(_ int, a, b, c, _ float64) []float64 {
		return []float64{max(-2, min(2, math.Round(a))), math.Copysign(0.5, b), c}
	}))
	found := ordinal(t, func(i int, a, b, c, _ float64) []float64 {
		rare := 0.
		if i < 3 {
			rare = 1
		}
		return []float64{math.Round(4 * max(-2, min(2, a))), math.Copysign(0.5, b) + rare, c}
	})
	require.Len(t, found, 2)
	require.Equal(t, "categories", found[0].Kind)
	require.Contains(t, found[0].Message, "column a has more than 12 categories (the maximum is 40): as a number (without Spec.Transform=ordinal) it gives")
	require.Contains(t, found[1].Message, "a category with fewer than 5 cells")
	require.Contains(t, found[1].Columns, "b")
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

func TestNaturalFunctions(t *testing.T) {
	table := columns(t, 200, []string{"kids", "income", "c"}, func(_ int, a, b, c, _ float64) []float64 {
		return []float64{max(0, math.Round(1+a)), math.Exp(1.5 * b), c}
	})
	require.Len(t, find(t, table, diagnose.Setting{}), 2, "few values, skewed")
	natural, err := transform.Spec{Columns: map[string]string{"kids": "npn", "income": "log"}}.Fit(table, nil)
	require.NoError(t, err)
	require.Empty(t, find(t, table, diagnose.Setting{Natural: natural}))
}

func TestCellsNone(t *testing.T) {
	table := columns(t, 60, []string{"a", "b"}, func(_ int, a, b, _, _ float64) []float64 { return []float64{a, b} })
	table.Nones = map[string]int{"b": 7}
	require.Equal(t, diagnose.Finding{Kind: "none-cells", Severity: diagnose.Note, Columns: []string{"b"},
		Message: "cells None are read as missing (7 of b): if None is a level, list the marks of missing cells without it (ReadOptions.NA NA)"}, only(t, table, diagnose.Setting{}))
}

func TestLevelsWithoutAColumn(t *testing.T) {
	table := columns(t, 60, []string{"source", "a", "b"}, func(i int, a, b, _, _ float64) []float64 { return []float64{float64(i % 3), a, b} })
	table.Kinds, table.Levels = []data.Kind{data.Nominal, data.Number, data.Number}, [][]string{{"x", "y", "z"}, nil, nil}
	kinds := func() (all []string) {
		found, err := diagnose.Table(table, diagnose.Setting{})
		require.NoError(t, err)
		for _, f := range found {
			all = append(all, f.Kind)
			if f.Kind == "apart-levels" {
				require.Equal(t, []string{"b", "source"}, f.Columns)
				require.Equal(t, "never observed: b where source is y: their edges, and imputations there, rest on the model alone", f.Message)
			}
		}
		return all
	}
	require.NotContains(t, kinds(), "apart-levels")
	for i := 1; i < 60; i += 3 {
		table.Observed[3*i+2] = false
	}
	require.Contains(t, kinds(), "apart-levels")
	table.Observed[3*1+2] = true
	require.NotContains(t, kinds(), "apart-levels", "one row shows both")
}
