package trainers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
)

// panicking is a source that panics on batches up to a size.
type panicking struct {
	Source
	upTo int
}

func (p panicking) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	if len(b.Rows) <= p.upTo {
		panic("shape")
	}
	return p.Source.Complete(b, x, logProposal, rng)
}

// A panic in a goroutine is an error of what started it, and does not end the program.
func TestPanicsAreErrors(t *testing.T) {
	truth, err := data.SimulateStar(3, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := truth.Sample(100, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.3, stream.New(1, stream.Hide))
	require.NoError(t, err)

	registered := Estimators
	defer func() { Estimators = registered }()
	const want = "internal error: shape; please report it"
	for name, c := range map[string]struct{ upTo, batch int }{"in a part of a step": {100, 40}, "in a part of the rows": {80, 100}} {
		iw, err := EstimatorByName("iw")
		require.NoError(t, err)
		iw.Name = "panicking"
		iw.Source = func(s Setting) (Source, error) {
			p, err := newProposal(s)
			return panicking{p, c.upTo}, err
		}
		Estimators = append(slices.Clone(registered), iw)
		_, err = EstimateNetwork(t.Context(), table, NetworkConfig{
			PathConfig: PathConfig{Config: Config{Method: iw.Name, Batch: c.batch, Workers: 2}, Lambdas: 2, First: 2, Each: 2}, Select: Selection{Kind: "cv"},
		}, &State{}, nil)
		require.ErrorContains(t, err, want, name)
	}

	f := &Fitted{Names: table.Names, Model: model.NewGaussian(3, model.CholeskyFactor), Scale: data.Scale{Mean: make([]float64, 3), Deviation: []float64{1, 1, 1}}}
	_, err = eachBlock(t.Context(), f, table, ImputeConfig{By: "exact", Draws: 1, Workers: 2}, func(block) error { panic("shape") })
	require.ErrorContains(t, err, want)
	_, err = eachBlock(t.Context(), f, table, ImputeConfig{By: "exact", Draws: 1, Workers: 2, Observe: func(int, int) { panic("shape") }}, func(block) error { return nil })
	require.ErrorContains(t, err, want)

	short := &pathRun{engine: &engine{table: table, workers: make([]*worker, 2)}, state: &State{Points: []Point{{}, {}}}}
	_, err = short.ebic(0)
	require.ErrorContains(t, err, "internal error: runtime error: index out of range")
}
