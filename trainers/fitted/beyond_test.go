package fitted_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/trainers/fitted"
)

// Draws at −129 of a column of 1 to 25 are named; those of a normal tail are not, nor a
// column of which too little is seen.
func TestBeyond(t *testing.T) {
	table := &data.Table{Names: []string{"age", "volume", "few"}, N: 30, D: 3}
	for i := range 30 {
		table.Values = append(table.Values, float64(20+i), float64(1+i%25), float64(i))
		table.Observed = append(table.Observed, true, i >= 2, i < 5)
	}
	r := &fitted.Imputed{Draws: 2}
	for i := range 30 {
		for k := range 2 {
			volume, few := table.Values[3*i+1], 1e6
			if i < 2 {
				volume = []float64{-20, -45, 26, -129}[2*i+k] // 6 deviations are 43
			}
			r.Values = append(r.Values, table.Values[3*i], volume, few)
		}
	}
	problems := r.Beyond(table)
	require.Equal(t, []string{"2 of 4 draws of volume lie far outside what was observed (1 to 25), as -129"}, problems)
}

// Where more than a third of a column's draws lies outside the observed range, all of them
// extrapolate; a third or less, or a few draws, do not tell.
func TestDrawsThatExtrapolate(t *testing.T) {
	table := &data.Table{Names: []string{"volume"}, N: 30, D: 1}
	for i := range 30 {
		table.Values, table.Observed = append(table.Values, float64(i)), append(table.Observed, i >= 10)
	}
	problems := func(draws, outside int) []string {
		r := &fitted.Imputed{Draws: draws}
		for i := range 30 {
			for range draws {
				v := float64(i)
				if i < 10 {
					v = 15
					if outside > 0 {
						outside, v = outside-1, 7
					}
				}
				r.Values = append(r.Values, v)
			}
		}
		return r.Extrapolated(table)
	}
	require.Empty(t, problems(3, 10))
	require.Equal(t, []string{"37 % of the draws of volume lie outside what was observed (10 to 29): its gaps lie where the table has no values of it (--pmm keeps to observed values)"}, problems(3, 11))
	require.Empty(t, problems(1, 9))
}
