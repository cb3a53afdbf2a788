package nets

import (
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/graph/model"
)

// NewEnergy makes a neural energy model of d columns with weights drawn from rng,
// a model of all levels of noise if the options say so. It fails on an unknown
// activation, on layers without units and on a clean level that is not positive.
func NewEnergy(d int, o NetworkOptions, rng *rand.Rand) (model.Model, error) {
	f, err := newPerceptron(d, 1, o, rng)
	if err != nil {
		return nil, err
	}
	if o.NoiseConditional {
		return &noiseEnergy{f, d, o.clean()}, nil
	}
	return newEnergy(d, f), nil
}

// energy is the unnormalised density with a neural energy,
//
//	log q(x) = f_θ(x) − ½ Σ_j κ_j (x_j − c_j)²,   κ_j = exp(θ_j) > 0
//
// f a perceptron with smooth activations, κ and c learned. As f grows no faster than
// |x| (all activations do so), q is integrable for every θ. It starts near the
// standard normal: for standardised columns. After a fit it may have a tilt.
type energy struct {
	*perceptron
	d int

	Centre       *graph.Param // c (1, d)
	LogStiffness *graph.Param // log κ (1, d)
	tilt         *tilt        // nil for none
}

func newEnergy(d int, f *perceptron) *energy {
	m := &energy{perceptron: f, d: d, Centre: graph.NewParam("centre", 1, d), LogStiffness: graph.NewParam("log stiffness", 1, d)}
	m.params = append(m.params, m.Centre, m.LogStiffness)
	if k := f.options.Tilt; k > 0 {
		m.tilt = newTilt(k, d)
		m.params = append(m.params, m.tilt.params()...)
	}
	return m
}

func (m *energy) Dim() int { return m.d }

// Evaluate implements model.Model.
func (m *energy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	gap := b.AddRow(x, b.Scale(-1, b.Param(m.Centre)))
	quadratic := b.Prod(b.Rows(b.Scale(-0.5, b.Map(graph.Exp, b.Param(m.LogStiffness))), n), gap)
	log := b.Add(m.at(b, x, nil), b.RowDot(gap, quadratic))
	if m.tilt != nil {
		log = b.Add(log, m.tilt.at(b, x))
	}
	return model.Derive(b, x, log)
}

// Rescale implements model.Parametric: the first layer and the quadratic term take in
// the change of units, so that the result is an energy again.
func (m *energy) Rescale(mean, deviation []float64) error {
	w, bias := m.hidden[0].weight, m.hidden[0].bias
	for j := range m.d {
		for k := range w.Cols {
			w.Value[j*w.Cols+k] /= deviation[j]
			bias.Value[k] -= mean[j] * w.Value[j*w.Cols+k]
		}
		m.Centre.Value[j] = mean[j] + deviation[j]*m.Centre.Value[j]
		m.LogStiffness.Value[j] -= 2 * math.Log(deviation[j])
	}
	if m.tilt != nil {
		m.tilt.rescale(mean, deviation)
	}
	return nil
}

// noiseEnergy is the neural energy of rows at any level of noise, x(t) = ax + σε,
// for standardised columns:
//
//	log q(x; a, σ) = −½‖x‖²/(a²+σ²) + (a/σ) f_θ(x/√(a²+σ²), e)
//
// e features of log(σ/a). The network adds a∇f/(σ√(a²+σ²)) to the score, the
// preconditioning of Karras et al. (2022) for a denoiser, here for an energy. As f grows
// no faster than |x|, q is integrable for every θ at every level.
type noiseEnergy struct {
	*perceptron
	d     int
	Clean Level // that of Evaluate
}

func (m *noiseEnergy) Dim() int { return m.d }

// Evaluate implements model.Model at the level Clean.
func (m *noiseEnergy) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	n, _ := graph.Shape(x)
	signal, noise := m.Clean.nodes(b, n)
	return m.terms(b, x, signal, noise)
}

// AtNoise implements model.NoiseConditional.
func (m *noiseEnergy) AtNoise(signal, noise graph.Node) model.Model {
	return bound{m, func(b *graph.Builder, x graph.Node) model.Evaluation { return m.terms(b, x, signal, noise) }}
}

func (m *noiseEnergy) terms(b *graph.Builder, x, signal, noise graph.Node) model.Evaluation {
	c := m.preconditioned(b, x, signal, noise, nil)
	return model.Derive(b, x, b.Add(c.by(0), b.Scale(0.5, b.RowDot(x, c.base))))
}
