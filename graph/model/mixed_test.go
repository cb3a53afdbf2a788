package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/stream"
)

func mixedExample() *mixture.Mixture {
	of := mixture.New(2, []int{0, 3, 0, 2})
	of.Weights = []float64{0.7, 0.3}
	of.Means = [][]float64{{-1, 2}, {1.5, 0}}
	of.Covariances = [][]float64{{0.25, 0.2, 0.2, 1}, {1.44, -0.6, -0.6, 4}}
	of.Shares = [][]float64{{0.2, 0.5, 0.3, 0.9, 0.1}, {0.6, 0.1, 0.3, 0.25, 0.75}}
	return of
}

func TestMixed(t *testing.T) {
	of := mixedExample()
	m := model.NewMixed(of)
	options, err := model.Options(m)
	require.NoError(t, err)
	require.JSONEq(t, `{"components":2,"levels":[0,3,0,2]}`, string(options))
	again, err := model.New("mixture", 4, options, stream.New(1))
	require.NoError(t, err)
	require.NoError(t, again.(model.Parametric).SetQuantities(m.Quantities()))
	require.Equal(t, of, model.MixedOf(again))

	bounded := domain.All(4)
	bounded.Lower[0] = 0
	_, err = model.SampleRows(m, 1, bounded, stream.New(1))
	require.ErrorIs(t, err, model.ErrNoExactSampler)
}
