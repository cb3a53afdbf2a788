package picture

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/network"
)

func TestROC(t *testing.T) {
	rates := []network.Rate{{FPR: 0.5, TPR: 0.75}, {FPR: 0.25, TPR: 0.5}}
	p, err := ROC(rates, network.AUC(rates))
	require.NoError(t, err)
	all := leaves(t, p)
	require.Contains(t, texts(all), "Edge recovery along the path: AUC = 0.656")
	require.Equal(t, 4, dotsOf(all, svgBlue), "two rates and the corners")
	require.Equal(t, []float64{0, 1, 0, 1}, []float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max})
}

func TestROCErrors(t *testing.T) {
	for _, r := range []network.Rate{{FPR: math.NaN()}, {TPR: 1.5}, {FPR: -0.1}} {
		_, err := ROC([]network.Rate{r}, 0.5)
		require.ErrorContains(t, err, "are not in [0, 1]")
	}
}
