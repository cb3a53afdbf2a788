package quartic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/claims"
)

func TestSigns(t *testing.T) {
	read := func(words string, o claims.Outcome) claims.Read {
		return claims.Read{Words: words, Verdict: claims.Verdict{Outcome: o}}
	}
	header, lines := Signs([]claims.Read{
		read("error of the parameters after epoch 50, proposal N(0, 16 I)", claims.Holds),
		read("error of the parameters after epoch 50, proposal N(0, I)", claims.DoesNotHold),
		read("error of the parameters after epoch 7, proposal N(0, I)", claims.Undecided),
		read("Fisher divergence after epoch 15 (difference), proposal N(0, 16 I)", claims.Holds),
		read("Fisher divergence, stopped by rows held out (difference), proposal N(0, I)", claims.DoesNotHold),
		read("Fisher divergence after epoch 15", claims.Holds),
	})
	require.Equal(t, []string{"measured by", "epoch 7", "epoch 15", "epoch 50", "held out"}, header)
	require.Equal(t, [][]string{
		{"error of the parameters", "· ?", "· ·", "+ −", "· ·"},
		{"Fisher divergence (difference)", "· ·", "+ ·", "· ·", "· −"},
	}, lines)
	_, lines = Signs([]claims.Read{read("as the paper draws, proposal N(0, I)", claims.Holds)})
	require.Empty(t, lines)
	// The words are those of the sentences: no reading of them is lost.
	v, err := Across[1].Test(planted(func(string, string, int) float64 { return 0 }))
	require.NoError(t, err)
	_, lines = Signs(v.Readings)
	signs := 0
	for _, line := range lines {
		for _, cell := range line[1:] {
			for _, r := range cell {
				if r != ' ' && r != '·' {
					signs++
				}
			}
		}
	}
	require.Equal(t, len(v.Readings), signs)
}
