package trainers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/trainers"
)

func TestCheckPassesTheModels(t *testing.T) {
	_, table := star(t, 4, 30, 0.4)
	for name := range graph.Models {
		m, err := graph.NewModel(name, 4)
		require.NoError(t, err)
		results, err := trainers.Check(table, m, 10, 1)
		require.NoError(t, err)
		require.Len(t, results, 7)
		for _, r := range results {
			require.True(t, r.OK, "%+v", r)
			require.Positive(t, r.Compared)
		}
	}
}

// wrong is a Gaussian whose diagonal lost its sign.
type wrong struct{ *graph.Gaussian }

func (w wrong) Terms(b *graph.Builder, x graph.Node) graph.Terms {
	t := w.Gaussian.Terms(b, x)
	t.Diagonal = b.Scale(-1, t.Diagonal)
	return t
}

// half is one whose score lost a factor 2.
type half struct{ *graph.Gaussian }

func (w half) Terms(b *graph.Builder, x graph.Node) graph.Terms {
	t := w.Gaussian.Terms(b, x)
	t.Score = b.Scale(0.5, t.Score)
	return t
}

func TestCheckFindsWrongModels(t *testing.T) {
	_, table := star(t, 4, 30, 0.4)
	failed := func(m graph.Model) (names []string) {
		results, err := trainers.Check(table, m, 10, 1)
		require.NoError(t, err)
		for _, r := range results {
			if !r.OK {
				names = append(names, r.Name)
			}
		}
		return names
	}
	require.Equal(t, []string{"diagonal of the model"}, failed(wrong{graph.NewGaussian(4, graph.CholeskyFactor)}))
	require.Contains(t, failed(half{graph.NewGaussian(4, graph.CholeskyFactor)}), "score of the model")
}
