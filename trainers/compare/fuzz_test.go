package compare

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/fuzztest"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
	"missingscore/trainers/replicate"
)

func FuzzLoadPermutations(f *testing.F) {
	const mark, of = "missingscore replicates 1\n", "this run"
	p := problem(f, chained(f, 20, 0.4, 0.3, 0.2, 1), chained(f, 20, 0, 0.3, 0.1, 2), func(*data.Table) trainers.Spec {
		return trainers.Spec{Steps: engine.Config{Method: "em-exact", Seed: 1}, Network: &regpath.Config{Lambdas: 2}}
	})
	c := Config{Permutations: 3, Seed: 3}
	done := replicate.NewDone[Permutation](of)
	_, err := Compare(f.Context(), p, c, replicate.Config{}, done)
	require.NoError(f, err)
	body := func(d *replicate.Done[Permutation]) string {
		path := f.TempDir() + "/state.bin"
		require.NoError(f, d.Save(path))
		return fuzztest.Body(f, mark, path)
	}
	whole := body(done)
	short := replicate.NewDone[Permutation](of)
	_, err = replicate.Run(f.Context(), 3, replicate.Config{}, short, func(context.Context, int) (Permutation, error) {
		return Permutation{Differences: []float64{0.5}}, nil
	})
	require.NoError(f, err)
	_, err = Compare(f.Context(), p, c, replicate.Config{}, short)
	require.ErrorIs(f, err, replicate.ErrOtherRun, "permutations of other columns")
	fuzztest.Reader[*replicate.Done[Permutation]]{
		Read: fuzztest.Sealed(f, mark, func(path string) (*replicate.Done[Permutation], error) { return replicate.Load[Permutation](path, of) }),
		Check: func(t testing.TB, _ string, d *replicate.Done[Permutation]) {
			if _, err := Compare(t.Context(), p, c, replicate.Config{}, d); err != nil {
				require.Empty(t, fuzztest.Unknown(err.Error()))
			}
		},
		Accepts: []string{whole, body(short), body(replicate.NewDone[Permutation](of))},
		Refuses: []string{"", "x", whole[:len(whole)/2], body(replicate.NewDone[Permutation]("another run"))},
	}.Fuzz(f)
}
