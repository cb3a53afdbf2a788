package posterior

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
)

func TestResumed(t *testing.T) {
	rng := stream.New(4)
	z := &data.Table{Names: []string{"a", "b", "c"}, N: 60, D: 3}
	for i := range z.N {
		x := rng.NormFloat64()
		z.Values = append(z.Values, x, x*x-1+0.3*rng.NormFloat64(), float64(i%3))
		z.Observed = append(z.Observed, rng.Float64() > 0.3, rng.Float64() > 0.5, rng.Float64() > 0.2)
	}
	for _, c := range []Config{{Draws: 7, Keep: 3, Levels: []int{0, 0, 3}, Components: 3, Seed: 1}, {Draws: 2, Seed: 1, Levels: []int{0, 0, 3}, Components: 1}} {
		whole, err := Draw(t.Context(), z, c)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "state")
		c.Partial = NewPartial("run")
		var again *Drawn
		testtables.Resumed(t, func(ctx context.Context, save func() error) (err error) {
			c.Save = func(p *Partial) error { return errors.Join(p.Save(path), save()) }
			if again, err = Draw(ctx, z, c); err != nil {
				c.Partial = testtables.Must(LoadPartial(path, "run", nil))
			}
			return err
		})
		require.Equal(t, whole, again)
	}
}
