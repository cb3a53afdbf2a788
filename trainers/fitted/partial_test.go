package fitted_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/testtables"
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
		testtables.Resumed(t, func(ctx context.Context, save func() error) (err error) {
			c.Save = func(p *fitted.Partial) error { return errors.Join(p.Save(path), save()) }
			if r, err = fitted.Impute(ctx, f, gaps, c); err == nil {
				return nil
			}
			c.Partial = testtables.Must(fitted.LoadPartial(path, "this run"))
			c.Workers = 1 + (c.Workers+1)%3
			return err
		})
		require.Equal(t, whole, r)
		c.Partial, c.Save, c.Seed = nil, nil, 7
		other := impute(t, f, gaps, c)
		require.NotEqual(t, whole.Values, other.Values)
	}
}
