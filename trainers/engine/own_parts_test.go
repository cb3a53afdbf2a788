package engine_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// twice is a weighting that is in no registry.
type twice struct{ losses.Uniform }

func (twice) Name() string { return "twice" }

// wrongWeights is an objective that reads behind its weights.
type wrongWeights struct {
	losses.Classical
	Weights []float64
}

func (o wrongWeights) Bind(_ *graph.Program, b *data.Batch, _ *rand.Rand) { _ = o.Weights[b.D] }

// An estimator's weighting is its own, whether it is registered or not; a source that is
// none is named; and a panic of a part is an error with its place, for any number of workers.
func TestPartsOfOnesOwn(t *testing.T) {
	all := estimator.All
	defer func() { estimator.All = all }()
	nothing := source.Kind{Name: "nothing", New: func(source.Setting) (source.Source, error) { return nil, nil }}
	estimator.Register(estimator.Estimator{Name: "twice", Source: source.Proposal, Weighting: twice{}, Loss: losses.Complete{}})
	estimator.Register(estimator.Estimator{Name: "nothing", Source: nothing, Weighting: losses.Uniform{}, Loss: losses.Complete{}})

	_, _, err := engine.Gradient(problem(60, losses.Classical{}), engine.Config{Method: "twice"}, 0)
	require.NoError(t, err)
	_, _, err = engine.Gradient(problem(60, losses.Classical{}), engine.Config{Method: "nothing"}, 0)
	require.EqualError(t, err, "source nothing: its New gives no source")
	for _, workers := range []int{1, 2} {
		_, _, err = engine.Gradient(problem(60, wrongWeights{Weights: []float64{1}}), engine.Config{Method: "twice", Batch: 20, Workers: workers}, 0)
		require.ErrorContains(t, err, "internal error: runtime error: index out of range [2] with length 1 (missingscore/trainers/engine_test.wrongWeights.Bind, at ")
	}
}

// An imputer of many levels of noise has none to be told where the objective adds none.
func TestImputerOfLevelsNeedsThem(t *testing.T) {
	config := engine.Config{Method: "var", Imputer: engine.ImputerSpec{Kind: "normal", Options: []byte(`{"noise_conditional":true}`)}}
	_, _, err := engine.Gradient(problem(60, losses.Classical{}), config, 0)
	var wrong *setting.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "imputer", wrong.Field)
}
