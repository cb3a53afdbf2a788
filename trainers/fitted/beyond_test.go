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
