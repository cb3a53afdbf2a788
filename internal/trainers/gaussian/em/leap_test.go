package em

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// S_jk = ρ^|j−k|: S⁻¹ has the diagonal 1/(1 − ρ²) at the ends, (1 + ρ²)/(1 − ρ²) between, and −ρ/(1
// − ρ²) beside it.
func TestLeapsReachTheMinimum(t *testing.T) {
	const d, rho, tolerance = 8, 0.98, 1e-9
	s := make([]float64, d*d)
	for i := range s {
		s[i] = math.Pow(rho, math.Abs(float64(i/d-i%d)))
	}
	descent := func(leaping bool) (l *Lasso, sweeps int) {
		l = NewLasso(d)
		packed := make([]float64, d*(d+1)/2)
		l.start(packed, s)
		for j := range d {
			for k := j + 1; k < d; k++ {
				l.active = append(l.active, pair{j, k})
			}
		}
		l.draw()
		var ahead leap
		for moved := math.Inf(1); moved > tolerance; sweeps++ {
			if moved = l.sweep(s, 0); leaping {
				before := l.loss(0)
				ahead.after(l, s, 0)
				require.LessOrEqual(t, l.loss(0), before+1e-12)
			}
		}
		return l, sweeps
	}
	l, leaping := descent(true)
	for j := range d {
		for k := range d {
			want := 0.0
			switch {
			case j == k && (j == 0 || j == d-1):
				want = 1 / (1 - rho*rho)
			case j == k:
				want = (1 + rho*rho) / (1 - rho*rho)
			case j-k == 1 || k-j == 1:
				want = -rho / (1 - rho*rho)
			}
			require.InDelta(t, want, l.p[j*d+k], 1e-4)
		}
	}
	_, plain := descent(false)
	t.Logf("%d sweeps, %d without leaps", leaping, plain)
	require.Less(t, leaping, plain/3)
}

// Of collinear columns, as resamples of ten rows have, the loss has no minimum without a penalty.
func TestDescentWithoutAMinimumEndsSoon(t *testing.T) {
	x, s := [][]float64{{1, 0}, {0, 1}, {0.8, 0.6}}, make([]float64, 9)
	for j := range 3 {
		for k := range 3 {
			s[j*3+k] = floats.Dot(x[j], x[k])
		}
	}
	l, start := NewLasso(3), time.Now()
	l.Tolerance = 1e-9
	require.False(t, l.Minimise([]float64{1, 0, 0, 1, 0, 1}, s, 0, 0))
	require.Less(t, time.Since(start), time.Second)
}
