package gradcheck

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
)

// By hand: relative to numbers above 1, absolute below; NaN is the largest.
func TestDifferenceByHand(t *testing.T) {
	var d Difference
	d.see(5, 4, "a[%d]", 1)
	require.Equal(t, Difference{Error: 0.25, Where: "a[1]", Exact: 5, Numeric: 4, Compared: 1}, d)
	d.see(0.5, 0.3, "b")
	require.Equal(t, "a[1]", d.Where, "less")
	d.see(-0.5, 0.5, "c")
	require.Equal(t, Difference{Error: 1, Where: "c", Exact: -0.5, Numeric: 0.5, Compared: 3}, d)
	d.see(math.NaN(), 0.5, "d")
	require.Equal(t, "d", d.Where)
}

func TestStepGrowsWithTheParameter(t *testing.T) {
	q := graph.NewParam("q", 1, 1)
	p, err := graph.Build(func(b *graph.Builder) { b.Minimise(b.Scale(0.5, b.Sum(b.Map(graph.Square, b.Param(q)))), q) })
	require.NoError(t, err)
	q.Value[0] = 1e6
	var steps []float64
	d, err := Params(p, []*graph.Param{q}, Step, func() (float64, error) {
		steps = append(steps, math.Abs(q.Value[0]-1e6))
		err := p.Run()
		return p.Loss(), err
	})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{1e6 * Step, 1e6 * Step}, steps, 1e-6)
	require.Less(t, d.Error, 1e-9)
	require.Equal(t, 1e6, q.Value[0])
}
