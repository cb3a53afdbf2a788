package star

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/trainers"
)

// By hand: of rows (1, 2, ·), (2, 1, 5), (3, ·, 7), (6, 6, 6), over those that have both.
func TestCorrelationsOfPairs(t *testing.T) {
	nan := math.NaN()
	c := correlations(&data.Table{N: 4, D: 3, Values: []float64{1, 2, nan, 2, 1, 5, 3, nan, 7, 6, 6, 6},
		Observed: []bool{true, true, false, true, true, true, true, false, true, true, true, true}})
	require.InDelta(t, 13/14., c.At(0, 1), 1e-12)               // deviations −2 −1 3 and −1 −2 3
	require.InDelta(t, 1, c.At(1, 2), 1e-12)                    // two rows, both rise
	require.InDelta(t, 1/math.Sqrt(26./3*2), c.At(0, 2), 1e-12) // deviations −5/3 −2/3 7/3 and −1 1 0
}

func TestPartialCorrelationsAndRanks(t *testing.T) {
	p := mat.NewSymDense(3, []float64{2, -1, 0, -1, 4, 0.2, 0, 0.2, 1})
	got := partialCorrelations(p)
	require.InDelta(t, 1/math.Sqrt(8), got.At(0, 1), 1e-12)
	require.InDelta(t, -0.1, got.At(1, 2), 1e-12)
	require.InDelta(t, 0, got.At(0, 2), 1e-12)

	of, err := rankedBy(got, simulate.Gaussian{Precision: p}) // edges 01 and 12, before 02
	require.NoError(t, err)
	require.Equal(t, 1.0, of)
	got.SetSym(0, 2, 0.2) // between them
	of, err = rankedBy(got, simulate.Gaussian{Precision: p})
	require.NoError(t, err)
	require.InDelta(t, 0.5, of, 1e-12)
}

// probability that an edge has the larger of two partial correlations: the AUC by its meaning.
func probability(precision mat.Symmetric, truth simulate.Gaussian) float64 {
	var of [2][]float64 // pairs without and with an edge
	for j := range precision.SymmetricDim() {
		for k := range j {
			edge := 0
			if truth.Precision.At(j, k) != 0 {
				edge = 1
			}
			of[edge] = append(of[edge], math.Abs(precision.At(j, k))/math.Sqrt(precision.At(j, j)*precision.At(k, k)))
		}
	}
	sum := 0.0
	for _, with := range of[1] {
		for _, without := range of[0] {
			switch {
			case with > without:
				sum++
			case with == without:
				sum += 0.5
			}
		}
	}
	return sum / float64(len(of[0])*len(of[1]))
}

// On the small size, the path's AUC is that of the experiment's cells.
func TestRanking(t *testing.T) {
	text, err := Ranking.SettingsOf("smoke")
	require.NoError(t, err)
	s, err := decode(text)
	require.NoError(t, err)
	rank, err := rankingGrid(text, 1)
	require.NoError(t, err)
	same, err := grid(text, 1)
	require.NoError(t, err)
	results := cells.Results{Columns: rank.Columns()}
	for _, c := range rank.Cells {
		values, err := c.Run(t.Context())
		require.NoError(t, err)
		results.Lines = append(results.Lines, slices.Concat(c.Key, values))
		method, at := c.Key[3], setting{treatment: s.Treatments[0], columns: s.Columns[0], centres: s.Centres[0]}
		if method == byMarginal || method == byPartial {
			require.Equal(t, "-", values[0])
			require.Equal(t, "-", values[2])
			continue
		}
		require.Equal(t, method == full, values[2] == "-")
		i := slices.IndexFunc(same.Cells, func(of cells.Cell) bool { return of.Key[2] == c.Key[1] && of.Key[5] == method })
		path, err := same.Cells[i].Run(t.Context())
		require.NoError(t, err)
		require.Equal(t, path[0], values[0])
		at.missing, err = strconv.ParseFloat(c.Key[1], 64)
		require.NoError(t, err)
		truth, support, table, err := s.simulate(at, 1)
		require.NoError(t, err)
		if method != full {
			table, err = hide(table, at, 1)
			require.NoError(t, err)
		}
		found, err := s.path(t.Context(), at.treatment, s.config(method), table, support, 1)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%.6f", probability(found.Network.Precision, truth)), values[1])
	}
	tables, err := rankingTables(text, results)
	require.NoError(t, err)
	require.Equal(t, []string{"missing", "Full, path", "Marg-Exact, path", "Marg-Var, path", "Zeroed, path", "Marg-Exact, imputed", "Marg-Var, imputed", "Zeroed, imputed",
		"pairwise, marginal", "pairwise, partial", "Full, sizes", "Marg-Exact, sizes", "Marg-Var, sizes", "Zeroed, sizes"}, tables[0].Header)
	require.Len(t, tables[0].Lines, len(s.Missing))
	_, err = rankingGrid([]byte(strings.ReplaceAll(string(text), `{"name":"full","method":"full"},`, "")), 1)
	require.ErrorContains(t, err, `"full" is needed`)
}

// The gaps are drawn given the row's other cells: x_2 | x_1 ~ N(μ_2 − P_12/P_22 (x_1 − μ_1), 1/P_22).
func TestImputed(t *testing.T) {
	const n = 500
	table := &data.Table{Names: []string{"a", "b"}, N: n, D: 2}
	for range n {
		table.Values, table.Observed = append(table.Values, 3, math.NaN()), append(table.Observed, true, false)
	}
	path := &trainers.Result{
		Spec:    trainers.Spec{Domain: domain.All(2)},
		Network: &trainers.NetworkResult{Mean: []float64{1, -1}, Precision: mat.NewSymDense(2, []float64{2, -1, -1, 4})},
	}
	got, err := impute(table, path, 1)
	require.NoError(t, err)
	require.Equal(t, 10*n, got.N)
	var drawn []float64
	for i := range got.N {
		require.Equal(t, 3.0, got.Values[2*i])
		require.True(t, got.Observed[2*i+1])
		drawn = append(drawn, got.Values[2*i+1])
	}
	mean, variance := stat.MeanVariance(drawn, nil)
	require.InDelta(t, -0.5, mean, 4.5*0.5/math.Sqrt(10*n))
	require.InDelta(t, 0.25, variance, 4.5*0.25*math.Sqrt(2/(10.*n)))
}
