package neural

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/cells"
)

// Ratios are within replicates: of 1/2 and 6/4 the mean is 1, where that of the means is 7/6; and they are of
// running means, which em does not have here.
func TestRatios(t *testing.T) {
	r := cells.Results{Columns: []string{densityColumn, "replicate", "method", sizeColumn, truthColumn, leastColumn, passColumn, keptColumn, endColumn}}
	for method, distances := range map[string][2]float64{"iw": {2, 4}, "em": {7, 7}, "em-var-mixture, averaged": {1, 6}, "em-var-mixture": {100, 100}} {
		for i, x := range distances {
			r.Lines = append(r.Lines, []string{"moons", fmt.Sprint(i + 1), method, "5", "10", fmt.Sprint(x), "1", fmt.Sprint(x), "2"})
		}
	}
	made, err := tables([]byte(`{"rows": 2, "fresh_draws": 2, "rate": 1, "densities": [{"name": "moons", "epochs": 2}], "methods": [
		{"name": "iw", "model": "energy", "method": "iw", "average": 0.1},
		{"name": "em", "model": "energy", "method": "em"},
		{"name": "em-var-mixture", "model": "energy", "method": "em-var"},
		{"name": "em-var-mixture, averaged", "model": "energy", "method": "em-var", "average": 0.1}]}`), r)
	require.NoError(t, err)
	require.Len(t, made, 2)
	require.Equal(t, "ratios", made[1].Name)
	// Student's t of one degree of freedom is 12.706 at 97.5 %; half of the ratios' difference is their standard error.
	require.Equal(t, [][]string{{"EM-Var, mixture / Marg-IW", "1 ± 6.4"}}, made[1].Lines)
}
