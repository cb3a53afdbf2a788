package nets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/graph"
	"missingscore/graph/model"
)

// NetworkOptions are those of an energy or a score network.
type NetworkOptions struct {
	Hidden           []int  `json:"hidden"`            // units of each hidden layer; nil means 64, 64
	Activation       string `json:"activation"`        // of graph.Activations; "" means softplus, or silu if noise-conditional, by measured error
	NoiseConditional bool   `json:"noise_conditional"` // a model at every level of noise, a model.NoiseConditional
	Clean            Level  `json:"clean"`             // the level of data as they are, if noise-conditional; zero means {1, 0.01}
}

// clean is Clean with its default.
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
// e being features of the level of noise.
type perceptron struct {
	options    NetworkOptions
	asked      NetworkOptions // without their defaults
	activation *graph.Activation
	hidden     []layer
	level      *graph.Param // U; nil where there is no level
	out        *graph.Param // V (k, h)
	offset     *graph.Param // c (1, k); nil for an energy, which has no zero
	params     []*graph.Param
}

// checkLayers refuses layers without units, and more weights than there is memory for.
func (o NetworkOptions) checkLayers(d, k int) error {
	for l, h := range o.Hidden {
		if h < 1 || h > MostUnits {
			return fmt.Errorf("hidden layer %d has %d units: 1 to %d are possible", l+1, h, MostUnits)
		}
	}
	weights := numbersOf(slices.Concat([]int{d}, o.Hidden)...) + float64(k*o.Hidden[len(o.Hidden)-1])
	if o.NoiseConditional {
		weights += float64(levelFeatures * o.Hidden[0])
	}
	return model.CheckSize(weights, "a network of %d hidden layers for %d columns", len(o.Hidden), d)
}

// newPerceptron starts all weights as uniformFanIn does.
func newPerceptron(d, k int, o NetworkOptions, rng *rand.Rand) (*perceptron, error) {
	asked := o
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
	if c := o.clean(); !(c.Signal > 0) || !(c.Noise > 0) {
		return nil, fmt.Errorf("a clean level of signal %v and noise %v: both must be positive", c.Signal, c.Noise)
	}
	activation, err := graph.NewActivation(o.Activation)
	if err != nil {
		return nil, err
	}
	if o.NoiseConditional {
		o.Clean = o.clean()
	}
	if err := o.checkLayers(d, k); err != nil {
		return nil, err
	}
	p := &perceptron{options: o, asked: asked, activation: activation}
	add := func(name string, rows, cols, inputs int) *graph.Param {
		q := graph.NewParam(name, rows, cols)
		uniformFanIn(q, inputs, rng)
		p.params = append(p.params, q)
		return q
	}
	in := d
	for l, h := range o.Hidden {
		p.hidden = append(p.hidden, layer{add(fmt.Sprintf("weight %d", l+1), in, h, in), add(fmt.Sprintf("bias %d", l+1), 1, h, in)})
		in = h
	}
	if o.NoiseConditional {
		p.level = add("level weight", levelFeatures, o.Hidden[0], levelFeatures)
	}
	p.out = add("output weight", k, in, in)
	return p, nil
}

// TrainingDefaults implements model.Trainable, by measured error (benchmarks/neural).
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
	}
}

// LevelOptions implements LevelLearner.
func (p *perceptron) LevelOptions(clean Level) any {
	o := p.asked
	o.NoiseConditional = true
	if o.Clean == (Level{}) {
		o.Clean = clean
	}
	return o
}

// Options implements model.Configured.
func (p *perceptron) Options() any { return p.options }

// Params are θ.
func (p *perceptron) Params() []*graph.Param { return p.params }

// Quantities are the parameters as they are: weights and biases have no meaning of their own.
func (p *perceptron) Quantities() []model.Quantity {
	var qs []model.Quantity
	for _, q := range p.params {
		qs = append(qs, model.Quantity{Name: q.Name, Rows: q.Rows, Cols: q.Cols, Value: slices.Clone(q.Value)})
	}
	return qs
}

// SetQuantities sets the parameters to what Quantities of a network of the same options
// gave. It fails, and changes nothing, on any other.
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

// pass is a perceptron at n rows. Its x-derivatives are nodes, each differentiable
// by the parameters; what they have in common is there once.
type pass struct {
	*perceptron
	b     *graph.Builder
	d     int
	units []graph.Activated // of each hidden layer
}

