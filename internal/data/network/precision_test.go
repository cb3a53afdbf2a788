package network

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/fuzztest"
)

func TestPrecisionRoundTrip(t *testing.T) {
	p := mat.NewSymDense(3, []float64{1.0 / 3, -1e-300, 0, -1e-300, 2, 0.1 + 0.2, 0, 0.1 + 0.2, 5e7})
	names := []string{`a, "b"`, " <c>", "größe\u202e"}
	var b bytes.Buffer
	require.NoError(t, WritePrecision(&b, names, p))
	path := filepath.Join(t.TempDir(), "p.csv")
	require.NoError(t, os.WriteFile(path, append([]byte("\ufeff"), b.Bytes()...), 0o644))
	got, err := ReadPrecision(path, nil)
	require.NoError(t, err)
	require.True(t, mat.Equal(p, got))
	got, err = ReadPrecision(path, []string{names[2], names[0]})
	require.NoError(t, err)
	require.Equal(t, []float64{5e7, 0, 1.0 / 3}, []float64{got.At(0, 0), got.At(0, 1), got.At(1, 1)})
	_, err = ReadPrecision(path, []string{"x", names[1], "y,z"})
	require.ErrorContains(t, err, `p.csv: no column named "x", "y,z"`)
	_, err = ReadPrecision(path+"none", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzReadPrecision(f *testing.F) {
	names := []string{"b", "a"}
	whole := fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return ReadPrecision(path, nil) })
	fuzztest.Reader[*mat.SymDense]{
		Read: fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return ReadPrecision(path, names) }),
		Write: func(p *mat.SymDense) (string, error) {
			var text strings.Builder
			err := WritePrecision(&text, names, p)
			return text.String(), err
		},
		Check: func(t testing.TB, text string, p *mat.SymDense) {
			all, err := whole(text)
			require.NoError(t, err, "%q", text)
			require.GreaterOrEqual(t, all.SymmetricDim(), p.SymmetricDim())
		},
		Accepts: []string{"a,b\n2,0.5\n0.5,1\n", "b,a,c\n1,0,0\n0,1e-300,0\n0,0,-3\n", "\ufeffa,b\r\n 2,0.5\r\n0.5 ,1", "a,b\n\"2\",1e308\n1e308,1\n",
			"a,b\n1,100000000\n100000000.5,1\n", "a,b\n4,1e-17\n-3e-17,9\n"},
		Messages: map[string]string{
			"":                        "truth.csv: the file is empty; it needs a first line of column names and a line for each row",
			"a,b\n1,2\n2,\"1,5\"\n":   `truth.csv:3: column "b": "1,5" is not a finite number`,
			"a,b\n1,NaN\nNaN,1\n":     `truth.csv:2: column "b": "NaN" is not a finite number`,
			"a,b\n1,1e999\n1e999,1\n": `truth.csv:2: column "b": "1e999" is not a finite number`,
			"a,b\n":                   "truth.csv: a header but no rows",
			"a,b\n1,2\n":              "truth.csv: not square: 1 rows, the header has 2 names",
			"a,b\n1,2\n2,1\n\n3,4\n":  "truth.csv: not square: 3 rows, the header has 2 names",
			"a,b\n1,2,3\n2,1\n":       "truth.csv:2: expected 2 cells as in the header, found 3; look for a decimal comma",
			"a,b\n1,2\n2.0000001,1\n": `truth.csv:3: column "a": not symmetric: 2.0000001 here, 2 in line 2, column "b"`,
			"a,b\n0,0\n1e-320,0\n":    "not symmetric",
			"a,b,a\n1,1,1\n":          `truth.csv: two columns are named "a" (from R, write with row.names = FALSE)`,
			"\"\",\"a\"\n\"a\",1\n":   "truth.csv: column 1 has no name (from R, write with row.names = FALSE)",
			"a,c\n1,0\n0,1\n":         `truth.csv: no column named "b"`,
			"a,b\n1,\"0\n0,1\n":       `truth.csv:2: extraneous or missing " in quoted-field; quote a cell that has a quotation mark`,
			"a,b\n1,\xff\n0,1\n":      "not a text in UTF-8",
		},
	}.Fuzz(f)
}
