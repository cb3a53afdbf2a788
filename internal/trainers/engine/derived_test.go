package engine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// With derivatives derived from log q, a model makes the same steps as with derivatives written by
// hand, for every method, objective and domain, without more allocations.
func TestStepsOfDerivedModels(t *testing.T) {
	slowtest.Skip(t, "20 s")
	blas, err := graph.BLAS()
	require.NoError(t, err)
	truth := simulate.Mixture{Weights: []float64{0.6, 0.4}, Means: [][]float64{{0, 1, 1}, {1, 0, 2}}, Deviations: [][]float64{{1, 0.5, 1}, {0.5, 1, 0.7}}}
	rng := stream.New(1, stream.Simulate)
	rows := truth.Draw(40, rng)
	for i := range rows {
		rows[i] = math.Abs(rows[i])
	}
	complete, err := data.NewTable([]string{"a", "b", "c"}, rows, nil)
	require.NoError(t, err)
	holes, err := data.HideMCAR(complete, 0.3, rng)
	require.NoError(t, err)
	positive := domain.All(3)
	clear(positive.Lower)
	compared := 0
	for _, e := range estimator.All {
		for _, objective := range []string{"classical", "truncated", "sliced", "denoising"} {
			for _, support := range []*domain.Domain{nil, positive} {
				if e.OfMatrix() || (objective == "truncated") != (support != nil) && objective != "sliced" {
					continue
				}
				steps := func(m model.Model) (found []float64, allocations float64, err error) {
					o, err := losses.NewObjective(objective, losses.ObjectiveSetting{Dim: 3, Names: complete.Names, Domain: support})
					require.NoError(t, err)
					table := holes
					if e.NeedsCompleteRows() {
						table = complete
					}
					g, err := engine.New(engine.Problem{Table: table, Model: m, Objective: o, Domain: support}, engine.Config{Method: e.Name, Draws: 3, Batch: 20, Seed: 1})
					if err != nil {
						return nil, 0, err
					}
					all, adam, iteration := g.Table.AllRows(), optim.Adam{Rate: 0.01}, 0
					step := func() {
						s, err := g.Step(t.Context(), iteration, g.Whole, all, 1/float64(table.N))
						require.NoError(t, err)
						iteration++
						adam.Step(m.Params(), s.Grads)
					}
					for range 3 {
						step()
					}
					for _, p := range m.Params() {
						found = append(found, p.Value...)
					}
					return found, testing.AllocsPerRun(2, step), nil
				}
				name := fmt.Sprint(e.Name, " ", objective, " ", support != nil)
				hand, err := model.NewMixture(truth)
				require.NoError(t, err)
				want, usual, wantErr := steps(hand)
				again, err := model.NewMixture(truth)
				require.NoError(t, err)
				got, allocations, err := steps(model.FromLogDensity(3, again.Params(), func(b *graph.Builder, x graph.Node) graph.Node {
					return again.Evaluate(b, x).LogDensity
				}))
				if wantErr != nil {
					require.Error(t, err, name)
					require.Equal(t, wantErr.Error(), err.Error(), name)
					continue
				}
				require.NoError(t, err, name)
				if compared++; !testing.Short() && !strings.HasPrefix(blas, "gonum") {
					require.LessOrEqual(t, allocations, usual, name)
				}
				for i, w := range want {
					require.InDelta(t, w, got[i], 1e-8, name)
				}
			}
		}
	}
	require.Greater(t, compared, 20)
}