// at adds the hidden layers at the rows x (n, d), whose level has features e; nil
// where there is none.
func (p *perceptron) at(b *graph.Builder, x, e graph.Node) *pass {
	_, d := graph.Shape(x)
	s := &pass{perceptron: p, b: b, d: d}
	a := x
	for l, layer := range p.hidden {
		z := b.Affine(a, b.Param(layer.weight), b.Param(layer.bias), false)
		if l == 0 && p.level != nil {
			z = b.Add(z, b.MatMul(false, false, e, b.Param(p.level)))
		}
		unit := b.Activate(p.activation, z)
		s.units = append(s.units, unit)
		a = unit.Value
	}
	return s
}

func (s *pass) weight(l int) graph.Node { return s.b.Param(s.hidden[l].weight) }

// value is f (n, k).
func (s *pass) value() graph.Node { return s.output(s.units[len(s.units)-1].Value) }

// output is aVᵀ + c.
func (s *pass) output(a graph.Node) graph.Node {
	f := s.b.MatMul(false, true, a, s.b.Param(s.out))
	if s.offset != nil {
		f = s.b.AddRow(f, s.b.Param(s.offset))
	}
	return f
}

// tangents are those of z_2, …, z_L and a_L along all coordinates, stacked (n·d, h).
// Those of z_1 are the rows of W_1, for every row alike.
func (s *pass) tangents() (z []graph.Node, a graph.Node) {
	a = s.b.Stack(s.units[0].Slope, s.weight(0))
	for l, unit := range s.units[1:] {
		z = append(z, s.b.MatMul(false, false, a, s.weight(l+1)))
		a = s.b.GroupProd(unit.Slope, z[l], s.d)
	}
	return z, a
}

// along is the tangents of z_1, …, z_L and a_L along v (n, d).
func (s *pass) along(v graph.Node) (z []graph.Node, a graph.Node) {
	a = v
	for l, unit := range s.units {
		z = append(z, s.b.MatMul(false, false, a, s.weight(l)))
		a = s.b.Prod(unit.Slope, z[l])
	}
	return z, a
}

// jacobianProduct is Jv (n, k), J the Jacobian of f.
func (s *pass) jacobianProduct(v graph.Node) graph.Node {
	_, a := s.along(v)
	return s.b.MatMul(false, true, a, s.b.Param(s.out))
}

// jacobianDiagonal is ∂_j f_j (n, d), for k = d.
func (s *pass) jacobianDiagonal() graph.Node {
	_, a := s.tangents()
	return s.b.StackDiagonal(s.b.MatMul(false, true, a, s.b.Param(s.out)))
}

// scalar is a pass of a scalar function with its reverse: by layer
//
//	gradient g_l = ∂f/∂a_l,  g_L = V,  g_l = (g_{l+1} ∘ act'(z_{l+1})) W_{l+1}ᵀ
//	curvature     c_l = g_l ∘ act''(z_l)
type scalar struct {
	*pass
	curvature []graph.Node // c_l
	slope     graph.Node   // ∇f (n, d)
}

// reverse adds the gradient by x.
func (s *pass) reverse() scalar {
	last := len(s.units) - 1
	n, _ := graph.Shape(s.units[last].Value)
	f := scalar{pass: s, curvature: make([]graph.Node, last+1)}
	g := s.b.Rows(s.b.Param(s.out), n)
	for l := last; l >= 0; l-- {
		f.curvature[l] = s.b.Prod(g, s.units[l].Curvature)
		g = s.b.MatMul(false, true, s.b.Prod(g, s.units[l].Slope), s.weight(l))
	}
	f.slope = g
	return f
}

// diagonal is ∂²f/∂x_j² = Σ_l Σ_k c_lk (∂z_lk/∂x_j)² (n, d): first tangents suffice,
// as each layer bends f only through its own activations.
func (f scalar) diagonal() graph.Node {
	b := f.b
	sum := b.MatMul(false, true, f.curvature[0], b.Square(f.weight(0)))
	z, _ := f.tangents()
	for l := range z {
		sum = b.Add(sum, b.Unstack(b.GroupSquares(f.curvature[l+1], z[l], f.d), f.d))
	}
	return sum
}

// hessianProduct is Hv (n, d), the derivative of the reverse sweep along v:
// with ġ and ż the derivatives of g and z, ġ_l = (ġ_{l+1} ∘ act' + c_{l+1} ∘ ż_{l+1}) W_{l+1}ᵀ.
func (f scalar) hessianProduct(v graph.Node) graph.Node {
	b := f.b
	z, _ := f.along(v)
	var g graph.Node
	for l := len(z) - 1; l >= 0; l-- {
		change := b.Prod(f.curvature[l], z[l])
		if g != nil {
			change = b.Add(b.Prod(g, f.units[l].Slope), change)
		}
		g = b.MatMul(false, true, change, f.weight(l))
	}
	return g
}
