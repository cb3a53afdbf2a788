package losses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/graph"
	"missingscore/graph/gradcheck"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

// At fixed noise the surrogate's gradient is that of what is reported, for all of the
// network's parameters: through means, deviations and weights.
func TestImputersGradient(t *testing.T) {
	for _, c := range [][2]string{{"mixture", `{"components":1,"hidden":5}`}, {"mixture", `{"components":3,"hidden":5}`}, {"linear", `{"hidden":5}`}, {"flow", `{"hidden":7,"steps":3}`}} {
		p := newProblem(t, 7, 0.5, model.CholeskyFactor, 61)
		imp, err := nets.NewImputer(c[0], d, []byte(c[1]), stream.New(62))
		require.NoError(t, err)
		rng := stream.New(63)
		for _, q := range imp.Params() { // away from the start, where a correction is 0
			for i := range q.Value {
				q.Value[i] += 0.3 * rng.NormFloat64()
			}
		}
		prog, err := losses.NewImputer(graph.Float64, losses.KL, imp, p.model, losses.Classical{}, nil, p.n)
		require.NoError(t, err)
		losses.BindImputer(prog, nil, p.batch())
		for i := range prog.Input(losses.InputNoise) {
			prog.Input(losses.InputNoise)[i] = rng.NormFloat64()
		}
		diff, err := gradcheck.Params(prog, imp.Params(), gradcheck.Step, func() (float64, error) {
			err := prog.RunValues()
			return prog.Output(losses.OutputReported)[0], err
		})
		require.NoError(t, err)
		require.Less(t, diff.Error, 1e-6, "%s %+v", c, diff)
	}
}
