package diagnose

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/stream"
)

// By hand: c = 2a − b + 1 in every complete row except one.
func TestExact(t *testing.T) {
	rng := stream.New(1)
	var values []float64
	var seen []bool
	for i := range 10 {
		a, b := 3*rng.NormFloat64(), rng.NormFloat64()
		values, seen = append(values, a, b, 2*a-b+1), append(seen, true, i != 3, i != 4)
	}
	values[3*3+2] = 70 // in a row without b
	table, err := data.NewTable([]string{"a", "b", "c"}, values, seen)
	require.NoError(t, err)
	rows, exact := Exact(table, []int{2, 0, 1})
	require.Equal(t, 8, rows)
	require.True(t, exact)
	rows, exact = Exact(table, []int{0, 1})
	require.Equal(t, 9, rows)
	require.False(t, exact)
	values[2] += 1e-8
	_, exact = Exact(table, []int{2, 0, 1})
	require.False(t, exact)
	few, err := table.Rows([]int{0, 1, 2})
	require.NoError(t, err)
	rows, exact = Exact(few, []int{2, 0, 1})
	require.Equal(t, 3, rows)
	require.True(t, exact, "a plane goes through any three points")
}

// 1 − R² of each of two columns of correlation ρ is 1 − ρ².
func TestDependent(t *testing.T) {
	const rho = 0.999999
	r := mat.NewSymDense(3, []float64{1, 0.1, rho, 0.1, 1, 0.1, rho, 0.1, 1})
	set := Dependent(r, 2.1e-6)
	require.ElementsMatch(t, []int{0, 2}, set)
	require.Nil(t, Dependent(r, 1.9e-6))
	require.Nil(t, Dependent(mat.NewSymDense(mostDependent+1, nil), 1))
}
