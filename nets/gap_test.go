package nets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
	"missingscore/internal/stream"
	"missingscore/nets"
)

func TestScoreNetworkIsToldOfGaps(t *testing.T) {
	options, err := nets.AtLevels("score-network", []byte(`{"hidden":[5]}`), noise.Schedule{Kind: noise.Exploding, Least: 0.01, Most: 10}, true)
	require.NoError(t, err)
	m, err := model.New("score-network", 2, options, stream.New(1))
	require.NoError(t, err)
	told, ok := m.(model.GapConditional)
	require.True(t, ok)
	p, err := graph.Build(func(b *graph.Builder) {
		x, a, sigma := b.Input("x", 3, 2), b.Input("a", 3, 1), b.Input("sigma", 3, 1)
		b.Output("complete", told.AtNoise(a, sigma).Evaluate(b, x).Score)
		b.Output("gaps", told.AtGaps(a, sigma, b.Input("mask", 3, 2)).Evaluate(b, x).Score)
	})
	require.NoError(t, err)
	copy(p.Input("x"), []float64{0.5, 0, 0.5, 0, 0.5, 0})
	copy(p.Input("mask"), []float64{1, 1, 1, 0, 0, 1})
	copy(p.Input("a"), []float64{1, 1, 1})
	copy(p.Input("sigma"), []float64{0.3, 0.3, 0.3})
	require.NoError(t, p.Run())
	complete, gaps := p.Output("complete"), p.Output("gaps")
	require.Equal(t, complete[:2], gaps[:2])
	require.NotEqual(t, complete[2:4], gaps[2:4])
	require.NotEqual(t, gaps[2:4], gaps[4:])

	for name, gaps := range map[string]bool{"score-network": false, "energy": true} {
		options, err := nets.AtLevels(name, nil, noise.Schedule{Kind: noise.Exploding, Least: 0.01, Most: 10}, gaps)
		require.NoError(t, err)
		m, err := model.New(name, 2, options, stream.New(1))
		require.NoError(t, err)
		_, ok := m.(model.GapConditional)
		require.False(t, ok, name)
	}
}
