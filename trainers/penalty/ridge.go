package penalty

import "math"

// Ridge is Ω = x²/2: all couplings are smaller, none is 0.
type Ridge struct{}

// Name implements Penalty.
func (Ridge) Name() string { return "ridge" }

// Note implements Penalty.
func (Ridge) Note() string { return "all couplings become smaller" }

// Value implements Penalty.
func (Ridge) Value(x float64) float64 { return x * x / 2 }

// Shrink implements Penalty: x/(1 + t).
func (Ridge) Shrink(x, t float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return x / (1 + t)
}

// nearlyZero is the largest coupling beside the diagonal's mean where a path begins.
const nearlyZero = 0.02

// Largest implements Penalty: there the largest coupling, at most slope/λ, is a fiftieth of size.
func (Ridge) Largest(slope, size float64) float64 { return slope / (nearlyZero * size) }

// Ratio implements Penalty.
func (Ridge) Ratio() float64 { return 2000 }
