package data_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/memory"
)

type endless struct {
	b    byte
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if e.left > 0 {
		n = min(n, e.left)
		e.left -= n
	}
	for i := range p[:n] {
		p[i] = e.b
	}
	return n, nil
}

func TestReadingIsBounded(t *testing.T) {
	read := func(r io.Reader) error {
		_, err := data.ParseCSV(r, "t.csv", data.ReadOptions{})
		return err
	}
	require.ErrorContains(t, read(&endless{b: 0, left: -1}), "t.csv:1: not a text in UTF-8")
	require.EqualError(t, read(io.MultiReader(strings.NewReader("a,b\n1,2\n"), &endless{b: '7', left: -1})),
		"t.csv:3: the line is longer than 67.1 MB: a table has a line for each row")
	require.ErrorContains(t, read(&endless{b: '\n', left: -1}), "t.csv: it begins with more than 67.1 MB of blank lines")
	t.Setenv(memory.Variable, "20MB")
	require.ErrorContains(t, read(io.MultiReader(strings.NewReader("a\n\""), &endless{b: '\n', left: -1})), "of memory, but only 20 MB is available")
}

// Many short rows need much more memory than their text.
func TestRowsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	fmt.Fprint(z, "a\n0\n", strings.Repeat("1\n", 2_000_000))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
	table, err := data.ReadCSV(path, data.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 2_000_001, table.N)

	t.Setenv(memory.Variable, "20MB")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = data.ReadCSV(path, data.ReadOptions{})
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "t.csv.gz, read up to line ")
	require.ErrorContains(t, err, "of memory, but only 20 MB is available: take fewer rows")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200e6))
}

func TestTextInParts(t *testing.T) {
	text := "\ufeffα,β,𝒳\n1,2,3\n4,5,6\n"
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		table, err := data.ParseCSV(r, "t.csv", data.ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"α", "β", "𝒳"}, table.Names)
	}
	long := "a,b\n" + strings.Repeat("1,2\n3,4\n", 5000)
	for _, bad := range []string{"\xff", "\xc3", "\xf0\x9d\x92", "\x00"} {
		for _, r := range []io.Reader{strings.NewReader(long + bad), iotest.OneByteReader(strings.NewReader(long + bad + "\n"))} {
			_, err := data.ParseCSV(r, "t.csv", data.ReadOptions{})
			require.ErrorContains(t, err, "t.csv:10002: not a text in UTF-8")
		}
	}
}
