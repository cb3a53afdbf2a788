package trainers_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
)

// A fit along persistent chains gives the same bytes with any number of workers, and cut and taken up
// again in the middle of epochs; on a domain too.
func TestChainsResumed(t *testing.T) {
	g, err := simulate.Normal(3, stream.New(1))
	require.NoError(t, err)
	half := domain.All(3)
	half.Lower[0] = -1
	half.Half = []domain.HalfSpace{{A: []float64{0.5, 0.7, 0.6}, B: 1}}
	for where, s := range map[string]*domain.Domain{"everywhere": nil, "domain": half} {
		for _, kind := range []string{"gaussian", "quartic"} {
			t.Run(where+" "+kind, func(t *testing.T) {
				table, err := g.SampleInside(s, 50, stream.New(2))
				require.NoError(t, err)
				table, err = data.HideMCAR(table, 0.4, stream.New(3))
				require.NoError(t, err)
				spec := trainers.Spec{
					Model: trainers.ModelSpec{Kind: kind}, Domain: s, Descent: descent.Config{Epochs: 20},
					Steps: engine.Config{Method: "em-chains", Batch: 16, Draws: 4, Seed: 5},
				}
				encode := func(r *trainers.Result) string {
					text, err := r.Encode()
					require.NoError(t, err)
					return string(text)
				}
				r, err := trainers.Estimate(context.Background(), table, spec, trainers.Run{})
				require.NoError(t, err)
				require.NotNil(t, r.Mixing)
				want := encode(r)
				require.Contains(t, want, "r_hat")

				more := spec
				more.Steps.Workers = 3
				r, err = trainers.Estimate(context.Background(), table, more, trainers.Run{})
				require.NoError(t, err)
				require.Equal(t, want, encode(r))

				file := filepath.Join(t.TempDir(), "state")
				state, cuts := &trainers.State{}, 0
				for {
					ctx, cancel := context.WithCancel(context.Background())
					cut, left := spec, 11
					cut.Steps.Observe = func(engine.Progress) {
						if left--; left == 0 {
							cancel()
						}
					}
					r, err = trainers.Estimate(ctx, table, cut, trainers.Run{State: state, Save: func(s *trainers.State) error { return s.Save(file) }})
					cancel()
					if err == nil {
						break
					}
					require.True(t, errors.Is(err, context.Canceled), "%v", err)
					cuts++
					state, err = trainers.LoadState(file)
					require.NoError(t, err)
				}
				require.Greater(t, cuts, 3)
				require.Equal(t, want, encode(r))
			})
		}
	}
}
