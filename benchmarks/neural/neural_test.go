package neural

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

// Standard deviation ½ in two dimensions: 2/¼.
func TestScoreSize(t *testing.T) {
	of := simulate.Mixture{Weights: []float64{1}, Means: [][]float64{{1, -1}}, Deviations: [][]float64{{0.5, 0.5}}}
	m := model.NewMixture(of)
	size, err := scoreSize(m, of.Draw(20000, stream.New(1)))
	require.NoError(t, err)
	require.InEpsilon(t, 8, size, 0.04) // five standard errors
}
