package simulate

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Quartic draws the coefficients θ (d, d) of a quartic model log q = Σ θ_ij x_i² x_j²
// for the paper's experiment "Non-Gaussian Model", which leaves them open: −I plus
// couplings ±0.4, each pair coupled with probability 2/(d−1), then shrunk so that the
// largest eigenvalue of θ is at most −0.1 and the density integrable. It fails for d < 2.
func Quartic(d int, rng *rand.Rand) (*mat.SymDense, error) {
	if d < 2 {
		return nil, fmt.Errorf("d = %d: the quartic experiment needs at least 2 columns", d)
	}
	couplings := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j + 1; k < d; k++ {
			if rng.Float64() < 2/float64(d-1) {
				couplings.SetSym(j, k, 0.4)
				if rng.Float64() < 0.5 {
					couplings.SetSym(j, k, -0.4)
				}
			}
		}
	}
	var e mat.EigenSym
	if !e.Factorize(couplings, false) {
		return nil, fmt.Errorf("the eigenvalues of %d couplings did not converge", d)
	}
	theta := mat.NewSymDense(d, nil)
	shrink := 1.0
	if top := e.Values(nil)[d-1]; top > 0.9 {
		shrink = 0.9 / top
	}
	theta.ScaleSym(shrink, couplings)
	for j := range d {
		theta.SetSym(j, j, -1)
	}
	return theta, nil
}
