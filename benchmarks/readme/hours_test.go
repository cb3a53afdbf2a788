package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

// A path that two cells share counts once.
func TestStoredSeconds(t *testing.T) {
	r := cells.Results{Columns: []string{"replicate", "method", secondsColumn, pathColumn}, Lines: [][]string{
		{"1", "model", "0.5", "10"}, {"1", "robust", "0.25", "10"}, {"2", "model", "1", "20"},
	}}
	sum, err := storedSeconds("", r)
	require.NoError(t, err)
	require.Equal(t, 31.75, sum)
	r.Columns[3] = "another"
	sum, err = storedSeconds("", r)
	require.NoError(t, err)
	require.Equal(t, 1.75, sum)
	r.Lines[0][2] = "-"
	_, err = storedSeconds("", r)
	require.ErrorContains(t, err, "column seconds")
}

func TestPrices(t *testing.T) {
	dir := t.TempDir()
	write := func(lines string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "seconds.csv"), []byte("experiments,methods,seconds,from\n"+lines), 0o644))
	}
	write("one two,\"iw, held out; em\",2,x\ntwo,,0.5,y\n")
	p, err := readPrices(dir)
	require.NoError(t, err)
	r := cells.Results{Columns: []string{"replicate", "method"}, Lines: [][]string{{"1", "iw, held out"}, {"1", "em"}, {"2", "em"}}}
	sum, err := p.estimate("one", r)
	require.NoError(t, err)
	require.Equal(t, 6.0, sum)
	r.Lines = append(r.Lines, []string{"3", "var"})
	sum, err = p.estimate("two", r)
	require.NoError(t, err)
	require.Equal(t, 6.5, sum)
	_, err = p.estimate("one", r)
	require.EqualError(t, err, "seconds.csv has no seconds of a cell of var")
	write("one,em,1,x\none two,em,2,y\n")
	_, err = readPrices(dir)
	require.EqualError(t, err, `seconds.csv: one, "em" stands there twice`)
}
