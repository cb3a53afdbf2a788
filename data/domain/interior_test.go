package domain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"missingscore/data/domain"
	"missingscore/internal/stream"
)

// Whether a row can be completed does not depend on the units of the columns, nor on how a
// half-space is multiplied out.
func TestInteriorInOtherUnits(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(r *rapid.T) {
		rng := stream.New(rapid.Uint64().Draw(r, "seed"), 1)
		s := box()
		s.Half = []domain.HalfSpace{half(4, rng), half(4, rng)}
		x, mask := make([]float64, 4), make([]float64, 4)
		for j := range mask {
			x[j], mask[j] = rng.Float64(), float64(rng.IntN(2))
		}
		scaled, y := domain.All(4), make([]float64, 4)
		for range s.Half {
			scaled.Half = append(scaled.Half, domain.HalfSpace{A: make([]float64, 4)})
		}
		factor := []float64{math.Pow(10, rapid.Float64Range(-40, 40).Draw(r, "factor")), math.Pow(10, rapid.Float64Range(-40, 40).Draw(r, "factor"))}
		for j := range mask {
			unit := math.Pow(10, rapid.Float64Range(-100, 100).Draw(r, "decade"))
			y[j], scaled.Lower[j], scaled.Upper[j] = x[j]*unit, s.Lower[j]*unit, s.Upper[j]*unit
			for k, h := range s.Half {
				scaled.Half[k].A[j], scaled.Half[k].B = h.A[j]/unit*factor[k], h.B*factor[k]
			}
		}
		require.Equal(r, s.Check(names) == nil, scaled.Check(names) == nil)
		_, want := s.Outside(names, x, mask)
		_, got := scaled.Outside(names, y, mask)
		require.Equal(r, want == nil, got == nil, "%v, %v", want, got)
		point, ok := scaled.Interior(y, mask)
		require.Equal(r, want == nil, ok)
		if ok {
			require.True(r, scaled.Contains(point), "%v %v", scaled, point)
		}
	})
}

// A thin strip far from the origin has an inside, one of no thickness has none.
func TestThinStrips(t *testing.T) {
	for width, want := range map[float64]bool{1e-3: true, 1e-5: true, 0: false, -1e-5: false} {
		s := domain.All(2)
		s.Lower[0], s.Upper[0] = 1e6, 2e6
		s.Half = []domain.HalfSpace{{A: []float64{1, -1}}, {A: []float64{-1, 1}, B: width}}
		point, ok := s.Interior([]float64{0, 0}, []float64{0, 0})
		require.Equal(t, want, ok, "%g", width)
		if ok {
			require.True(t, s.Contains(point), "%g %v", width, point)
		}
	}
}

func TestParseFarOff(t *testing.T) {
	s, err := domain.Parse([]byte(`{"halfspace":{"a":{"x1":1,"x2":-0.16},"b":-1e150}}`), []string{"x1", "x2"})
	require.NoError(t, err)
	point, ok := s.Interior([]float64{0, 0}, []float64{0, 0})
	require.True(t, ok && s.Contains(point))
	for text, want := range map[string]string{
		`{"halfspace":{"a":{"x1":1,"x2":-0.16},"b":-1e151}}`:  "a half-space has the number -1e+151: sizes from 1e-150 to 1e+150",
		`{"halfspace":{"a":{"x1":1,"x2":-1e-160},"b":1}}`:     "a half-space has the number -1e-160",
		`{"lower":{"x1":-1e200}}`:                             `column "x1": its bound -1e+200 is beyond 1e+150`,
		`{"halfspace":{"a":{"x1":1,"x2":-0.16},"b":-1e1500}}`: "it should look like",
	} {
		_, err := domain.Parse([]byte(text), []string{"x1", "x2"})
		require.ErrorContains(t, err, want)
	}
}
