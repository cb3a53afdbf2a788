package invariance_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"missingscore/trainers/invariance"
)

// Every case of the registries has every property that it can have; where it cannot, the
// reason is stated.
func TestEveryCaseHasEveryProperty(t *testing.T) {
	cases, err := invariance.Cases()
	require.NoError(t, err)
	require.Greater(t, len(cases), 200)
	var pool errgroup.Group
	pool.SetLimit(2)
	var one sync.Mutex
	held, left := map[string]int{}, map[string]int{}
	for _, c := range cases {
		pool.Go(func() error {
			r := invariance.Examine(t.Context(), c)
			one.Lock()
			defer one.Unlock()
			for _, err := range r.Failed {
				t.Error(err)
			}
			for _, name := range r.Held {
				held[name]++
			}
			for name, reason := range r.Left {
				left[name+": "+reason]++
			}
			return nil
		})
	}
	require.NoError(t, pool.Wait())
	figures := map[string]int{"cases": len(cases)}
	for _, p := range invariance.Properties {
		require.Greater(t, held[p.Name], 25, p.Name)
		t.Logf("%s: %d of %d cases", p.Name, held[p.Name], len(cases))
		figures[p.Name] = held[p.Name]
	}
	logFigures(t, figures)
	for reason, n := range left {
		t.Logf("left out %d times: %s", n, reason)
	}
}

// Where a change of order changes the draws, the law of the first step stays. Seeds are
// fixed: a worst |z| of 4.5 among some 150 numbers has probability 0.001.
func TestWhateverDrawsHasTheSameLaw(t *testing.T) {
	cases, err := invariance.Laws()
	require.NoError(t, err)
	require.Greater(t, len(cases), 20)
	numbers, worst := 0, 0.0
	for _, c := range cases {
		z, n, err := invariance.SameLaw(c, 40)
		require.NoError(t, err)
		if z > 4.5 {
			t.Errorf("%s: |z| = %.1f", c.Name(), z)
		}
		numbers, worst = numbers+n, max(worst, z)
	}
	logFigures(t, map[string]float64{"cases": float64(len(cases)), "numbers": float64(numbers), "worst |z|": worst})
}

// logFigures logs what a test has found for TRUST.md (internal/trust).
func logFigures(t *testing.T, figures any) {
	t.Helper()
	text, err := json.Marshal(figures)
	require.NoError(t, err)
	t.Logf("figures %s", text)
}
