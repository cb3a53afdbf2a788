package network

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func save(t *testing.T, name string, text []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, text, 0o644))
	return path
}

func TestPrecisionRoundTrip(t *testing.T) {
	p := mat.NewSymDense(3, []float64{1.0 / 3, -1e-300, 0, -1e-300, 2, 0.1 + 0.2, 0, 0.1 + 0.2, 5e7})
	names := []string{`a, "b"`, " <c>", "größe\u202e"}
	var b bytes.Buffer
	require.NoError(t, WritePrecision(&b, names, p))
	path := save(t, "p.csv", append([]byte("\ufeff"), b.Bytes()...))
	got, err := ReadPrecision(path, nil)
	require.NoError(t, err)
	require.True(t, mat.Equal(p, got))
	got, err = ReadPrecision(path, []string{names[2], names[0]})
	require.NoError(t, err)
	require.Equal(t, []float64{5e7, 0, 1.0 / 3}, []float64{got.At(0, 0), got.At(0, 1), got.At(1, 1)})
}

func TestReadPrecisionErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		names []string
		want  string
	}{
		"empty":      {"", nil, "p.csv: the file is empty; it needs a first line of column names and a line for each row"},
		"word":       {"a,b\n1,2\n2,\"1,5\"\n", nil, `p.csv:3: column "b": "1,5" is not a finite number`},
		"NaN":        {"a,b\n1,NaN\nNaN,1\n", nil, `p.csv:2: column "b": "NaN" is not a finite number`},
		"infinite":   {"a\nInf\n", nil, `p.csv:2: column "a": "Inf" is not a finite number`},
		"few rows":   {"a,b\n1,2\n", nil, "p.csv: not square: 1 rows, the header has 2 names"},
		"more rows":  {"a,b\n1,2\n2,1\n\n3,4\n", nil, "p.csv: not square: 3 rows, the header has 2 names"},
		"long row":   {"a,b\n1,2,3\n2,1\n", nil, "p.csv:2: expected 2 cells as in the header, found 3; look for a decimal comma, an unquoted separator in a text, or row names without a header"},
		"asymmetric": {"a,b\n1,2\n2.0000001,1\n", nil, `p.csv:3: column "a": not symmetric: 2.0000001 here, 2 in line 2, column "b"`},
		"twice":      {"a,b,a\n1,1,1\n", nil, `p.csv: two columns are named "a" (from R, write with row.names = FALSE)`},
		"R names":    {"\"\",\"a\"\n\"a\",1\n", nil, "p.csv: column 1 has no name (from R, write with row.names = FALSE)"},
		"absent":     {"a,b\n1,0\n0,1\n", []string{"x", "b", "y,z"}, `p.csv: no column named "x", "y,z"`},
		"quote":      {"a,b\n1,\"0\n0,1\n", nil, "p.csv:2: extraneous or missing \" in quoted-field; quote a cell that has a quotation mark, and double the mark: \"5\"\" pipe\""},
	} {
		path := save(t, "p.csv", []byte(c.text))
		_, err := ReadPrecision(path, c.names)
		require.EqualError(t, err, filepath.Dir(path)+"/"+c.want, name)
	}
	_, err := ReadPrecision(filepath.Join(t.TempDir(), "none.csv"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}
