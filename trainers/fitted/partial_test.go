package fitted_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/trainers/fitted"
)

func TestCutAndResumed(t *testing.T) {
	f, _ := scaledNormal(t)
	gaps, _ := hidden(t, f, 200, 0.5)
	path := filepath.Join(t.TempDir(), "draws")
	for _, by := range []string{"exact", "mcmc"} {
		c := fitted.ImputeConfig{Sampler: by, Draws: 3, Seed: 6}
		c.Chains.WarmUp, c.Chains.Draws = 30, 20
		whole, err := fitted.Impute(context.Background(), f, gaps, c)
		require.NoError(t, err)
		c.Partial = fitted.NewPartial("this run")
		var r *fitted.Imputed
		for runs := 1; r == nil; runs++ {
			require.Less(t, runs, 20)
			ctx, cancel := context.WithCancel(context.Background())
			before := c.Partial.Count()
			c.Workers = 1 + runs%3
			c.Save = func(p *fitted.Partial) error {
				if p.Count() > before {
					cancel()
				}
				return p.Save(path)
			}
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
		other, err := fitted.Impute(t.Context(), f, gaps, c)
		require.NoError(t, err)
		require.NotEqual(t, whole.Values, other.Values)
	}
}

func TestPartialRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "draws")
	_, err := fitted.LoadPartial(path, "one")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, fitted.NewPartial("one").Save(path))
	_, err = fitted.LoadPartial(path, "one")
	require.NoError(t, err)
	_, err = fitted.LoadPartial(path, "other")
	require.ErrorIs(t, err, fitted.ErrOtherImputation)
	f, _ := scaledNormal(t)
	gaps, _ := hidden(t, f, 40, 0.5)
	c := fitted.ImputeConfig{Draws: 1, Partial: fitted.NewPartial("one"), Save: func(*fitted.Partial) error { return os.ErrPermission }}
	_, err = fitted.Impute(t.Context(), f, gaps, c)
	require.ErrorIs(t, err, os.ErrPermission)
	c.Draws, c.Save = 2, nil
	_, err = fitted.Impute(t.Context(), f, gaps, c)
	require.ErrorIs(t, err, fitted.ErrOtherImputation)
}
