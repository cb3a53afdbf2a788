package path

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// panicking is a source that panics on batches up to a size.
type panicking struct {
	source.Source
	upTo int
}

func (p panicking) Complete(b *data.Batch, x, logProposal []float64, rng *source.Stream) error {
	if len(b.Rows) <= p.upTo {
		panic("shape")
	}
	return p.Source.Complete(b, x, logProposal, rng)
}

// withSource is a registered estimator under another name, with another source.
func withSource(t *testing.T, of, name string, from func(source.Setting) (source.Source, error)) {
	t.Helper()
	e, err := estimator.ByName(of)
	require.NoError(t, err)
	registered := estimator.All
	t.Cleanup(func() { estimator.All = registered })
	e.Name, e.Source.New = name, from
	estimator.All = append(slices.Clone(registered), e)
}

// A panic in a goroutine is an error of what started it, and does not end the program.
func TestPanicsAreErrors(t *testing.T) {
	truth, err := simulate.Star(3, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err := truth.Sample(100, stream.New(1, stream.Simulate))
	require.NoError(t, err)
	table, err = data.HideMCAR(table, 0.3, stream.New(1, stream.Hide))
	require.NoError(t, err)
	table, _ = data.Standardise(table)

	for name, c := range map[string]struct{ upTo, batch int }{"in a part of a step": {100, 40}, "in a part of the rows": {80, 100}} {
		t.Run(name, func(t *testing.T) {
			withSource(t, "iw", "panicking", func(s source.Setting) (source.Source, error) {
				p, err := source.NewProposal(s)
				return panicking{p, c.upTo}, err
			})
			r, err := New(engine.Problem{Table: table}, engine.Config{Method: "panicking", Batch: c.batch, Workers: 2},
				Config{Lambdas: 2, InitialIter: 2, IterPerLambda: 2, Select: Selection{Kind: "cv"}}, &State{})
			require.NoError(t, err)
			_, err = r.Estimate(t.Context(), func() error { return nil })
			require.ErrorContains(t, err, "internal error: shape (")
		})
	}

	points := []Point{{Packed: []float64{1, 0, 0, 1, 0, 1}}, {Packed: []float64{1, 0.1, 0, 1, 0, 1}}}
	short, err := New(engine.Problem{Table: table}, engine.Config{Method: "exact", Batch: 40, Workers: 2}, Config{}, &State{Points: points, Refitted: Refitted{Done: make([]bool, 2)}})
	require.NoError(t, err)
	require.Equal(t, 2, short.Workers())
	_, err = short.choose(t.Context())
	require.ErrorContains(t, err, "internal error: runtime error: index out of range")
}
