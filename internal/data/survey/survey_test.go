package survey_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	_ "missingscore/data/parquet"
	"missingscore/internal/atomicfile"
	"missingscore/internal/data/survey"
	"missingscore/internal/stream"
)

func uneven(n int) *data.Table {
	t := &data.Table{Names: []string{"a", "b", "c", "d"}, N: n, D: 4}
	rng := stream.New(3, 1)
	for range n {
		z := rng.NormFloat64()
		t.Values = append(t.Values, z, 1e6+z+rng.NormFloat64(), 1e-9*rng.ExpFloat64(), -3*z)
		t.Observed = append(t.Observed, true, rng.Float64() < 0.7, rng.Float64() < 0.3, z > -1)
	}
	return t
}

func taken(t *testing.T, path string, block, workers int) *survey.Survey {
	t.Helper()
	f, err := data.OpenRows(path, data.ReadOptions{}, block)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	s, err := survey.Take(t.Context(), f, survey.Options{Seed: 2, Workers: workers})
	require.NoError(t, err)
	return s
}

// With one block scale and counts equal the table's bit for bit, for any workers and format.
func TestSurvey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	table := uneven(5000)
	require.NoError(t, data.WriteCSV(path, table))
	_, scale := data.Standardise(table)
	about := data.RootMeanSquareScale(table, 1)
	one := taken(t, path, 0, 1)
	for j, c := range one.Columns {
		mean, deviation := c.MeanDeviation()
		require.Equal(t, scale.Mean[j], mean)
		require.Equal(t, scale.Deviation[j], deviation)
		require.Equal(t, about.Deviation[j], c.Norm/math.Sqrt(float64(c.Number)))
	}
	require.Equal(t, table.Values[0], one.Sample.Values[0]) // the sample has all rows
	require.Equal(t, table.N, one.Sample.N)
	for _, block := range []int{33, 1000} {
		s := taken(t, path, block, 3)
		for j, c := range s.Columns {
			mean, deviation := c.MeanDeviation()
			require.InEpsilon(t, scale.Mean[j], mean, 1e-13)
			require.InEpsilon(t, scale.Deviation[j], deviation, 1e-13)
			x := table.Column(j)
			require.Equal(t, []float64{slices.Min(x), slices.Max(x)}, []float64{c.Low, c.High})
			require.Equal(t, len(x), c.Number)
			require.InEpsilon(t, about.Deviation[j], c.Norm/math.Sqrt(float64(c.Number)), 1e-13)
		}
		require.Equal(t, table.PairCounts(), s.Sample.PairCounts())
		require.Equal(t, table.Missing(), s.Sample.Missing())
		require.Equal(t, one.Sample.Sampled, s.Sample.Sampled)
		require.Equal(t, block, s.Before[1])
		require.Equal(t, s, taken(t, path, block, 1))
		parquet := filepath.Join(dir, "t.parquet")
		values := slices.Clone(table.Values)
		for k, seen := range table.Observed {
			if !seen {
				values[k] = math.NaN()
			}
		}
		require.NoError(t, data.WriteNumbers(atomicfile.Write, parquet, table.Names, values))
		other := taken(t, parquet, block, 2)
		other.Sample.Lines = s.Sample.Lines
		require.Equal(t, s, other)
	}
}

// The mean row number is within four standard errors, for any blocks.
func TestSample(t *testing.T) {
	const n, drawn = 70_000, 50_000
	var rows, rareRows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "%d,%d\n", i, i%7)
		fmt.Fprintf(&rareRows, "%d,%d,%s\n", i, i%7, map[int]string{4: "1", 5: "2"}[i])
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("i,b\n"+rows.String()), 0o600))
	s := taken(t, path, 0, 2)
	require.Equal(t, drawn, s.Sample.N)
	require.True(t, slices.IsSorted(s.Sample.Lines))
	require.InDelta(t, (n-1)/2., stat.Mean(s.Sample.Column(0), nil), 4*n/math.Sqrt(12*drawn)*math.Sqrt(1-float64(drawn)/n))
	require.Equal(t, s.Sample, taken(t, path, 999, 2).Sample)

	require.NoError(t, os.WriteFile(path, []byte("i,b,rare\n"+rareRows.String()), 0o600))
	f, err := data.OpenRows(path, data.ReadOptions{}, 0)
	require.NoError(t, err)
	_, err = survey.Take(t.Context(), f, survey.Options{Seed: 1})
	require.ErrorContains(t, err, `column "rare" has a value in 2 of 70000 rows and is constant in a sample of 50000 rows`)
	require.NoError(t, f.Close())
	for text, words := range map[string]string{
		"a,b\n1,5\n2,5\n3,\n": `column "b": constant, every observed value is 5`,
		"a,b\n1,\n2,\n3,\n":   `column "b": no observed value`,
		"a,b\n1,2\n":          "only 1 rows have a value",
		"a,b\n1,2\n,x\n2,3\n": `:3: column "b": "x" is not a number`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		f, err := data.OpenRows(path, data.ReadOptions{}, 0)
		require.NoError(t, err)
		_, err = survey.Take(t.Context(), f, survey.Options{})
		require.ErrorContains(t, err, words)
		require.NoError(t, f.Close())
	}
}
