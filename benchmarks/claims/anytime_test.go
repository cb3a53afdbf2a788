package claims

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/internal/stream"
)

// At the first look the interval is x̄ ± a s/√m with 2 (1 − F(a) + a f(a)) = risk, wider than
// Student's; later ones are wider than Student's, too, and narrow as √(log(n)/n).
func TestAnytimeFactor(t *testing.T) {
	// F and f of 3 degrees of freedom in closed form:
	// F(a) = 1/2 + (x/(1 + x²) + arctan x)/π and f(a) = 2/(π √3 (1 + x²)²), x = a/√3.
	for _, risk := range []float64{0.5, 0.05, 0.05 / 40} {
		a := firstLook(risk)
		x := a / math.Sqrt(3)
		F := 0.5 + (x/(1+x*x)+math.Atan(x))/math.Pi
		f := 2 / (math.Pi * math.Sqrt(3) * (1 + x*x) * (1 + x*x))
		require.InEpsilon(t, risk, 2*(1-F+a*f), 1e-9)
		require.InEpsilon(t, a, anytimeFactor(LeastReplicates, 1-risk), 1e-12)
	}
	for _, n := range []int{4, 8, 16, 100} {
		mean, half := meanInterval(ramp(n), 0.95)
		same, always := meanAnytime(ramp(n), 0.95)
		require.Equal(t, mean, same)
		require.Greater(t, always, half)
	}
	large := 1_000_000
	b := math.Pow(1+firstLook(0.05)*firstLook(0.05)/3, 4) / 4
	require.InEpsilon(t, math.Sqrt(math.Log(b*float64(large))), anytimeFactor(large, 0.95), 1e-4)
}

// Whoever looks after each replicate from the fourth to the two hundredth, and stops at the first
// interval without the truth, is wrong in one run of twenty at most; with Student's intervals
// in many more. Tolerances are four standard errors of the shares.
func TestLookingAfterEachReplicate(t *testing.T) {
	const runs, differences, last, level = 6000, 300, 200, 0.95
	rng := stream.New(1, stream.Simulate)
	var student, always [last + 1]float64
	for n := LeastReplicates; n <= last; n++ {
		_, half := meanInterval(ramp(n), level)
		student[n] = half / standardError(ramp(n))
		always[n] = anytimeFactor(n, level)
	}
	wrong, plain, apart := 0, 0, 0
	for run := range runs {
		missed, missedPlain := false, false
		mean, squares := 0.0, 0.0 // Welford's
		for n := 1; n <= last; n++ {
			x := rng.NormFloat64()
			before := mean
			mean += (x - mean) / float64(n)
			squares += (x - before) * (x - mean)
			if n >= LeastReplicates {
				away := math.Abs(mean) / math.Sqrt(squares/float64(n-1)/float64(n))
				missed = missed || away >= always[n]
				missedPlain = missedPlain || away >= student[n]
			}
		}
		wrong, plain = wrong+count(missed), plain+count(missedPlain)
		if run < differences {
			apart += count(differenceMissed(rng.NormFloat64, level))
		}
	}
	share := func(k int) float64 { return float64(k) / runs }
	ofDifferences := float64(apart) / differences
	se := math.Sqrt(level * (1 - level) / runs)
	t.Logf("wrong at some look: %.4f ± %.4f, with Student's intervals %.4f; difference of two samples %.4f", share(wrong), se, share(plain), ofDifferences)
	require.Less(t, share(wrong), 0.05+4*se)
	require.Greater(t, share(wrong), 0.02, "it would be wider than it need be")
	require.Greater(t, share(plain), 0.2, "Student's interval is not made for many looks")
	require.Less(t, ofDifferences, 0.05)
}

// differenceMissed tells whether some interval of a difference of two means, of samples of unlike
// variance that grow together, lacks 0.
func differenceMissed(draw func() float64, level float64) bool {
	var x, y []float64
	for range 25 {
		x, y = append(x, draw()), append(y, 3*draw())
		if len(x) < LeastReplicates {
			continue
		}
		if difference, half := differenceAnytime(x, y, level); math.Abs(difference) >= half {
			return true
		}
	}
	return false
}

func ramp(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

func standardError(x []float64) float64 { return stat.StdErr(stat.StdDev(x, nil), float64(len(x))) }

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
