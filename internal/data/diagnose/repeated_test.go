package diagnose_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/data/diagnose"
	"missingscore/internal/stream"
)

func kinds(t *testing.T, table *data.Table, kind string) (found []string) {
	t.Helper()
	for _, f := range find(t, table, diagnose.Setting{}) {
		if f.Kind == kind {
			require.Equal(t, diagnose.Warning, f.Severity)
			found = append(found, f.Message)
		}
	}
	return found
}

func TestMatrixInPlaceOfRows(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	rng := stream.New(1)
	x := mat.NewDense(50, 6, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, x, nil)
	table := func(change func(v float64, i, j int) float64) *data.Table {
		var values []float64
		for i := range 6 {
			for j := range 6 {
				values = append(values, change(covariance.At(i, j), i, j))
			}
		}
		m, err := data.NewTable(names, values, nil)
		require.NoError(t, err)
		return m
	}
	correlation := func(v float64, i, j int) float64 {
		return math.Round(1e4*v/math.Sqrt(covariance.At(i, i)*covariance.At(j, j))) / 1e4
	}
	require.Equal(t, []string{"the table looks like a correlation matrix (symmetric, 1 on the diagonal): its rows are not observations; give the original table"}, kinds(t, table(correlation), "matrix"))
	require.Contains(t, kinds(t, table(func(v float64, _, _ int) float64 { return v }), "matrix")[0], "a covariance matrix")
	require.Empty(t, kinds(t, table(func(v float64, i, j int) float64 { return v + 0.01*float64(i) }), "matrix"), "not symmetric")
	require.Empty(t, kinds(t, table(func(v float64, i, j int) float64 {
		if i+j == 1 {
			return 2 * math.Sqrt(covariance.At(0, 0)*covariance.At(1, 1))
		}
		return v
	}), "matrix"), "a covariance above both variances")
}

func TestRepeatedRows(t *testing.T) {
	names := []string{"a", "b", "c"}
	rng := stream.New(2)
	rows := func(n int, row func() []float64, times func(i int) int) *data.Table {
		var values []float64
		for i := range n {
			r := row()
			for range times(i) {
				values = append(values, r...)
			}
		}
		table, err := data.NewTable(names, values, nil)
		require.NoError(t, err)
		return table
	}
	measured := func() []float64 {
		return []float64{math.Round(1e4*rng.NormFloat64()) / 1e4, math.Round(1e5*rng.NormFloat64()) / 1e5, float64(rng.IntN(2))}
	}
	once := func(int) int { return 1 }
	require.Equal(t, []string{"285 of 300 rows repeat another row exactly: copies make intervals too narrow and add false edges; keep one of each, or give their counts as weights (Table.Weights)"},
		kinds(t, rows(15, measured, func(int) int { return 20 }), "repeated-rows"))
	require.Contains(t, kinds(t, rows(200, measured, func(i int) int { return 1 + i%2 + i%3/2 }), "repeated-rows")[0], "of 366 rows repeat", "by different numbers of copies")
	require.Empty(t, kinds(t, rows(300, measured, once), "repeated-rows"))
	answers := func() []float64 {
		a := 1 + rng.IntN(5)
		return []float64{float64(a), float64(max(1, a-rng.IntN(2))), float64(1 + rng.IntN(3))}
	}
	require.Empty(t, kinds(t, rows(500, answers, once), "repeated-rows"), "answers that are equal by chance")
	var stacked []float64
	for range 3 {
		rng = stream.New(3)
		for range 100 {
			stacked = append(stacked, answers()...)
		}
	}
	table, err := data.NewTable(names, stacked, nil)
	require.NoError(t, err)
	require.Len(t, kinds(t, table, "repeated-rows"), 1, "a table below itself, twice")
	require.Empty(t, kinds(t, rows(500, func() []float64 {
		age := float64(20 + rng.IntN(40))
		return []float64{age, 2020 - age, math.Floor(age / 10)}
	}, once), "repeated-rows"), "columns that tell each other")
	require.Empty(t, kinds(t, rows(300, func() []float64 {
		x := measured()
		if rng.IntN(2) == 0 {
			return []float64{0, 0, x[2]}
		}
		return x
	}, once), "repeated-rows"), "many zeros")
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
