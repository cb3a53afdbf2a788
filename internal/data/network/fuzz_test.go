package network_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/internal/data/network"
	"missingscore/internal/fuzztest"
)

func FuzzReadPrecision(f *testing.F) {
	names := []string{"b", "a"}
	whole := fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return network.ReadPrecision(path, nil) })
	fuzztest.Reader[*mat.SymDense]{
		Read: fuzztest.InFile(f, "truth.csv", func(path string) (*mat.SymDense, error) { return network.ReadPrecision(path, names) }),
		Write: func(p *mat.SymDense) (string, error) {
			var text strings.Builder
			err := network.WritePrecision(&text, names, p)
			return text.String(), err
		},
		Check: func(t testing.TB, text string, p *mat.SymDense) {
			all, err := whole(text)
			require.NoError(t, err, "%q", text)
			require.GreaterOrEqual(t, all.SymmetricDim(), p.SymmetricDim())
		},
		Accepts: []string{"a,b\n2,0.5\n0.5,1\n", "b,a,c\n1,0,0\n0,1e-300,0\n0,0,-3\n", "\ufeffa,b\r\n 2,0.5\r\n0.5 ,1", "a,b\n\"2\",1e308\n1e308,1\n",
			"a,b\n1,100000000\n100000000.5,1\n", "a,b\n4,1e-17\n-3e-17,9\n"},
		Refuses: []string{"", "\n", "a,b\n", "a,b\n1,2\n", "a,b\n1,2\n3,4\n", "a,b\n1,2\n2,1\n1,1\n", "a,b\n1,NaN\nNaN,1\n", "a,b\n1,1e999\n1e999,1\n", "a,a\n1,0\n0,1\n", ",a,b\na,1,0\nb,0,1\n", "a,c\n1,0\n0,1\n", "a,b\n1,x\nx,1\n", "a,b\n1,\"0\n0,1\n", "a,b\n1,\xff\n0,1\n", "a,b\n1,0,0\n0,1\n", "a,b\n0,0\n1e-320,0\n"},
	}.Fuzz(f)
}
