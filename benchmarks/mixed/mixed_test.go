package mixed

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/gaps"
	"missingscore/data"
	"missingscore/internal/stream"
)

// Two numbers with an edge have the partial correlation ±0.4 in both truths.
func TestTruthsOfNumbers(t *testing.T) {
	a := mat.NewSymDense(2, []float64{0, 1, 1, 0})
	for name, truth := range truths {
		values, err := truth(a, []int{1, 1}, 4000, stream.New(1, stream.Simulate))
		require.NoError(t, err)
		var x, y []float64
		for i := range 4000 {
			x, y = append(x, values[2*i]), append(y, values[2*i+1])
		}
		require.InDelta(t, 0.4, math.Abs(stat.Correlation(x, y, nil)), 0.05, name)
		require.InDelta(t, 1/(1-0.16), stat.Variance(x, nil), 0.1, name)
	}
}

// Two binary columns with an edge have the log odds ratio 4w for any a.
func TestPairwiseOfTwoLevels(t *testing.T) {
	a := mat.NewSymDense(2, []float64{0, 1, 1, 0})
	values, err := pairwise(a, []int{2, 2}, 4000, stream.New(2, stream.Simulate))
	require.NoError(t, err)
	var odds [2][2]float64
	for i := range 4000 {
		odds[int(values[2*i])][int(values[2*i+1])]++
	}
	require.InDelta(t, 4*0.4, math.Log(odds[0][0]*odds[1][1]/odds[0][1]/odds[1][0]), 0.25)
}

// With m = 0 each of K levels has probability 1/K.
func TestChosenLevels(t *testing.T) {
	rng := stream.New(3, stream.Simulate)
	count := make([]float64, 5)
	for range 20000 {
		z := make([]float64, 4)
		for k := range z {
			z[k] = rng.NormFloat64()
		}
		count[chosen(z, make([]float64, 4))]++
	}
	for _, c := range count {
		require.InDelta(t, 0.2, c/20000, 0.015)
	}
}

func TestSimulatedTable(t *testing.T) {
	d := design{Truth: "latent", Graph: "chain", Columns: 7, Rows: 200}
	truth, whole, err := d.simulate(1)
	require.NoError(t, err)
	require.Equal(t, 6, truth.Count())
	require.True(t, truth.Has(2, 3))
	numbers := 0
	for j := range 7 {
		if levels := data.Coded(whole, j); levels == nil {
			numbers++
		} else {
			for i := range 200 {
				require.Less(t, int(whole.Values[i*7+j]), len(levels))
			}
		}
	}
	require.Equal(t, 2, numbers)
	hidden, err := hide(gaps.Law{Missing: 0.2}, whole, 1)
	require.NoError(t, err)
	require.Equal(t, whole.Levels, hidden.Levels)
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, write(path, hidden))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Regexp(t, `^x1,x2,x3,x4,x5,x6,x7\n`, string(text))
}

// By hand: a nominal cell b with draws b, b, c, a, and the number 1 with draws 0, 0, 2, 4.
func TestMeasure(t *testing.T) {
	whole := &data.Table{Names: []string{"x", "y"}, N: 3, D: 2, Values: []float64{1, 1, 0, 0, 2, 2},
		Observed: []bool{true, true, true, true, true, true}, Kinds: []data.Kind{data.Number, data.Nominal}, Levels: [][]string{nil, {"a", "b", "c"}}}
	hidden := *whole
	hidden.Observed = []bool{false, false, true, true, true, true}
	_, scale := data.Standardise(codes(whole))
	sd := scale.Deviation[0]
	got := measure(whole, &hidden, [][]float64{{0, 0, 2, 4}, {1, 1, 2, 0}})
	far, apart := 6./4, (0+2+2+4+4+2.)/12
	require.Equal(t, []string{"1", "1.00000", text(-math.Log(3. / 7)), "0", "-", "-", "1", text(0.5 / sd), text((far - apart) / sd), "1.00000"}, got)
	point := measure(whole, &hidden, [][]float64{{0}, {2}})
	require.Equal(t, []string{"1", "0.00000", "-", "0", "-", "-", "1", text(1 / sd), "-", "-"}, point)
}

func text(x float64) string { return share(x, 1, true) }

func TestReadDraws(t *testing.T) {
	table := &data.Table{Names: []string{"x", "y"}, N: 2, D: 2, Values: make([]float64, 4), Observed: []bool{false, true, true, false},
		Kinds: []data.Kind{data.Number, data.Nominal}, Levels: [][]string{nil, {"a", "b", "c"}}}
	path := filepath.Join(t.TempDir(), "completed.csv")
	put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	put(".imp,.id,x,y\n0,1,NA,a\n0,2,3,NA\n1,1,-1.5,a\n1,2,3,c\n2,1,7,a\n2,2,3,b\n")
	got, err := readDraws(path, table, 2)
	require.NoError(t, err)
	require.Equal(t, [][]float64{{-1.5, 7}, {2, 1}}, got)
	put(".imp,.id,x,y\n1,2,3,z\n")
	_, err = readDraws(path, table, 1)
	require.ErrorContains(t, err, `column y has "z" in row 2 of draw 1`)
}

func TestReadEdges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edges.csv")
	require.NoError(t, os.WriteFile(path, []byte("from,to,weight\nc,a,0.2\n"), 0o600))
	a, err := readEdges(path, []string{"a", "b", "c"})
	require.NoError(t, err)
	require.True(t, a.Has(0, 2))
	require.Equal(t, 1, a.Count())
}

// stand replaces missingscore; it fails on tables with a level "yes".
const stand = `#!/bin/sh
[ "$1" = --version ] && echo 'stand 1.0' && exit 0
grep -q yes "$2" && echo 'no network' >&2 && exit 1
mkdir -p "$4"; printf 'from,to\nx1,x3\n' > "$4/edges.csv"; echo 'One edge.'; exit 3
`

func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stand")
	require.NoError(t, os.WriteFile(path, []byte(stand), 0o700))
	t.Setenv(ProgramVariable, path)
	table := &data.Table{Names: []string{"x1", "x2", "x3"}, N: 2, D: 3, Values: []float64{1, 0, 2, 3, 1, 4}, Observed: []bool{true, true, true, true, true, true},
		Kinds: []data.Kind{data.Number, data.Binary, data.Number}, Levels: [][]string{nil, {"no", "yes"}, nil}}
	_, _, _, err := networkMethod{}.byProgram(t.Context(), table, 1)
	require.ErrorContains(t, err, "exit 1: no network")
	found, _, version, err := networkMethod{Coded: true}.byProgram(t.Context(), table, 1)
	require.NoError(t, err)
	require.Equal(t, "stand 1.0", version)
	require.True(t, found.Has(0, 2))
	values, err := byDefaults(t.Context(), "a table", []string{"network"}, func(_ context.Context, path string) error { return write(path, codes(table)) })
	require.NoError(t, err)
	require.Equal(t, []string{"3", "One edge."}, []string{values[0], values[4]})
}
