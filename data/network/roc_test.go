package network

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// on is a network of 4 nodes with the given packed pairs.
func on(pairs ...int) Adjacency {
	a := Adjacency{D: 4, Edge: make([]bool, 6)}
	for _, i := range pairs {
		a.Edge[i] = true
	}
	return a
}

func TestCompare(t *testing.T) {
	truth := on(0, 1)
	for name, c := range map[string]struct {
		estimate Adjacency
		want     Rate
	}{
		"none":    {on(), Rate{0, 0}},
		"all":     {on(0, 1, 2, 3, 4, 5), Rate{1, 1}},
		"perfect": {on(0, 1), Rate{0, 1}},
		"mixed":   {on(1, 2, 3, 5), Rate{0.75, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Compare(truth, c.estimate)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestCompareErrors(t *testing.T) {
	_, err := Compare(on(0), Adjacency{D: 3, Edge: make([]bool, 3)})
	require.EqualError(t, err, "network: the truth has 4 nodes, the estimate 3")
	_, err = Compare(on(), on(0))
	require.EqualError(t, err, "network: the AUC is undefined: the true network of 4 nodes has no edges")
	_, err = Compare(on(0, 1, 2, 3, 4, 5), on(0))
	require.EqualError(t, err, "network: the AUC is undefined: in the true network all 4 nodes are joined")
}

func TestAUC(t *testing.T) {
	for name, c := range map[string]struct {
		rates []Rate
		want  float64
	}{
		"perfect":  {[]Rate{{0, 0.5}, {0, 1}, {0.5, 1}}, 1},
		"reversed": {[]Rate{{0.5, 0}, {1, 0}, {1, 0.5}}, 0},
		"diagonal": {[]Rate{{0.75, 0.75}, {0.25, 0.25}}, 0.5},
		"no point": {nil, 0.5},
		"one":      {[]Rate{{0.25, 0.75}}, 0.25*0.75/2 + 0.75*1.75/2},
		// Sorted: (0,0) (0.25,0.25) (0.25,0.75) (0.5,0.5) (1,1).
		"not monotone": {[]Rate{{0.25, 0.75}, {0.5, 0.5}, {0.25, 0.25}}, 0.25*0.25/2 + 0.25*1.25/2 + 0.5*1.5/2},
	} {
		t.Run(name, func(t *testing.T) {
			given := append([]Rate{}, c.rates...)
			require.InDelta(t, c.want, AUC(c.rates), 1e-15)
			require.ElementsMatch(t, given, c.rates)
			for i := range given {
				require.Equal(t, given[i], c.rates[i], "the caller's rates keep their order")
			}
		})
	}
}
