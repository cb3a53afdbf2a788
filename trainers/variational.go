package trainers

import (
	"math"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/losses"
)

// variational draws from the imputer q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ²).
// A row's draws share one forward pass.
type variational struct {
	r       int
	forward *graph.Program
	sd      []float64
}

func newVariational(s Setting) (Source, error) {
	forward, err := losses.NewForward(s.Imputer, s.Model.Dim(), s.Batch)
	return &variational{s.Draws, forward, make([]float64, s.Model.Dim())}, err
}

// Complete implements Source.
func (v *variational) Complete(b *data.Batch, x, logProposal []float64, rng *rand.Rand) error {
	copy(v.forward.Input(losses.InputX), b.X)
	if v.forward.Has(losses.InputMask) {
		copy(v.forward.Input(losses.InputMask), b.Mask)
	}
	if err := v.forward.Run(); err != nil {
		return err
	}
	repeat(b, v.r, x)
	mean, logSD := v.forward.Output(losses.OutputMean), v.forward.Output(losses.OutputLogSD)
	for j, l := range logSD {
		v.sd[j] = math.Exp(l)
	}
	for i := range len(b.Rows) {
		mask, mu := b.Mask[i*b.D:(i+1)*b.D], mean[i*b.D:(i+1)*b.D]
		for k := i * v.r; k < (i+1)*v.r; k++ {
			row, log := x[k*b.D:(k+1)*b.D], 0.0
			for j, observed := range mask {
				if observed == 0 {
					e := rng.NormFloat64()
					row[j] = mu[j] + v.sd[j]*e
					log -= 0.5*e*e + logSD[j] + halfLog2Pi
				}
			}
			logProposal[k] = log
		}
	}
	return nil
}
