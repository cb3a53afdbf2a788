package data_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/atomicfile"
)

func TestCells(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	require.NoError(t, os.WriteFile(in, []byte("name;b;a\n\"x; y\";1.50;\n\nz;NA;3e0\n;;\n"), 0o600))
	c, err := data.ReadCells(in, data.ReadOptions{Columns: []string{"a", "b"}, Comma: ';'})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1}, c.Columns)
	require.Equal(t, []float64{0, 1.5, 3, 0, 0, 0}, c.Table.Values)
	require.Equal(t, []bool{false, true, true, false, false, false}, c.Table.Observed)
	require.Equal(t, []int{2, 4, 5}, c.Table.Lines)

	out := filepath.Join(dir, "out.csv")
	read := func() string {
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, c.WriteCompleted(atomicfile.Write, out, []float64{7, 99, 99, 8.25, -1, -2}, 1))
	require.Equal(t, "name;b;a\n\"x; y\";1.50;7\nz;8.25;3e0\nNA;-2;-1\n", read())
	require.NoError(t, c.WriteCompleted(atomicfile.Write, out, []float64{7, 99, 17, 99, 99, 8.25, 99, 18.25, -1, -2, -11, -12}, 2))
	require.Equal(t, ".imp;.id;name;b;a\n0;1;\"x; y\";1.50;NA\n0;2;z;NA;3e0\n0;3;NA;NA;NA\n1;1;\"x; y\";1.50;7\n1;2;z;8.25;3e0\n1;3;NA;-2;-1\n2;1;\"x; y\";1.50;17\n2;2;z;18.25;3e0\n2;3;NA;-12;-11\n", read())

	for columns, message := range map[string]string{"c": `in.csv:1: no column "c", which the model needs; there are: name, b, a`, "name": `in.csv:2: column "name": "x; y" is not a number`} {
		_, err := data.ReadCells(in, data.ReadOptions{Columns: []string{columns}, Comma: ';'})
		require.ErrorContains(t, err, message)
	}
}
