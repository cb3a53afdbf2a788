package domain_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"missingscore/data/domain"
	"missingscore/internal/fuzztest"
	"missingscore/internal/stream"
)

var inf = math.Inf(1)

func half(d int, rng *rand.Rand) domain.HalfSpace {
	h := domain.HalfSpace{A: make([]float64, d), B: rng.Float64()}
	for j := range h.A {
		h.A[j] = rng.NormFloat64()
	}
	return h
}

func box() *domain.Domain {
	s := domain.All(4)
	s.Lower[0], s.Upper[1], s.Lower[2], s.Upper[2] = 0, 3, -1, 1
	return s
}

func TestContains(t *testing.T) {
	var all *domain.Domain
	require.True(t, all.Contains([]float64{1, 2}))
	require.False(t, all.Bounded())
	require.False(t, domain.All(2).Bounded())
	s := box()
	require.True(t, s.Bounded())
	require.True(t, s.Contains([]float64{0, 3, 1, 9})) // the boundary belongs to it
	require.False(t, s.Contains([]float64{-1e-9, 0, 0, 0}))
	require.False(t, s.Contains([]float64{0, 0, 1.1, 0}))
	s.Half = []domain.HalfSpace{{A: []float64{1, 1, 0, 0}, B: 2}}
	require.True(t, s.Contains([]float64{1, 1, 0, 0}))
	require.False(t, s.Contains([]float64{1, 1.01, 0, 0}))
	require.False(t, s.Contains([]float64{math.NaN(), 0, 0, 0}))
}

func TestOutside(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	s := box()
	s.Half = []domain.HalfSpace{{A: []float64{-1, 0, 0, 1}, B: 1}, {A: []float64{1, 0, 0, 0}, B: 5}}
	for _, c := range []struct {
		x, mask []float64
		cell    int
		why     string
	}{
		{[]float64{1, 1, 0, 1}, []float64{1, 1, 1, 1}, -1, ""},
		{[]float64{-1, 1, 0, 1}, []float64{0, 1, 1, 1}, -1, ""},                                   // under a missing cell nothing counts
		{[]float64{-1, 1, 0, 1}, []float64{1, 1, 1, 0}, 0, "below the lower bound 0"},             // of its own column
		{[]float64{1, 4, 0, 1}, []float64{1, 1, 1, 1}, 1, "above the upper bound 3"},              //
		{[]float64{1, 1, 0, 3}, []float64{1, 1, 1, 1}, -1, "aᵀx = 2 is above"},                    // the half-space
		{[]float64{0, 1, 0, 7}, []float64{0, 1, 1, 1}, -1, "cannot meet all half-spaces at once"}, // needs a ≥ 6 and a ≤ 5
		{[]float64{0, 1, 0, 5.9}, []float64{0, 1, 1, 1}, -1, ""},
	} {
		cell, why := s.Outside(names, c.x, c.mask)
		if c.why == "" {
			require.NoError(t, why, "%+v", c)
			continue
		}
		require.ErrorContains(t, why, c.why)
		require.Equal(t, c.cell, cell)
	}
	s.Half[0].A[0] = 1 // x1 + x4 ≤ 1 with x1 ≥ 0
	_, why := s.Outside(names, []float64{0, 0, 0, 1.5}, []float64{0, 1, 1, 1})
	require.ErrorContains(t, why, "at least 1.5 for any missing cells")
}

func TestStandardised(t *testing.T) {
	rng := stream.New(2, 1)
	s := box()
	s.Half = []domain.HalfSpace{half(4, rng)}
	mean, sd := []float64{1, -2, 0.5, 3}, []float64{2, 0.5, 1, 4}
	z := s.Standardised(mean, sd)
	inside := 0
	for range 2000 {
		x, y := make([]float64, 4), make([]float64, 4)
		for j := range x {
			x[j] = 2 * rng.NormFloat64()
			y[j] = (x[j] - mean[j]) / sd[j]
		}
		require.Equal(t, s.Contains(x), z.Contains(y))
		if s.Contains(x) {
			inside++
		}
	}
	require.Greater(t, inside, 100)
}

var weights = map[string]domain.Weight{
	"per coordinate": {}, "scalar": {Scalar: true}, "cap": {Cap: 0.3}, "as the paper": {Scalar: true, NoTangent: true},
}

