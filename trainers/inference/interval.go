package inference

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data/network"
)

// Normal is the uncertainty of a partial correlation whose estimate r is about normal with
// standard error se, by Fisher's z = atanh r, whose standard error is se/(1 − r²):
//
//	interval tanh(z ± u se_z),  p = 2 Φ(−|z|/se_z),  u the quantile (1 + level)/2 of N(0, 1)
//
// so that it stays within (−1, 1) (Fisher 1921). Q is left to BenjaminiHochberg. An
// estimate of size 1 or more, or that is not finite, has nothing but itself.
func Normal(r, se, level float64, rows int) network.Uncertainty {
	out := network.Unknown(rows)
	out.Estimate, out.SE = r, se
	if !(math.Abs(r) < 1) || !(se > 0) || math.IsInf(se, 1) {
		return out
	}
	z, spread := math.Atanh(r), se/(1-r*r)
	u := distuv.UnitNormal.Quantile((1 + level) / 2)
	out.Low, out.High = math.Tanh(z-u*spread), math.Tanh(z+u*spread)
	out.P = 2 * distuv.UnitNormal.CDF(-math.Abs(z)/spread)
	return out
}
