package invariance

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/losses"
	"missingscore/trainers/estimator"
)

// Every member of the registries is in a case.
func TestEveryMemberHasACase(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	in := func(name string, of func(Case) string) {
		require.True(t, slices.ContainsFunc(cases, func(c Case) bool { return of(c) == name }), name)
	}
	for name := range model.Models {
		in(name, func(c Case) string { return c.Model })
	}
	for name := range losses.Objectives {
		in(name, func(c Case) string { return c.Objective })
	}
	for _, e := range estimator.All {
		in(e.Name, func(c Case) string { return c.Method })
	}
}

// Every case of the registries has every property that it can have; where it cannot, the
// reason is stated.
func TestEveryCaseHasEveryProperty(t *testing.T) {
	cases, err := Cases()
	require.NoError(t, err)
	require.Greater(t, len(cases), 350)
	if !slowtest.Set() {
		examine(t, someOf(cases))
		return
	}
	held, _ := examine(t, cases)
	for _, p := range Properties {
		require.Greater(t, held[p.Name], 25, p.Name)
	}
}

// someOf is every third case, and so every member of the registries; MISSINGSCORE_SLOW=1 has all.
func someOf(cases []Case) (some []Case) {
	for k := 0; k < len(cases); k += 3 {
		some = append(some, cases[k])
	}
	return some
}

// Wide tables have those properties that a narrow one does not show.
func TestWideTables(t *testing.T) {
	cases, err := Wide()
	require.NoError(t, err)
	require.Len(t, cases, 7, "networks by four methods, and fits by those that are for fits")
	held, _ := examine(t, cases)
	require.Equal(t, map[string]int{"workers": len(cases)}, held)
}

// examine checks cases side by side: how many have each property, and how many are left out of it,
// by property and reason.
func examine(t *testing.T, cases []Case) (held, left map[string]int) {
	t.Helper()
	var pool errgroup.Group
	pool.SetLimit(2)
	var one sync.Mutex
	held, left = map[string]int{}, map[string]int{}
	for _, c := range cases {
		pool.Go(func() error {
			r := Examine(t.Context(), c)
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
	return held, left
}

// Where a change of order changes the draws, the law of the first step stays, or that of a
// network's estimate. Seeds are fixed: a worst |z| of 4.5 among some 250 numbers has probability
// 0.002.
func TestWhateverDrawsHasTheSameLaw(t *testing.T) {
	slowtest.Skip(t, "40 s")
	cases, err := Laws()
	require.NoError(t, err)
	numbers, worst, networks, ordinal := 0, 0.0, 0, 0
	for _, c := range cases {
		z, n, err := SameLaw(t.Context(), c, 40)
		require.NoError(t, err)
		if z > 4.5 {
			t.Errorf("%s: |z| = %.1f", c.Name(), z)
		}
		numbers, worst = numbers+n, max(worst, z)
		if c.Network {
			networks++
		}
		if c.Method == "em-latent" {
			ordinal++
		}
	}
	require.Greater(t, len(cases)-networks, 20)
	require.Greater(t, networks, 10)
	require.Equal(t, 2, ordinal)
}