// g vanishes on the boundary of the projection, not on the bounds of missing cells.
func TestWeight(t *testing.T) {
	const h = 1e-6
	for name, w := range weights {
		rng := stream.New(3, 1)
		compared := 0
		for range 300 {
			s := box()
			s.Half = []domain.HalfSpace{half(4, rng), {A: []float64{1, 0, 2, 0}, B: 1.5}}
			x, mask := []float64{2 * rng.Float64(), 3 * rng.Float64(), rng.Float64(), rng.NormFloat64()}, make([]float64, 4)
			for j := range mask {
				mask[j] = float64(rng.IntN(2))
			}
			if _, why := s.Outside([]string{"a", "b", "c", "d"}, x, mask); why != nil {
				continue
			}
			at := func(j int, step float64) (g, slope []float64) {
				y := append([]float64(nil), x...)
				y[j] += step
				g, slope = make([]float64, 4), make([]float64, 4)
				w.At(s, y, mask, g, slope, &domain.Tangent{})
				return g, slope
			}
			for j, m := range mask {
				g0, slope := at(j, 0)
				require.GreaterOrEqual(t, g0[j], 0.)
				if m == 0 {
					require.Zero(t, g0[j])
					continue
				}
				up, _ := at(j, h)
				down, _ := at(j, -h)
				if forward, backward := (up[j]-g0[j])/h, (g0[j]-down[j])/h; math.Abs(forward-backward) < 1e-4 { // not at a kink
					require.InDelta(t, (forward+backward)/2, slope[j], 1e-4, "%s %v %v", name, x, mask)
					compared++
				}
				far := append([]float64(nil), x...)
				for i, o := range mask {
					if o == 0 {
						far[i] = math.NaN()
					}
				}
				g, sl := make([]float64, 4), make([]float64, 4)
				w.At(s, far, mask, g, sl, &domain.Tangent{})
				require.Equal(t, g0, g, "%s: what stands under a missing cell counts", name)
			}
		}
		require.Greater(t, compared, 200)

		g, slope := make([]float64, 4), make([]float64, 4)
		w.At(box(), []float64{0, 1, 0, 5}, []float64{1, 1, 1, 1}, g, slope, &domain.Tangent{})
		require.Zero(t, g[0])
		require.Equal(t, 1., slope[0])
		s := domain.All(2)
		s.Half = []domain.HalfSpace{{A: []float64{3, 4}, B: 1}}
		w.At(s, []float64{-1, 1}, []float64{1, 1}, g[:2], slope[:2], &domain.Tangent{})
		require.Equal(t, []float64{0, 0}, g[:2])
		require.InDeltaSlice(t, []float64{-0.6, -0.8}, slope[:2], 1e-12)
		w.At(s, []float64{-1, 1}, []float64{1, 0}, g[:2], slope[:2], &domain.Tangent{})
		require.Greater(t, g[0], 0.1, "a cut missing cell leaves no boundary")
		require.Zero(t, slope[0])
	}
}

// t_j is orthogonal to every half-space that is cut, with observed part e_j.
func TestTangent(t *testing.T) {
	rng := stream.New(4, 1)
	seen, lost := 0, 0
	for k := range 400 {
		s := domain.All(6)
		s.Lower[0] = 0
		s.Half = []domain.HalfSpace{half(6, rng), half(6, rng)}[:1+k%2]
		mask := make([]float64, 6)
		for j := range mask {
			mask[j] = float64(rng.IntN(2))
		}
		var tan domain.Tangent
		g, slope := make([]float64, 6), make([]float64, 6)
		domain.Weight{}.At(s, make([]float64, 6), mask, g, slope, &tan)
		for j, m := range mask {
			if m == 0 {
				continue
			}
			if tan.Lost[j] {
				require.Zero(t, g[j])
				lost++
				continue
			}
			dir := make([]float64, 6)
			dir[j] = 1
			for k, h := range s.Half {
				floats.AddScaled(dir, -h.A[j], tan.V[k])
			}
			cut := floats.Sum(mask) < 6
			for _, h := range s.Half {
				if cut {
					require.InDelta(t, 0, floats.Dot(h.A, dir), 1e-8)
				}
			}
			for i, o := range mask {
				if o != 0 && i != j || i == 0 && o == 0 {
					require.Zero(t, dir[i])
				}
			}
			if j > 0 && cut { // x = 0 is at least 1 away from the bounds of no column but the first
				stretch := 0.0
				for k, h := range s.Half {
					stretch += floats.Dot(h.A, h.A) * floats.Dot(tan.V[k], tan.V[k])
				}
				require.InDelta(t, math.Min(1, 4/stretch), g[j], 1e-9)
				seen++
			}
		}
	}
	require.Greater(t, seen, 100)
	require.Greater(t, lost, 10)
}

