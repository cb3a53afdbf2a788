package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
)

func TestCone(t *testing.T) {
	var all *domain.Domain
	a, b := domain.All(2), domain.All(2)
	a.Lower[0], b.Lower[0], b.Upper[1] = 0, 1, 5
	b.Half = []domain.HalfSpace{{A: []float64{1, 1}, B: 3}}
	require.True(t, all.Cone())
	require.True(t, a.Cone())
	require.False(t, b.Cone())
	c := domain.All(1)
	c.Upper[0] = 2
	require.False(t, c.Cone())
}
