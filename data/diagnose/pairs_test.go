package diagnose

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Of every two columns 1 − r² over the rows that have both, where these are not like all
// rows, and the sums that it is made of; rows without gaps among them.
func TestPairSums(t *testing.T) {
	const n, d = 1400, 3
	rng := stream.New(8)
	e := &examined{after: &data.Table{N: n, D: d}, units: []unit{{1, 2}, {-3, 0.5}, {0, 1}}}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x := []float64{1 + 2*a, -3 + 0.5*(0.8*a+0.6*b), b + 0.3*rng.NormFloat64()}
		for j := range x {
			e.after.Values = append(e.after.Values, x[j])
			e.after.Observed = append(e.after.Observed, i < 600 || j == 0 || a > 0.2*float64(j)) // b and c where a is high
		}
	}
	s := e.pairs([]int{0, 1, 2})
	for a := range d {
		for b := range d {
			var x, y []float64
			products, squares := 0.0, 0.0
			for i := range n {
				if at := i * d; e.after.Observed[at+a] && e.after.Observed[at+b] {
					u, v := (e.after.Values[at+a]-e.units[a].mean)/e.units[a].sd, (e.after.Values[at+b]-e.units[b].mean)/e.units[b].sd
					x, y, products, squares = append(x, u), append(y, v), products+u*v, squares+u*u
				}
			}
			require.InDelta(t, float64(len(x)), s.number[a*d+b], 1e-9)
			require.InDelta(t, stat.Mean(x, nil)*float64(len(x)), s.own[a*d+b], 1e-9)
			require.InDelta(t, squares, s.squares[a*d+b], 1e-9)
			require.InDelta(t, products, s.products[a*d+b], 1e-9)
			if a != b {
				r := stat.Correlation(x, y, nil)
				require.InDelta(t, 1-r*r, s.unexplained(a, b), 1e-12)
			}
		}
	}
	require.Greater(t, math.Abs(s.own[0*d+1]), 50.0)
}

// The correlation over complete rows is that of these rows.
func TestCorrelationOfCompleteRows(t *testing.T) {
	const n = 900
	rng := stream.New(9)
	e := &examined{after: &data.Table{N: n, D: 2}, units: []unit{{1, 2}, {0, 1}}}
	var x, y []float64
	for i := range n {
		a, b := 1+2*rng.NormFloat64(), rng.NormFloat64()
		b += a
		seen := i%3 > 0 && b > 0
		e.after.Values, e.after.Observed = append(e.after.Values, a, b), append(e.after.Observed, true, seen)
		if seen {
			x, y = append(x, a), append(y, b)
		}
	}
	r, rows := e.complete([]int{0, 1})
	require.Equal(t, len(x), rows)
	require.InDelta(t, stat.Correlation(x, y, nil), r.At(0, 1), 1e-12)
}

// Of columns without a gap the sums over pairs give the correlation of all rows, whatever the
// units; where a row lacks one of them, or rows are few, they do not.
func TestCorrelationOfSums(t *testing.T) {
	const n = 700
	rng := stream.New(10)
	e := &examined{after: &data.Table{N: n, D: 3}, units: []unit{{0.5, 2}, {0, 1}, {1, 3}}}
	var x, y []float64
	for range n {
		a, b := 1+2*rng.NormFloat64(), rng.NormFloat64()
		x, y = append(x, a), append(y, a-3*b)
		e.after.Values, e.after.Observed = append(e.after.Values, a, b, a-3*b), append(e.after.Observed, true, true, true)
	}
	s := e.pairs([]int{0, 1, 2})
	r := s.correlation([]int{0, 2}, n)
	require.InDelta(t, stat.Correlation(x, y, nil), r.At(0, 1), 1e-12)
	require.InDelta(t, 1, r.At(1, 1), 1e-12)
	require.Nil(t, s.correlation([]int{0, 2}, 15))
	e.after.Observed[3*400+2] = false
	s = e.pairs([]int{0, 1, 2})
	require.Nil(t, s.correlation([]int{0, 2}, n))
	require.NotNil(t, s.correlation([]int{0, 1}, n))
}
