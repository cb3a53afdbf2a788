package fitted_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/fuzztest"
	"missingscore/trainers/fitted"
)

// Whatever a file of saved draws holds under its own checksum is refused in plain words, or is
// draws with which a run goes on, or which it refuses.
func FuzzLoadPartial(f *testing.F) {
	const mark, of = "missingscore draws 1\n", "this run"
	m, _ := scaledNormal(f)
	gaps, _ := hidden(f, m, 40, 0.5) // two blocks of rows
	configs := []fitted.ImputeConfig{{Sampler: "exact", Draws: 2, Seed: 6}, {Sampler: "mcmc", Draws: 2, Seed: 6}}
	configs[1].Chains.WarmUp, configs[1].Chains.Draws = 10, 10
	var bodies []string
	save := func(p *fitted.Partial) string {
		path := filepath.Join(f.TempDir(), "draws")
		require.NoError(f, p.Save(path))
		return fuzztest.Body(f, mark, path)
	}
	for i := range configs {
		p := fitted.NewPartial(of)
		configs[i].Partial = p
		_, err := fitted.Impute(f.Context(), m, gaps, configs[i])
		require.NoError(f, err)
		require.Equal(f, 2, p.Blocks())
		bodies = append(bodies, save(p))
	}
	fewer, _ := hidden(f, m, 20, 0.5)
	for _, other := range []struct {
		table *data.Table
		draws int
	}{{fewer, 2}, {gaps, 1}} { // blocks of other rows, and of fewer draws
		c := configs[0]
		c.Partial, c.Draws = fitted.NewPartial(of), other.draws
		_, err := fitted.Impute(f.Context(), m, other.table, c)
		require.NoError(f, err)
		bodies = append(bodies, save(c.Partial))
		c.Draws = 2
		_, err = fitted.Impute(f.Context(), m, gaps, c)
		require.ErrorIs(f, err, fitted.ErrOtherImputation)
	}
	fuzztest.Reader[*fitted.Partial]{
		Read: fuzztest.Sealed(f, mark, func(path string) (*fitted.Partial, error) { return fitted.LoadPartial(path, of) }),
		Check: func(t testing.TB, _ string, p *fitted.Partial) {
			for _, c := range configs {
				c.Partial = p
				if c.Sampler == "mcmc" && p.Blocks() < 2 {
					continue // chains take their time
				}
				if _, err := fitted.Impute(t.Context(), m, gaps, c); err != nil {
					require.Empty(t, fuzztest.Unknown(err.Error()))
				}
			}
		},
		Accepts: append(bodies, save(fitted.NewPartial(of))),
		Refuses: []string{"", "x", bodies[0][:len(bodies[0])/2], save(fitted.NewPartial("another run"))},
	}.Fuzz(f)
}
