package noise

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/internal/stream"
)

func TestRates(t *testing.T) {
	for _, s := range []Schedule{{Kind: Exploding}, {Kind: Preserving}, {Kind: Exploding, Least: 0.3, Most: 5}} {
		s, err := s.WithDefaults()
		require.NoError(t, err)
		const h = 1e-5
		for _, time := range []float64{0.1, 0.5, 0.9} {
			a, sigma := s.At(time)
			au, su := s.At(time + h)
			ad, sd := s.At(time - h)
			f, g2 := s.Rates(time)
			require.InDelta(t, (math.Log(au)-math.Log(ad))/(2*h), f, 1e-6)
			require.InEpsilon(t, (su*su-sd*sd)/(2*h)-2*f*sigma*sigma, g2, 1e-6)
			if s.Kind == Preserving {
				require.InDelta(t, 1, a*a+sigma*sigma, 1e-14)
				require.InEpsilon(t, s.Least+(s.Most-s.Least)*time, g2, 0.02) // β(t)
			}
		}
	}
	s, err := Schedule{}.WithDefaults()
	require.NoError(t, err)
	a, sigma := s.At(0)
	require.Equal(t, [2]float64{1, 0.01}, [2]float64{a, sigma})
	_, sigma = s.At(1)
	require.InDelta(t, 10, sigma, 1e-12)
}

func TestDraw(t *testing.T) {
	rng := stream.New(1)
	s, err := Schedule{Kind: Exploding, Least: 0.1, Most: 10, Levels: 3}.WithDefaults()
	require.NoError(t, err)
	seen := map[float64]int{}
	for range 3000 {
		_, sigma := s.Draw(rng)
		seen[math.Round(sigma*1e9)/1e9]++
	}
	require.Len(t, seen, 3)
	for _, level := range []float64{0.1, 1, 10} {
		require.InDelta(t, 1000, seen[level], 4*math.Sqrt(3000*2./9))
	}
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"linear"}`:                             "noise schedules are fixed, exploding, preserving",
		`{"kind":"exploding","least":2,"most":1}`:       "must be above the least",
		`{"kind":"exploding","levels":1}`:               "use at least 2",
		`{"kind":"fixed","most":1}`:                     "one level",
		`{"kind":"preserving","least":-1}`:              "must be positive",
		`{"kind":"exploding","most":"much","levels":0}`: `"most" takes no string`,
	} {
		var s Schedule
		require.ErrorContains(t, json.Unmarshal([]byte(text), &s), want, text)
	}
}
