package evaluate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/evaluate"
)

func TestCheckPassesTheModels(t *testing.T) {
	_, table := testtables.Star(t, 4, 30, 0.4)
	half := domain.All(4)
	half.Half = []domain.HalfSpace{{A: []float64{1, -0.5, 0.3, 1}, B: 8}}
	box := domain.All(4)
	for j := range 3 {
		box.Lower[j], box.Upper[j] = -5, 5+float64(j)
	}
	for name := range model.Models {
		for domain, s := range map[string]*domain.Domain{"all": nil, "box": box, "half-space": half} {
			t.Run(name+" "+domain, func(t *testing.T) {
				var options json.RawMessage
				if name == "energy" || name == "score-network" {
					options = json.RawMessage(`{"hidden":[8,6]}`)
				}
				m, err := model.New(name, 4, options, stream.New(1))
				require.NoError(t, err)
				results, err := evaluate.Gradients(table, m, s, 10, 1)
				require.NoError(t, err)
				names := map[string]bool{}
				for _, r := range results {
					require.True(t, r.OK, "%+v", r)
					require.Positive(t, r.Compared)
					names[r.Name] = true
				}
				require.Len(t, names, len(results))
				if name == "score-network" { // no log density
					require.Len(t, names, 3)
					return
				}
				require.GreaterOrEqual(t, len(names), 7)
				require.Equal(t, s == nil && (name == "gaussian" || name == "gaussian-network"), names["closed form of Marg-Exact"])
			})
		}
	}
}

// wrong is a Gaussian with the wrong sign of the diagonal.
type wrong struct{ *model.Gaussian }

func (w wrong) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := w.Gaussian.Evaluate(b, x)
	t.Diagonal = b.Scale(-1, t.Diagonal)
	return t
}

// half has half of the right score.
type half struct{ *model.Gaussian }

func (w half) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	t := w.Gaussian.Evaluate(b, x)
	t.Score = b.Scale(0.5, t.Score)
	return t
}

func TestCheckFindsWrongModels(t *testing.T) {
	_, table := testtables.Star(t, 4, 30, 0.4)
	failed := func(m model.Model) (names []string) {
		results, err := evaluate.Gradients(table, m, nil, 10, 1)
		require.NoError(t, err)
		for _, r := range results {
			if !r.OK {
				names = append(names, r.Name)
			}
		}
		return names
	}
	require.Equal(t, []string{"diagonal of the model"}, failed(wrong{model.NewGaussian(4, model.CholeskyFactor)}))
	require.Contains(t, failed(half{model.NewGaussian(4, model.CholeskyFactor)}), "score of the model")
}

// Gradients of models with missingness against differences, on R^d and censored.
func TestCheckWithMissingness(t *testing.T) {
	g, logistic, censored := testtables.Pair()
	for name, by := range map[string]*missingness.Model{"logistic": logistic, "censored": censored} {
		t.Run(name, func(t *testing.T) {
			var m model.Model = model.NewGaussian(2, model.CholeskyFactor)
			if by.Logistic != nil {
				m = &model.Joint{Model: m, Missingness: model.NewLogisticMissingness(by.Logistic)}
			}
			results, err := evaluate.Gradients(testtables.Hidden(t, g, by, 40, 11), m, by.Support(nil), 20, 1)
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(results), 7)
			for _, r := range results {
				require.True(t, r.OK, "%+v", r)
			}
		})
	}
}
