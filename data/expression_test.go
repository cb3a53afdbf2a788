package data_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

const series = "!Series_title\t\"Yeast\"\n!Series_summary\t\"a, \"\"b\"\"\"\n\n!Sample_title\t\"s1\"\t\"s2\"\t\"s3\"\t\"s4\"\n!series_matrix_table_begin\n"

// Genes in rows become columns, marks of a missing cell are missing, and genes seen
// in too few samples go.
func TestReadExpressionSeries(t *testing.T) {
	const table = "\"ID_REF\"\t\"GSM1\"\t\"GSM2\"\t\"GSM3\"\t\"GSM4\"\n" +
		"\"YAL001C\"\t0.5\t\t-1\t2e-1\n" +
		"\"YAL002W\"\t\t\tnull\t\n" +
		"3\t1\t2\t3\t4\n" +
		"\"YAL004W\"\t1\t2\t\t\n!series_matrix_table_end\n"
	folder := t.TempDir()
	plain, packed := filepath.Join(folder, "m.txt"), filepath.Join(folder, "m.txt.gz")
	require.NoError(t, os.WriteFile(plain, []byte(series+table), 0o600))
	f, err := os.Create(packed)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(series + table))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	for _, path := range []string{plain, packed} {
		got, err := data.ReadExpression(path, 0.75, data.ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"YAL001C", "3"}, got.Names)
		require.Equal(t, []float64{0.5, 1, 0, 2, -1, 3, 0.2, 4}, got.Values)
		require.Equal(t, []bool{true, true, false, true, true, true, true, true}, got.Observed)
	}
	got, err := data.ReadExpression(plain, 0, data.ReadOptions{Columns: []string{"YAL004W", "YAL001C"}})
	require.NoError(t, err)
	require.Equal(t, []string{"YAL004W", "YAL001C"}, got.Names)
	require.Equal(t, []float64{1, 0.5, 2, 0, 0, -1, 0, 0.2}, got.Values)
	_, err = data.ReadExpression(plain, 0.95, data.ReadOptions{Columns: []string{"YAL001C"}})
	require.ErrorContains(t, err, "none of the 1 columns is observed in 95 % of the rows")
}

func TestReadExpressionRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.txt")
	const head = "\"ID_REF\"\t\"GSM1\"\t\"GSM2\"\n"
	const end = "!series_matrix_table_end\n"
	for text, want := range map[string]string{
		"!Series_title\n":                          "m.txt: no line !series_matrix_table_begin",
		series + head + "a\t1\t2\n":                "no line !series_matrix_table_end, the file is cut short",
		series + end:                               "m.txt: the file is empty",
		series + head + "a\t1\n" + end:             "m.txt:7: expected 3 cells as in the header, found 2",
		series + head + "a\t1\t2\nb\t1\tx\n" + end: `m.txt:8: column "GSM2": "x" is not a number`,
		series + head + "a\t1\t2\na\t1\t3\n" + end: `m.txt:8: column "ID_REF": "a" stands on line 7 already`,
		series + "gene\tGSM1\na\t1\n" + end:        `m.txt:6: the first column is "gene" instead of "ID_REF"`,
		series + head + "a\t1\t1\n" + end:          `column "a": constant`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := data.ReadExpression(path, 0.95, data.ReadOptions{})
		require.ErrorContains(t, err, want)
	}
}

// A CSV is read with samples in rows.
func TestReadExpressionCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.csv")
	require.NoError(t, os.WriteFile(path, []byte("V1,V2\n1,\n2,3\n,\n4,5\n"), 0o600))
	got, err := data.ReadExpression(path, 0.9, data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"V1"}, got.Names)
	require.Equal(t, []float64{1, 2, 4}, got.Values)
	require.Equal(t, 1, got.Dropped)
}

func TestCompleteRows(t *testing.T) {
	table := parse(t, "a,b\n1,2\n,3\n2,5\n4,\n3,1\n")
	got, err := table.CompleteRows()
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2, 2, 5, 3, 1}, got.Values)
	require.Equal(t, []int{2, 4, 6}, got.Lines)
	_, err = parse(t, "a,b\n1,2\n,3\n2,\n4,\n").CompleteRows()
	require.ErrorContains(t, err, "of 4 rows, 1 are complete: only 1 row has a value")
	_, err = table.Present(1.5)
	require.ErrorContains(t, err, "from 0 to 1")
}
