package source

import (
	"math"

	"missingscore/data"
	"missingscore/losses"
	"missingscore/nets"
)

// newImputer draws from q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ²), restricted to the domain; a
// row's draws share one forward pass. On a domain with a boundary it fails for an imputer that is
// not a nets.NormalConditional.
func newImputer(s Setting) (Source, error) {
	imputer, ok := s.Imputer.(nets.NormalConditional)
	if !ok {
		return newStrata(s)
	}
	forward, err := losses.NewForward(s.DType, imputer, s.Model.Dim(), s.Batch)
	sd, scale := make([]float64, s.Model.Dim()), make([]float64, 0, s.Batch)
	return &independent{r: s.Draws, restricted: restricted{domain: s.Domain}, normals: func(b *data.Batch) (n normals, err error) {
		copy(forward.Input(losses.InputX), b.X)
		if forward.Has(losses.InputMask) {
			copy(forward.Input(losses.InputMask), b.Mask)
		}
		if forward.Has(losses.InputNoiseLevel) {
			copy(forward.Input(losses.InputSignal), b.Signal)
			copy(forward.Input(losses.InputNoiseLevel), b.Noise)
		}
		if err := forward.Run(); err != nil {
			return n, err
		}
		for j, l := range forward.Output(losses.OutputLogSD) {
			sd[j] = math.Exp(l)
		}
		n = normals{mean: forward.Output(losses.OutputMean), sd: sd}
		if forward.HasOutput(losses.OutputLevelLogSD) {
			scale = scale[:0]
			for _, l := range forward.Output(losses.OutputLevelLogSD) {
				scale = append(scale, math.Exp(l))
			}
			n.scale = scale
		}
		return n, nil
	}}, err
}
