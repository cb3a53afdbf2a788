package mcar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
)

// By R 4.2.2: fisher.test(matrix(c(x, n - x, y, m - y), 2))$p.value.
func TestFisherExactAgainstR(t *testing.T) {
	for _, c := range []struct {
		x, n, y, m int
		want       float64
	}{
		{10, 40, 25, 60, 1.335403412575406e-01},
		{0, 12, 5, 14, 4.247491638795989e-02},
		{120, 200, 90, 230, 1.978536248210631e-05},
		{0, 12, 0, 9, 1},
	} {
		require.InEpsilon(t, c.want, fisherExact(c.x, c.n, c.y, c.m), 1e-9)
		require.InEpsilon(t, c.want, fisherExact(c.y, c.m, c.x, c.n), 1e-9, "either way round")
	}
}

func TestShares(t *testing.T) {
	rows := func(missing []int, n int) *data.Table {
		values, observed := make([]float64, 3*n), make([]bool, 3*n)
		for i := range values {
			values[i], observed[i] = float64(i%7), i/3 >= missing[i%3]
		}
		table, err := data.NewTable([]string{"a", "b", "c"}, values, observed)
		require.NoError(t, err)
		return table
	}
	got := Shares(rows([]int{0, 12, 10}, 40), rows([]int{0, 15, 25}, 60))
	require.Len(t, got, 2, "a has no gaps")
	require.Equal(t, []string{"b", "c"}, []string{got[0].Name, got[1].Name})
	require.InEpsilon(t, 1.335403412575406e-01, got[1].P, 1e-9)
	require.InDelta(t, 2*got[1].P, got[1].Corrected, 1e-12)
	require.False(t, got[0].Differs())
	require.Equal(t, "c is missing in 25 % and 41.7 % of the rows (p 0.27)", got[1].String())
	different := Shares(rows([]int{0, 0, 0}, 40), rows([]int{0, 0, 20}, 40))
	require.Len(t, different, 1)
	require.True(t, different[0].Differs())
	require.Empty(t, Shares(rows([]int{0, 0, 0}, 40), rows([]int{0, 0, 0}, 40)))
}
