package path

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers/engine"
)

// The rate is 1/(4 λ_max(S)), S by hand with 0 for two columns that no row has both of: λ is a root of
// det(S − λI), and above S's largest diagonal element, so that it is the largest of three.
func TestStableRate(t *testing.T) {
	table := &data.Table{Names: []string{"a", "b", "c"}, N: 4, D: 3,
		Values:   []float64{1, 2, 0, -1, 0, 0, 0, 1, 3, 0, -2, 1},
		Observed: []bool{true, true, false, true, true, false, false, true, true, false, true, true}}
	cross, count, v := secondMoments(engine.Problem{Table: table})
	require.Equal(t, []float64{1, 2.25, 5}, v)
	require.Zero(t, count.At(0, 2))
	require.Equal(t, []float64{2, 1}, []float64{cross.At(0, 1), cross.At(1, 2)})

	l := 1 / (4 * stableRate(engine.Problem{Table: table}))
	require.Greater(t, l, 5.0)
	require.InDelta(t, 0, (1-l)*((2.25-l)*(5-l)-0.25)-(5-l), 1e-12)
}
