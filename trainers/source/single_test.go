package source

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/nets"
)

// Sources that write float32 draw the gaps from the same normals as in float64, with
// their log densities by gonum's distuv, leave observed cells, and clear the padding.
func TestSingleSources(t *testing.T) {
	const d, r, size, unit = 3, 4000, 3, 0x1p-24
	imputer := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 8}, new(Stream).At(3, 1).Rand)
	table := &data.Table{Names: []string{"a", "b", "c"}, N: 2, D: d,
		Values:   []float64{0.5, math.NaN(), -1, math.NaN(), math.NaN(), 2},
		Observed: []bool{true, false, true, false, false, true}}
	batch := data.NewBatch(size, d)
	batch.Fill(table, []int{0, 1}, 0.5)
	for name, make64 := range map[string]func(Setting) (Source, error){"proposal": NewProposal, "variational": NewImputer} {
		s, err := make64(Setting{Model: model.NewGaussian(d, model.CholeskyFactor), Imputer: imputer, Batch: size, Draws: r, ProposalSD: 1.7, DType: graph.Float32})
		require.NoError(t, err)
		mean, sd := make([]float64, size*d), []float64{1.7, 1.7, 1.7}
		if name == "variational" {
			forward, err := losses.NewForward(graph.Float32, imputer, d, size)
			require.NoError(t, err)
			copy(forward.Input(losses.InputX), batch.X)
			if forward.Has(losses.InputMask) {
				copy(forward.Input(losses.InputMask), batch.Mask)
			}
			require.NoError(t, forward.Run())
			mean = forward.Output(losses.OutputMean)
			for j, l := range forward.Output(losses.OutputLogSD) {
				sd[j] = math.Exp(l)
			}
		}
		x, logs := make([]float32, size*r*d), make([]float32, size*r)
		for i := range x {
			x[i] = 9
		}
		require.NoError(t, s.(SingleSource).CompleteSingle(batch, x, logs, new(Stream).At(1, 2)))
		for i := range 2 {
			columns := make([][]float64, d)
			for k := i * r; k < (i+1)*r; k++ {
				log, slack := 0.0, 0.0
				for j := range d {
					v := float64(x[k*d+j])
					if table.Observed[i*d+j] {
						require.Equal(t, table.Values[i*d+j], v)
						continue
					}
					columns[j] = append(columns[j], v)
					normal := distuv.Normal{Mu: mean[i*d+j], Sigma: sd[j]}
					log += normal.LogProb(v)
					z := math.Abs(v-mean[i*d+j]) / sd[j]
					// v is rounded from its mean, deviation, product and sum, −z²/2 thrice.
					slack += unit * (z/sd[j]*(math.Abs(mean[i*d+j])+2*z*sd[j]+math.Abs(v)) + 1.5*z*z)
				}
				slack += 2 * unit * (math.Abs(log) + 3)
				require.InDelta(t, log, logs[k], slack, name)
			}
			for j, c := range columns {
				if c == nil {
					continue
				}
				m, v := stat.MeanVariance(c, nil)
				require.InDelta(t, mean[i*d+j], m, 4.5*sd[j]/math.Sqrt(r), name)
				require.InDelta(t, 1, v/(sd[j]*sd[j]), 4.5*math.Sqrt(2./r), name)
			}
			if columns[0] != nil {
				require.InDelta(t, 0, stat.Correlation(columns[0], columns[1], nil), 4.5/math.Sqrt(r), name)
			}
		}
		for _, v := range x[2*r*d:] {
			require.Zero(t, v, "padding")
		}
	}
}