func TestSection(t *testing.T) {
	s := box()
	s.Half = []domain.HalfSpace{{A: []float64{1, 0, 0, 2}, B: 3}, {A: []float64{0, 1, 0, 0}, B: 2}}
	var c domain.Section
	x, mask := []float64{0.5, 1, 0, 0}, []float64{1, 1, 1, 0}
	s.Section(&c, x, mask)
	require.Len(t, c.Cuts, 1)
	single, ok := c.Single()
	require.True(t, ok)
	require.Equal(t, domain.HalfSpace{A: []float64{0, 0, 0, 2}, B: 2.5}, single)
	low, high := c.Interval(x, 3)
	require.Equal(t, []float64{-inf, 1.25}, []float64{low, high})
	require.True(t, c.Contains([]float64{9, 9, 9, 1.2}, mask))
	require.False(t, c.Contains([]float64{9, 9, 9, 1.3}, mask))
	s.Section(&c, x, []float64{0, 1, 1, 0})
	_, ok = c.Single() // x1 has a bound of its own
	require.False(t, ok)
	s.Section(&c, x, []float64{0, 0, 1, 1})
	require.Len(t, c.Cuts, 2)
}

func TestFile(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	s := box()
	s.Half = []domain.HalfSpace{{A: []float64{1, 0, -2.5, 0}, B: 3}}
	var text bytes.Buffer
	require.NoError(t, s.Write(&text, names))
	require.JSONEq(t, `{"lower":{"a":0,"c":-1},"upper":{"b":3,"c":1},"halfspace":{"a":{"a":1,"c":-2.5},"b":3}}`, text.String())
	read, err := domain.Parse(text.Bytes(), names)
	require.NoError(t, err)
	require.Equal(t, s, read)
}

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

func TestOutsideCensored(t *testing.T) {
	s, names := censored(), []string{"a", "b", "c", "d"}
	for why, x := range map[string][]float64{
		"is above the upper bound 2 of observed cells (others are censored)": {2.5, 2, 0, 0},
		"is above the upper bound 3 of observed cells (others are censored)": {1, 4, 0, 0},
		"is above the upper bound 1":                                         {1, 2, 3, 0},
	} {
		_, err := s.Outside(names, x, []float64{1, 1, 1, 1})
		require.EqualError(t, err, why)
	}
	s.Half = []domain.HalfSpace{{A: []float64{1, 0, 0, 1}, B: 3}}
	_, err := s.Outside(names, []float64{0, 2, 0, 1.5}, []float64{0, 1, 1, 1})
	require.ErrorContains(t, err, "at least 3.5", "a missing first cell is above 2")
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

// Whether a row can be completed depends neither on the columns' units nor on a half-space's scale.
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

func FuzzParseText(f *testing.F) {
	names := []string{"a", "b"}
	fuzztest.Reader[*domain.Domain]{
		Read: func(text string) (*domain.Domain, error) { return domain.Parse([]byte(text), names) },
		Write: func(s *domain.Domain) (string, error) {
			var text strings.Builder
			err := s.Write(&text, names)
			return text.String(), err
		},
		Check: func(t testing.TB, text string, s *domain.Domain) {
			if point, ok := s.Interior([]float64{0, 0}, []float64{0, 0}); ok {
				require.True(t, s.Contains(point), "%s %v", text, point)
			}
		},
		Accepts: []string{`{}`, `{"lower":{"a":0},"upper":{"b":3},"halfspace":{"a":{"a":1,"b":-1},"b":0.5}}`,
			`{"lower":{"a":-1e150},"upper":{"a":1e150}}`, `{"halfspaces":[{"a":{"a":1},"b":1},{"a":{"b":1},"b":1}]}`},
		Messages: map[string]string{
			`{"lower":{"e":0}}`:                   `there is no column "e"; columns are a, b`,
			`{"lower":{"a":1},"upper":{"a":1}}`:   `column "a": its lower bound 1 must be less than its upper bound 1`,
			`{"low":{}}`:                          `it should look like`,
			`{"halfspace":{"a":{"a":0},"b":1}}`:   `at least one coefficient`,
			`{"halfspace":{"a":{},"b":1}}`:        `needs both "a", coefficients by column, and "b"`,
			`{"halfspace":{"b":1}}`:               `needs both "a", coefficients by column, and "b"`,
			`{"halfspace":{"a":{"a":1}}}`:         `needs both "a", coefficients by column, and "b"`,
			`{"lower":{"a":"0"}}`:                 `takes no string; it should look like`,
			`[]`:                                  `it takes no array; it should look like`,
			`{"lower":{"a":0}} {"upper":{"a":1}}`: `there is text after the first object`,
			`{"lower":{"a":0}`:                    `it ends too early; it should look like`,
			``:                                    `it is empty; it should look like`,
			`{"lower":{"a":0},"halfspace":{"a":{"a":1},"b":-1}}`: `leave no room`,
			`nonsense`:       `it should look like`,
			`{"lower":null}`: `is null`,
			`{"lower":5}`:    `takes no number`,
		},
	}.Fuzz(f)
}
