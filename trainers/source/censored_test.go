package source

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/nets"
	"missingscore/trainers/internal/testtables"
)

// Imputed censored cells lie beyond the threshold whatever draws them.
func TestDrawsOfCensoredCells(t *testing.T) {
	g, _, censored := testtables.Pair()
	table := testtables.Hidden(t, g, censored, 200, 8)
	s := censored.Support(nil)
	for name, from := range testSources {
		setting := Setting{Model: testtables.At(t, g), Imputer: nets.NewNormalImputer(2, nets.NormalOptions{}, stream.New(1)), Batch: 200, Draws: 3, ProposalSD: 1, Domain: s}
		source, err := from(setting)
		require.NoError(t, err)
		b := data.NewBatch(200, 2)
		rows := make([]int, 200)
		for i := range rows {
			rows[i] = i
		}
		b.Fill(table, rows, 1)
		x := make([]float64, 200*3*2)
		require.NoError(t, source.Complete(b, x, make([]float64, 600), new(stream.Stream).At(9)))
		gaps := 0
		for k := range 600 {
			mask := b.Mask[k/3*2 : k/3*2+2]
			if mask[0] == 0 {
				require.GreaterOrEqual(t, x[k*2], 1., name)
				gaps++
			}
			if mask[1] == 0 {
				require.LessOrEqual(t, x[k*2+1], -0.8, name)
				gaps++
			}
		}
		require.Greater(t, gaps, 100)
	}
}
