package trainers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Zeros in standardised columns are means, which is said; not in the table's units, nor where nothing is missing.
func TestZeroedIsMeanFilling(t *testing.T) {
	rng := stream.New(3)
	var values []float64
	for range 60 {
		a := rng.NormFloat64()
		values = append(values, 5+a, 3+a+rng.NormFloat64())
	}
	whole, err := data.NewTable([]string{"a", "b"}, values, nil)
	require.NoError(t, err)
	table, err := data.HideMCAR(whole, 0.2, rng)
	require.NoError(t, err)
	for _, c := range []struct {
		table     *data.Table
		method    string
		model     string
		keepUnits bool
		said      bool
	}{{table, "zeroed", "gaussian", false, true}, {table, "zeroed", "gaussian", true, false}, {whole, "zeroed", "gaussian", false, false},
		{table, "exact", "gaussian", false, false}, {table, "auto", "score-network", false, false}, {table, "zeroed", "quartic", false, false}} {
		s := Spec{Model: ModelSpec{Kind: c.model}, KeepUnits: c.keepUnits}
		s.Steps.Method = c.method
		p, err := Prepare(c.table, s)
		require.NoError(t, err)
		found, err := p.Findings()
		require.NoError(t, err)
		var warnings []string
		for _, f := range found {
			warnings = append(warnings, f.Message)
		}
		if !c.said {
			require.Empty(t, warnings, "%v", c)
			continue
		}
		require.Equal(t, []string{"zeroed sets missing cells to 0 after columns are standardised, which fills them with the column's mean; for zeros in the table's units, as in the paper, add --keep-units"}, warnings)
	}
}
