package domain_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data/domain"
)

// censored hides cells of the first column above 2, of the second below 1, in the
// box x1 ≥ 0, x2 ≤ 3, −1 ≤ x3 ≤ 1.
func censored() *domain.Domain {
	return box().Censoring([]float64{-inf, 1, -inf, -inf}, []float64{2, inf, inf, inf})
}

func TestCensoredBounds(t *testing.T) {
	s := censored()
	require.NoError(t, s.Check([]string{"a", "b", "c", "d"}))
	require.Equal(t, []float64{0, 1, -1, -inf}, s.Lower)
	require.Equal(t, []float64{2, 3, 1, inf}, s.Upper)
	low, high := s.GapBounds()
	require.Equal(t, []float64{2, -inf, -1, -inf}, low)
	require.Equal(t, []float64{inf, 1, 1, inf}, high)
	require.Equal(t, box().Lower, []float64{0, -inf, -1, -inf}, "it changes nothing else")
	for j, bounded := range []bool{true, true, true, false} {
		require.Equal(t, bounded, s.BoundedColumn(j))
	}

	var all *domain.Domain
	s = all.Censoring([]float64{-inf, -inf}, []float64{inf, 0.5})
	require.NoError(t, s.Check([]string{"a", "b"}))
	require.True(t, s.Bounded())
	require.False(t, s.BoundedColumn(0))
	require.True(t, s.BoundedColumn(1), "below 0.5 or above: both have a bound")

	require.ErrorContains(t, all.Censoring([]float64{-1, -inf}, []float64{1, inf}).Check([]string{"a", "b"}), `column "a": its missing cells would lie between 1 and -1`)
	require.ErrorContains(t, box().Censoring([]float64{-inf, -inf, -inf, -inf}, []float64{inf, inf, 1, inf}).Check([]string{"a", "b", "c", "d"}), `column "c": its missing cells would lie between 1 and 1`)
}

// A missing cell's interval lies beyond the threshold, an observed cell's before it:
// in the section, the room that half-spaces leave, and what is refused.
func TestCensoredSections(t *testing.T) {
	s := censored()
	names := []string{"a", "b", "c", "d"}
	x, mask := []float64{1, 9, 0, 0}, []float64{1, 0, 1, 0}
	var c domain.Section
	s.Section(&c, x, mask)
	low, high := c.Interval(x, 1)
	require.Equal(t, []float64{-inf, 1}, []float64{low, high})
	require.True(t, c.Contains([]float64{1, 0.9, 0, 0}, mask))
	require.False(t, c.Contains([]float64{1, 1.1, 0, 0}, mask))

	_, why := s.Outside(names, x, mask)
	require.NoError(t, why)
	cell, why := s.Outside(names, []float64{2.5, 2, 0, 0}, []float64{1, 1, 1, 1})
	require.Equal(t, 0, cell)
	require.EqualError(t, why, "is above the upper bound 2 of observed cells (others are censored)")
	_, why = s.Outside(names, []float64{1, 4, 0, 0}, []float64{1, 1, 1, 1})
	require.EqualError(t, why, "is above the upper bound 3 of observed cells (others are censored)")
	_, why = s.Outside(names, []float64{1, 2, 3, 0}, []float64{1, 1, 1, 1})
	require.EqualError(t, why, "is above the upper bound 1")

	s.Half = []domain.HalfSpace{{A: []float64{1, 0, 0, 1}, B: 3}}
	_, why = s.Outside(names, []float64{0, 2, 0, 1.5}, []float64{0, 1, 1, 1})
	require.ErrorContains(t, why, "at least 3.5", "a missing first cell is above 2")
	point, ok := s.Interior([]float64{0, 2, 0, -1}, []float64{0, 0, 1, 1})
	require.True(t, ok)
	require.True(t, point[0] > 2 && point[0] < 4 && point[1] < 1, "%v", point)
}

// g vanishes at the threshold with slope −1, and depends on nothing beyond it.
func TestCensoredWeight(t *testing.T) {
	g, slope := make([]float64, 4), make([]float64, 4)
	at := func(x, mask []float64) { domain.Weight{}.At(censored(), x, mask, g, slope, &domain.Tangent{}) }
	at([]float64{2, 1, 0, 0}, []float64{1, 1, 1, 1})
	require.Equal(t, []float64{0, 0, 1, 1}, g)
	require.Equal(t, []float64{-1, 1}, slope[:2])
	at([]float64{1.75, 5, 0, 0}, []float64{1, 0, 1, 0})
	require.Equal(t, []float64{0.25, 0, 1, 0}, g)
	require.Equal(t, []float64{-1, 0, 0, 0}, slope)
}

// Standardising and intersecting take the missing cells' bounds along, and a
// fingerprint tells censored from truncated.
func TestCensoredElsewhere(t *testing.T) {
	z := censored().Standardised([]float64{1, 1, 0, 0}, []float64{2, 0.5, 1, 1})
	require.Equal(t, []float64{-0.5, 0, -1, -inf}, z.Lower)
	low, high := z.GapBounds()
	require.Equal(t, []float64{0.5, -inf, -1, -inf}, low)
	require.Equal(t, []float64{inf, 0, 1, inf}, high)

	cut := domain.All(4)
	cut.Upper[0] = 7
	both := censored().Intersect(cut)
	require.Equal(t, 2., both.Upper[0])
	_, high = both.GapBounds()
	require.Equal(t, 7., high[0])
	require.Equal(t, both, cut.Intersect(censored()))

	text, err := json.Marshal(censored())
	require.NoError(t, err)
	require.Contains(t, string(text), `"Gaps":{"Lower":[2,null,-1,null],"Upper":[null,1,1,null]}`)
	text, err = json.Marshal(box())
	require.NoError(t, err)
	require.NotContains(t, string(text), "Gaps")
}
