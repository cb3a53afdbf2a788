package regpath

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/graph"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// Least squares on indicators of the columns, by QR.
func TestStrengthsAreShrunkByColumns(t *testing.T) {
	const d, rows = 7, 400.0
	rng := stream.New(1, stream.Simulate)
	p := mat.NewSymDense(d, nil)
	for j := range d {
		p.SetSym(j, j, 1+float64(j))
		for k := range j {
			r := 0.05 * rng.NormFloat64()
			if k == 0 {
				r += 0.25
			}
			p.SetSym(j, k, -r*math.Sqrt(p.At(j, j)*p.At(k, k)))
		}
	}
	pilot := graph.Pack(p)
	size := sizes(pilot, d)
	design, squares := mat.NewDense(len(size), d, nil), mat.NewVecDense(len(size), nil)
	eachPair(d, func(i, j, k int) {
		design.Set(i, j, 1)
		design.Set(i, k, 1)
		squares.SetVec(i, size[i]*size[i])
	})
	var a, fitted mat.VecDense // m is split between the two columns
	require.NoError(t, a.SolveVec(design, squares))
	fitted.MulVec(design, &a)
	m := mat.Sum(squares) / float64(len(size))
	explained, left := 0.0, 0.0
	for i, v := range fitted.RawVector().Data {
		explained += (v - m) * (v - m)
		left += math.Pow(squares.AtVec(i)-v, 2)
	}
	b := 1 - left/float64(len(size)-d)/(explained/(d-1))
	require.Greater(t, b, 0.5)
	for _, rows := range []float64{rows, 20} { // few rows: the median estimates the noise
		noise := min(1/rows, math.Pow(median(size), 2)/math.Pow(distuv.UnitNormal.Quantile(0.75), 2))
		for i, got := range strengths(pilot, d, rows) {
			v := max(m-noise+b*(fitted.AtVec(i)-m), noise/10)
			require.InDelta(t, size[i]*v/(v+noise), got, 1e-12)
		}
	}
}

func TestStrengthsOfAlikeColumnsAreSizes(t *testing.T) {
	g, err := simulate.Graph("chain", 8, 0, 0.3, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	pilot := graph.Pack(g.Precision)
	require.Equal(t, sizes(pilot, 8), strengths(pilot, 8, 100))
	few := []float64{1, -0.3, -0.2, -0.1, 1, 0, 0, 1, 0, 1}
	require.Equal(t, sizes(few, 4), strengths(few, 4, 100), "too few columns to tell")
}
