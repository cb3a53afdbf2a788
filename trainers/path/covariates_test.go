package path

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of the columns a to d, b is held constant: what is left are the pairs ac, ad and cd, of all in
// the order ab, ac, ad, bc, bd, cd the second, third and last; ab, bc and bd have no penalty, in
// packed P the elements 1, 5 and 6 of aa, ab, ac, ad, bb, bc, bd, cc, cd, dd.
func TestPairsOfCovariates(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	c := newCovariates(names, []string{"b"})
	require.Equal(t, []int{0, 2, 3}, c.nodes)
	require.Equal(t, []int{1, 2, 5}, c.pairs)
	require.Len(t, c.free, 10)
	for i, free := range c.free {
		require.Equal(t, i == 1 || i == 5 || i == 6, free, i)
	}
	require.Equal(t, covariates{nodes: []int{0, 1, 2, 3}}, newCovariates(names, nil))
}
