package penalty

import (
	"math"

	"missingscore/trainers/optim"
)

// L1 is Ω = |x|: weak couplings are exactly 0.
type L1 struct{}

// Name implements Penalty.
func (L1) Name() string { return "l1" }

// Note implements Penalty.
func (L1) Note() string { return "weak couplings become 0" }

// Value implements Penalty.
func (L1) Value(x float64) float64 { return math.Abs(x) }

// Shrink implements Penalty: sign(x)·max(|x| − t, 0).
func (L1) Shrink(x, t float64) float64 { return optim.SoftThreshold(x, t) }

// Largest implements Penalty: from that λ on, all couplings are 0.
func (L1) Largest(slope, _ float64) float64 { return slope }

// Ratio implements Penalty.
func (L1) Ratio() float64 { return 200 }
