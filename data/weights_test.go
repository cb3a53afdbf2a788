package data_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

func weighing(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// Rows of weight 0 and rows without a value are left out.
func TestReadWeighted(t *testing.T) {
	path := weighing(t, "w.csv", "a,w,b\n1,2,3\n2,0,5\n,1,\n4,4,NA\n5,6,1\n")
	for _, o := range []data.ReadOptions{{}, {Columns: []string{"a", "b"}}, {Exclude: []string{"w"}}} {
		table, err := data.ReadWeighted(path, "w", o)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, table.Names)
		require.Equal(t, []float64{1, 3, 4, 0, 5, 1}, table.Values)
		require.InDeltaSlice(t, []float64{0.5, 1, 1.5}, table.Weights, 1e-15)
		require.InDelta(t, 144./56, table.EffectiveRows(), 1e-14)
		require.Equal(t, []int{2, 5, 6}, table.Lines)
		require.Equal(t, 1, table.Dropped)
	}
	equal, err := data.ReadWeighted(weighing(t, "e.csv", "a;w\n1;7\n2;7\n"), "w", data.ReadOptions{})
	require.NoError(t, err)
	require.Nil(t, equal.Weights)
	require.EqualValues(t, 2, equal.EffectiveRows())
}

func TestWeightsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"a,w\n1,2\n2,-3\n":      `w.csv:3: column "w" of weights: -3 is negative; weights are 0 or more: correct it, or write 0 to leave the row out`,
		"a,w\n1,2\n2,\n":        `w.csv:3: column "w" of weights: the weight is missing: give the row a weight, or 0 to leave it out`,
		"a,w\n1,2\n2,heavy\n":   `w.csv:3: column "w": "heavy"`,
		"a,w\n1,2\n2,Inf\n":     `w.csv:3: column "w": "Inf"`,
		"a,w\n1,0\n2,0\n":       `no row has a value`,
		"a,b\n1,2\n2,3\n":       `no column "w"`,
		"a,w\n1,2\n1,3\n4,0\n":  `constant`,
		"w\n1\n2\n":             `every column is left out`,
		"a,w\n1,2\n2,1e200\n":   `w.csv:3: column "w": "1e200"`,
		"a,w,w\n1,2,2\n2,1,1\n": `two columns are named "w"`,
	} {
		_, err := data.ReadWeighted(weighing(t, "w.csv", text), "w", data.ReadOptions{})
		require.ErrorContains(t, err, want, text)
	}
	var wrong *data.WeightsError
	_, err := data.ReadWeighted(weighing(t, "w.csv", "a,w\n1,2\n2,3\n"), "w", data.ReadOptions{Columns: []string{"a", "w"}})
	require.ErrorAs(t, err, &wrong)
}
