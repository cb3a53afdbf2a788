package fitted_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/fuzztest"
	"missingscore/internal/plainwords"
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
	other := configs[0]
	other.Partial = fitted.NewPartial(of)
	fewer, _ := hidden(f, m, 20, 0.5)
	_, err := fitted.Impute(f.Context(), m, fewer, other)
	require.NoError(f, err)
	again := configs[0]
	again.Partial = other.Partial
	_, err = fitted.Impute(f.Context(), m, gaps, again)
	require.ErrorIs(f, err, fitted.ErrOtherImputation, "draws of another table")
	bodies = append(bodies, save(other.Partial))
	fuzztest.Reader[*fitted.Partial]{
		Read: fuzztest.Sealed(f, mark, func(path string) (*fitted.Partial, error) { return fitted.LoadPartial(path, of) }),
		Check: func(t testing.TB, _ string, p *fitted.Partial) {
			for _, c := range configs {
				c.Partial = p
				if c.Sampler == "mcmc" && p.Blocks() < 2 {
					continue // chains take their time
				}
				if _, err := fitted.Impute(t.Context(), m, gaps, c); err != nil {
					require.Empty(t, plainwords.Unknown(err.Error()))
				}
			}
		},
		Accepts: append(bodies, save(fitted.NewPartial(of))),
		Refuses: []string{"", "x", bodies[0][:len(bodies[0])/2], save(fitted.NewPartial("another run"))},
	}.Fuzz(f)
}
