package nets

import (
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// NewScoreNetwork makes a score network of d columns with weights drawn from rng, noise-conditional
// if the options say so. It fails as NewEnergy does.
func NewScoreNetwork(d int, o NetworkOptions, rng *rand.Rand) (model.Model, error) {
	if o.NoiseConditional && o.Hidden == nil {
		o.Hidden = []int{64, 64, 64}
	}
	f, err := newPerceptron(d, d, o, rng)
	if err != nil {
		return nil, err
	}
	f.offset = graph.NewParam("output bias", 1, d)
	f.params = append(f.params, f.offset)
	switch n := (noiseScoreNetwork{&noisy{f, d, o.clean(), noiseScore}}); {
	case o.NoiseConditional && o.Gaps:
		return gapScoreNetwork{n}, nil
	case o.NoiseConditional:
		return n, nil
	}
	return &scoreNetwork{f, d}, nil
}

// scoreNetwork is a score without a density, MissDiff's form (Ouyang et al. 2023):
//
//	s(x) = F_θ(x) − x
//
// where F is a perceptron R^d → R^d with smooth activations. It has no log density, and its
// Jacobian need not be symmetric.
type scoreNetwork struct {
	*perceptron
	d int
}

func (m *scoreNetwork) Dim() int { return m.d }

func (m *scoreNetwork) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	return model.DeriveScore(b, x, b.Sub(m.at(b, x, nil), x))
}

// noiseScoreNetwork is a scoreNetwork of rows x(t) = ax + σε at any noise level, for standardised
// columns:
//
//	s(x; a, σ) = −x/(a²+σ²) + a/(σ√(a²+σ²)) F_θ(x/√(a²+σ²), e)
//
// where e are features of log(σ/a): the preconditioning of Karras et al. (2022).
type noiseScoreNetwork struct{ *noisy }

func (m noiseScoreNetwork) TrainingDefaults() model.Training {
	t := m.perceptron.TrainingDefaults()
	t.Epochs = func(batches int, _ bool) int { return max(25, model.EpochsOf(10_000, batches)) }
	t.PatientSteps, t.HeldOutDraws = 2000, 32
	return t
}

func noiseScore(b *graph.Builder, c preconditioned, x graph.Node) model.Evaluation {
	return model.DeriveScore(b, x, b.Add(c.by(1), c.base))
}

// gapScoreNetwork is a noiseScoreNetwork whose F has 1 − mask as an input, and zeros in the missing
// cells:
//
//	s_j(x_Λ; a, σ, Λ), the score of the observed cells Λ alone
//
// Evaluate and AtNoise return the score of complete rows.
type gapScoreNetwork struct{ noiseScoreNetwork }

func (m gapScoreNetwork) AtGaps(signal, noise, mask graph.Node) model.Model {
	return bound{m, m.noisy, signal, noise, mask}
}
