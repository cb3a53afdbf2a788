package trainers

import (
	"math"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/losses"
)

// variational draws from the imputer q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ²),
// restricted to the domain. A row's draws share one forward pass.
type variational struct {
	r       int
	forward *graph.Program
	sd      []float64
	draws   restricted
}

func newVariational(s Setting) (Source, error) {
	forward, err := losses.NewForward(s.DType, s.Imputer, s.Model.Dim(), s.Batch)
	return &variational{r: s.Draws, forward: forward, sd: make([]float64, s.Model.Dim()), draws: restricted{domain: s.Domain}}, err
}

// Complete implements Source.
func (v *variational) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	copy(v.forward.Input(losses.InputX), b.X)
	if v.forward.Has(losses.InputMask) {
		copy(v.forward.Input(losses.InputMask), b.Mask)
	}
	var scale func(int) float64
	if v.forward.Has(losses.InputNoiseLevel) {
		copy(v.forward.Input(losses.InputSignal), b.Signal)
		copy(v.forward.Input(losses.InputNoiseLevel), b.Noise)
		scale = func(i int) float64 { return math.Exp(v.forward.Output(losses.OutputLevelLogSD)[i]) }
	}
	if err := v.forward.Run(); err != nil {
		return err
	}
	mean, logSD := v.forward.Output(losses.OutputMean), v.forward.Output(losses.OutputLogSD)
	for j, l := range logSD {
		v.sd[j] = math.Exp(l)
	}
	return v.draws.complete(b, v.r, x, logProposal, func(i int) []float64 { return mean[i*b.D : (i+1)*b.D] }, v.sd, scale, rng)
}
