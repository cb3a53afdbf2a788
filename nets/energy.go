package nets

import (
	"math"
	"math/rand/v2"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
)

// NewEnergy makes a neural energy model of d columns with weights drawn from rng, noise-conditional
// if the options say so. It fails on an unknown activation, empty layers and a clean level that is
// not positive.
func NewEnergy(d int, o NetworkOptions, rng *rand.Rand) (model.Model, error) {
	f, err := newPerceptron(d, 1, o, rng)
	if err != nil {
		return nil, err
	}
	if o.NoiseConditional {
		return &noisy{f, d, o.clean(), noiseEnergy}, nil
	}
	return newEnergy(d, f), nil
}

// energy is the unnormalised density with a neural energy,
//
//	log q(x) = f_θ(x) − ½ Σ_j κ_j (x_j − c_j)²,   κ_j = exp(θ_j) > 0
//
// where f is a perceptron with smooth activations, and κ and c are learned. f grows at most
// linearly, so q is integrable for every θ. It needs standardised columns.
type energy struct {
	*perceptron
	d int

	Centre       *graph.Param // c (1, d)
	LogStiffness *graph.Param // log κ (1, d)
	tilt         *tilt        // nil for none
}

func newEnergy(d int, f *perceptron) *energy {
	m := &energy{perceptron: f, d: d, Centre: graph.NewParam("centre", 1, d), LogStiffness: graph.NewParam("log stiffness", 1, d)}
	if k := f.options.Tilt; k > 0 {
		m.tilt = newTilt(k, d)
	}
	m.list()
	return m
}

// list adds to the perceptron's parameters.
func (m *energy) list() {
	n := 2*len(m.hidden) + 1
	m.params = append(slices.Clone(m.params[:n]), m.Centre, m.LogStiffness)
	if m.options.Tilt = 0; m.tilt != nil {
		m.options.Tilt = m.tilt.from.Rows
		m.params = append(m.params, m.tilt.params()...)
	}
}

func (m *energy) Dim() int { return m.d }

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

// Rescale puts the change of units into the first layer and the quadratic term.
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

// noiseEnergy is the neural energy of rows x(t) = ax + σε at any noise level, for standardised
// columns:
//
//	log q(x; a, σ) = −½‖x‖²/(a²+σ²) + (a/σ) f_θ(x/√(a²+σ²), e)
//
// where e are features of log(σ/a). The network adds a∇f/(σ√(a²+σ²)) to the score, the
// preconditioning of Karras et al. (2022). f grows at most linearly, so q is integrable for every θ
// and level.
func noiseEnergy(b *graph.Builder, c preconditioned, x graph.Node) model.Evaluation {
	return model.Derive(b, x, b.Add(c.by(0), b.Scale(0.5, b.RowDot(x, c.base))))
}
