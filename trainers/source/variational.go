package source

import (
	"math"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/losses"
	"missingscore/nets"
)

// variational is q'_φ(x_mis | x_obs) = N(μ_φ(x⁰)_mis, σ_φ²), restricted to the domain; a row's
// draws share one forward pass.
type variational struct {
	forward *graph.Program
	sd      []float64
	scale   []float64 // of the batch's rows, for a noise-conditional imputer
	draws   independent
}

// On a domain with a boundary it fails for an imputer that is not a nets.NormalConditional.
func newImputer(s Setting) (Source, error) {
	normal, ok := s.Imputer.(nets.NormalConditional)
	if !ok {
		return newStrata(s)
	}
	forward, err := losses.NewForward(s.DType, normal, s.Model.Dim(), s.Batch)
	return &variational{forward: forward, sd: make([]float64, s.Model.Dim()), draws: newIndependent(s.Draws, s.Domain)}, err
}

func (v *variational) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	n, err := v.normals(b)
	if err != nil {
		return err
	}
	return v.draws.complete(b, x, logProposal, n, rng)
}

func (v *variational) CompleteSingle(b *data.Batch, x, logProposal []float32, rng *Stream) error {
	n, err := v.normals(b)
	if err != nil {
		return err
	}
	return v.draws.completeSingle(b, x, logProposal, n, rng)
}

// RHat is for rows where rejection fails.
func (v *variational) RHat(b *data.Batch, rng *Stream) ([]float64, error) {
	n, err := v.normals(b)
	if err != nil {
		return nil, err
	}
	return v.draws.rhat(b, n, rng)
}

func (v *variational) normals(b *data.Batch) (n normals, err error) {
	copy(v.forward.Input(losses.InputX), b.X)
	if v.forward.Has(losses.InputMask) {
		copy(v.forward.Input(losses.InputMask), b.Mask)
	}
	if v.forward.Has(losses.InputNoiseLevel) {
		copy(v.forward.Input(losses.InputSignal), b.Signal)
		copy(v.forward.Input(losses.InputNoiseLevel), b.Noise)
	}
	if err := v.forward.Run(); err != nil {
		return n, err
	}
	mean, logSD := v.forward.Output(losses.OutputMean), v.forward.Output(losses.OutputLogSD)
	for j, l := range logSD {
		v.sd[j] = math.Exp(l)
	}
	n.mean, n.sd = mean, v.sd
	if v.forward.HasOutput(losses.OutputLevelLogSD) {
		v.scale = v.scale[:0]
		for _, l := range v.forward.Output(losses.OutputLevelLogSD) {
			v.scale = append(v.scale, math.Exp(l))
		}
		n.scale = v.scale
	}
	return n, nil
}
