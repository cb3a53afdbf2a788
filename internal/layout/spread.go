package layout

import (
	"math"

	"gonum.org/v1/gonum/spatial/r2"
)

const (
	nearest    = 0.75 // how near two nodes of a part may come, in units
	spreadings = 200  // sweeps that push nodes apart, at most
)

// spread takes for the unit the side of the square that a node has on average, where nodes lie
// evenly in the rectangle around them, and pushes nodes apart that are nearer than a share of it.
func (b block) spread() {
	k := len(b.at)
	if k == 1 {
		return
	}
	low, high := bounds(b.at)
	across, down := high.X-low.X, high.Y-low.Y
	unit := max(math.Sqrt(across*down/float64(k)), across/float64(k-1))
	for i, p := range b.at {
		b.at[i] = r2.Scale(1/max(unit, math.SmallestNonzeroFloat64), p)
	}
	for range spreadings {
		moved := false
		for i := range b.at {
			for j := range i {
				apart := r2.Sub(b.at[i], b.at[j])
				far := r2.Norm(apart)
				if far >= nearest-1e-6 {
					continue
				}
				if far == 0 {
					apart, far = r2.Vec{X: 1e-3, Y: 1e-3}, math.Sqrt2*1e-3
				}
				step := r2.Scale((nearest-far)/2/far, apart)
				b.at[i], b.at[j] = r2.Add(b.at[i], step), r2.Sub(b.at[j], step)
				moved = true
			}
		}
		if !moved {
			return
		}
	}
}
