package fitted_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/fitted"
)

func TestCutAndResumed(t *testing.T) {
	f, _ := scaledNormal(t)
	gaps := hidden(t, f, 200, 0.5)
	path := filepath.Join(t.TempDir(), "draws")
	for _, by := range []string{"exact", "mcmc"} {
		c := fitted.ImputeConfig{Sampler: by, Draws: 3, Seed: 6}
		c.Chains.WarmUp, c.Chains.Draws = 30, 20
		whole := impute(t, f, gaps, c)
		c.Partial = fitted.NewPartial("this run")
		var r *fitted.Imputed
		for runs := 1; r == nil; runs++ {
			require.Less(t, runs, 20)
			ctx, cancel := context.WithCancel(t.Context())
			before := c.Partial.Count()
			c.Workers = 1 + runs%3
			c.Save = func(p *fitted.Partial) error {
				if p.Count() > before {
					cancel()
				}
				return p.Save(path)
			}
			var err error
			r, err = fitted.Impute(ctx, f, gaps, c)
			cancel()
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				r = nil
			}
			c.Partial, err = fitted.LoadPartial(path, "this run")
			require.NoError(t, err)
		}
		require.Equal(t, whole, r)
		c.Partial, c.Save, c.Seed = nil, nil, 7
		other := impute(t, f, gaps, c)
		require.NotEqual(t, whole.Values, other.Values)
	}
}
