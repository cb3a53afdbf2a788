package nets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/spelling"
)

// NetworkOptions configures an energy or a score network.
type NetworkOptions struct {
	Hidden           []int  `json:"hidden"`            // units per hidden layer; nil means 64, 64, for a noise-conditional score network 64, 64, 64
	Activation       string `json:"activation"`        // of graph.Activations; "" means softplus, or silu if noise-conditional, by measured error
	NoiseConditional bool   `json:"noise_conditional"` // a model.NoiseConditional
	Clean            Level  `json:"clean"`             // the level of Evaluate, if noise-conditional; zero means {1, 0.01}
	Gaps             bool   `json:"gaps,omitempty"`    // masks as input of a noise-conditional score network
	Tilt             int    `json:"tilt,omitempty"`    // components of the tilt mixture set after the fit of an energy; 0: none
}

// mostTilt is the largest accepted number of components of a tilt.
const mostTilt = 1000

func (o NetworkOptions) clean() Level {
	if o.Clean == (Level{}) {
		return leastLevel
	}
	return o.Clean
}

// perceptron is f: R^d → R^k with smooth activations,
//
//	z_1 = xW_1 + eU + b_1,  a_l = act(z_l),  z_{l+1} = a_lW_{l+1} + b_{l+1},  f = a_L Vᵀ + c
//
// where e are features of the noise level and, with Gaps, 1 − mask.
type perceptron struct {
	options    NetworkOptions
	activation *graph.Function
	hidden     []layer
	level      *graph.Param // U; nil without noise levels
	out        *graph.Param // V (k, h)
	offset     *graph.Param // c (1, k); nil for an energy
	params     []*graph.Param
}

func (o NetworkOptions) checkLayers(d, k int) error {
	for l, h := range o.Hidden {
		if h < 1 || h > MostUnits {
			return fmt.Errorf("hidden layer %d has %d units: 1 to %d are possible", l+1, h, MostUnits)
		}
	}
	weights := numbersOf(slices.Concat([]int{d}, o.Hidden)...) + k*o.Hidden[len(o.Hidden)-1]
	if o.NoiseConditional {
		weights += levelFeatures * o.Hidden[0]
	}
	return model.CheckSize(float64(weights), "a network of %d hidden layers for %d columns", len(o.Hidden), d)
}

func newPerceptron(d, k int, o NetworkOptions, rng *rand.Rand) (*perceptron, error) {
	if o.Hidden == nil {
		o.Hidden = []int{64, 64}
	}
	if o.Activation == "" {
		if o.Activation = "softplus"; o.NoiseConditional {
			o.Activation = "silu"
		}
	}
	if d < 1 || len(o.Hidden) == 0 {
		return nil, fmt.Errorf("a network of %d columns with %d hidden layers: at least one of each is needed", d, len(o.Hidden))
	}
	if o.Tilt < 0 || o.Tilt > mostTilt {
		return nil, fmt.Errorf("a tilt of %d components: 0 to %d are possible", o.Tilt, mostTilt)
	}
	if c := o.clean(); !(c.Signal > 0) || !(c.Noise > 0) {
		return nil, fmt.Errorf("a clean level of signal %v and noise %v: both must be positive", c.Signal, c.Noise)
	}
	activation, err := spelling.Find("smooth activation", o.Activation, graph.Activations)
	if err != nil {
		return nil, err
	}
	if o.NoiseConditional {
		o.Clean = o.clean()
	}
	if err := o.checkLayers(d, k); err != nil {
		return nil, err
	}
	p := &perceptron{options: o, activation: activation}
	add := func(name string, rows, cols, inputs int) *graph.Param {
		q := graph.NewParam(name, rows, cols)
		uniformFanIn(q, inputs, rng)
		p.params = append(p.params, q)
		return q
	}
	widths := slices.Concat([]int{d}, o.Hidden)
	in := widths[len(o.Hidden)]
	p.hidden = newLayers(&p.params, widths, rng)
	if o.NoiseConditional {
		rows := levelFeatures
		if o.Gaps {
			rows += d
		}
		p.level = add("level weight", rows, o.Hidden[0], rows)
	}
	p.out = add("output weight", k, in, in)
	return p, nil
}

// TrainingDefaults were chosen in benchmarks/neural.
func (p *perceptron) TrainingDefaults() model.Training {
	return model.Training{
		Epochs: func(batches int, noising bool) int {
			if noising {
				return 200
			}
			return min(300, model.EpochsOf(6000, batches))
		},
		Rate:         3e-3,
		Overfits:     true,
		PatientSteps: 500,
		Average:      0.1,
		ImputerSteps: 3,
		Draws:        2,
	}
}

func (p *perceptron) Options() any { return p.options }

func (p *perceptron) Params() []*graph.Param { return p.params }

// Quantities returns the parameters; single weights have no interpretation.
func (p *perceptron) Quantities() []model.Quantity {
	var qs []model.Quantity
	for _, q := range p.params {
		qs = append(qs, model.Quantity{Name: q.Name, Rows: q.Rows, Cols: q.Cols, Value: slices.Clone(q.Value)})
	}
	return qs
}

// SetQuantities sets the Quantities of a network with the same options.
func (p *perceptron) SetQuantities(qs []model.Quantity) error {
	if len(qs) != len(p.params) {
		return fmt.Errorf("%d quantities for a network of %d parameters", len(qs), len(p.params))
	}
	for i, q := range p.params {
		if g := qs[i]; g.Name != q.Name || g.Rows != q.Rows || g.Cols != q.Cols || len(g.Value) != len(q.Value) {
			return fmt.Errorf("%s (%d, %d) with %d numbers where %s (%d, %d) is needed", g.Name, g.Rows, g.Cols, len(g.Value), q.Name, q.Rows, q.Cols)
		}
	}
	for i, q := range p.params {
		copy(q.Value, qs[i].Value)
	}
	return nil
}

// at returns f (n, k) at the rows x (n, d); e are features of the noise level, nil without levels.
func (p *perceptron) at(b *graph.Builder, x, e graph.Node) graph.Node {
	a := x
	for l, layer := range p.hidden {
		z := b.Affine(a, b.Param(layer.weight), b.Param(layer.bias))
		if l == 0 && p.level != nil {
			z = b.Add(z, b.MatMul(false, false, e, b.Param(p.level)))
		}
		a = b.Map(p.activation, z)
	}
	f := b.MatMul(false, true, a, b.Param(p.out))
	if p.offset != nil {
		f = b.AddRow(f, b.Param(p.offset))
	}
	return f
}
