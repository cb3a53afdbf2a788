package nets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/graph"
	"missingscore/internal/strictjson"
)

// FlowOptions configures NewFlowImputer.
type FlowOptions struct {
	Steps  int `json:"steps"`  // K, tanh steps per cell; 0 means 8
	Hidden int `json:"hidden"` // units of each hidden layer; 0 means 100
}

// MostSteps is the largest K of a flow imputer.
const MostSteps = 50

// flowImputer is an inverse autoregressive flow (docs/theory/imputer.md#eq-imputer-flow): a missing
// cell is an increasing function of its own noise,
//
//	x_j = μ_j + e^{s_j} ( ε_j + Σ_k A_jk tanh((ε_j − b_jk) c_jk) ),   A, c > 0
//
// The coefficients are outputs of one ReLU network, 3d→h→h→d(2 + 3K), of the observed cells, the
// mask and the noise of the missing cells before j in column order. Steep steps make several modes;
// later cells can depend on the modes of earlier ones.
type flowImputer struct {
	d       int
	options FlowOptions
	hidden  [2]layer
	outputs [5]layer     // μ, s (h, d), log A, b, log c (h, K·d)
	before  [7][]float64 // masks of weights (1 = allowed), of hidden layers and outputs
	params  []*graph.Param
}

// Outputs of the network.
const (
	flowShift = iota
	flowScale
	flowHeight
	flowPlace
	flowSteepness
)

func newFlow(d int, text []byte, rng *rand.Rand) (Imputer, error) {
	var o FlowOptions
	if err := strictjson.Options(text, &o); err != nil {
		return nil, err
	}
	if o.Steps < 0 || o.Steps > MostSteps {
		return nil, fmt.Errorf("%d steps: 1 to %d are possible", o.Steps, MostSteps)
	}
	if err := checkUnits(o.Hidden); err != nil {
		return nil, err
	}
	o = o.resolved()
	if err := checkImputer(d, o.Hidden, numbersOf(3*d, o.Hidden, o.Hidden, d*(2+3*o.Steps))); err != nil {
		return nil, err
	}
	return NewFlowImputer(d, o, rng), nil
}

func (o FlowOptions) resolved() FlowOptions {
	if o.Steps == 0 {
		o.Steps = 8
	}
	if o.Hidden == 0 {
		o.Hidden = 100
	}
	return o
}

// NewFlowImputer makes a flow imputer of d columns with weights drawn from rng. It starts near
// standard normals, with small steps at random places.
func NewFlowImputer(d int, o FlowOptions, rng *rand.Rand) Imputer {
	o = o.resolved()
	m := &flowImputer{d: d, options: o}
	h := o.Hidden
	m.hidden[0], m.before[0] = newLayer(&m.params, "hidden 1", 3*d, h, rng), mayDepend(3*d, h, func(in int) int { return in - 2*d + 1 }, ownDegree(d))
	m.hidden[1], m.before[1] = newLayer(&m.params, "hidden 2", h, h, rng), mayDepend(h, h, ownDegree(d), ownDegree(d))
	for i, name := range []string{"shift", "log scale", "log height", "place", "log steepness"} {
		width := d
		if i >= flowHeight {
			width *= o.Steps
		}
		m.outputs[i] = newLayer(&m.params, name, h, width, rng)
		m.before[2+i] = mayDepend(h, width, ownDegree(d), func(out int) int { return out % d })
	}
	for i := range m.outputs[flowHeight].bias.Value {
		m.outputs[flowHeight].bias.Value[i] += lowStep
		m.outputs[flowPlace].bias.Value[i] += rng.NormFloat64() // break the symmetry of steps
	}
	return m
}

// lowStep is the initial logarithm of a step's height.
const lowStep = -2

// ownDegree returns the number of noises, in column order, that a hidden unit depends on.
func ownDegree(d int) func(int) int { return func(unit int) int { return unit % d } }

// mayDepend returns the mask of a layer's weights (in, out) that makes outputs depend on earlier
// noises only (Germain et al. 2015, MADE): inputs may depend on no more noises than the output.
func mayDepend(in, out int, seen, allowed func(int) int) []float64 {
	may := make([]float64, in*out)
	for i := range in {
		for o := range out {
			if seen(i) <= allowed(o) {
				may[i*out+o] = 1
			}
		}
	}
	return may
}

func (m *flowImputer) Params() []*graph.Param { return m.params }

func (m *flowImputer) Options() any { return m.options }

// Noise implements Imputer: one number per cell.
func (m *flowImputer) Noise() int { return m.d }

// Draw implements Imputer. The log density is −½ε_j² − log dx_j/dε_j, summed over missing cells, up
// to the normal's constant.
func (m *flowImputer) Draw(b *graph.Builder, rows ImputerRows, noise graph.Node) Strata {
	if _, d := graph.Shape(rows.X); d != m.d {
		b.Fail(fmt.Errorf("an imputer for %d columns got rows of %d", m.d, d))
	}
	k := m.options.Steps
	missing := b.Complement(rows.Mask)
	h := b.ConcatColumns(b.ConcatColumns(rows.X, rows.Mask), b.Prod(missing, noise))
	affine := func(l layer, place int, relu bool) graph.Node {
		in, out := l.weight.Rows, l.weight.Cols
		return b.Affine(h, b.Prod(b.Param(l.weight), b.Constant(in, out, m.before[place])), b.Param(l.bias), relu)
	}
	for i, l := range m.hidden {
		h = affine(l, i, true)
	}
	output := func(i int) graph.Node { return affine(m.outputs[i], 2+i, false) }
	steps := func(i int) graph.Node { return b.SplitRows(output(i), k) } // (n·k, d)
	logScale := b.Map(boundedLog, output(flowScale))
	height, steepness := b.Map(graph.Exp, b.Map(boundedLog, steps(flowHeight))), b.Map(graph.Exp, b.Map(boundedLog, steps(flowSteepness)))
	t := b.Map(hyperbolicTangent, b.Prod(steepness, b.Sub(b.GroupRepeat(noise, k), steps(flowPlace))))
	x := b.Add(output(flowShift), b.Prod(b.Map(graph.Exp, logScale), b.Add(noise, b.GroupSum(b.Prod(height, t), k))))
	slope := b.GroupSum(b.Prod(b.Prod(height, steepness), b.Complement(b.Square(t))), k) // in addition to 1
	log := b.Add(b.Scale(0.5, b.Square(noise)), b.Add(logScale, b.Map(logOnePlus, slope)))
	return Strata{K: 1, X: x, LogDensity: b.Scale(-1, b.RowSum(b.Prod(missing, log)))}
}

var hyperbolicTangent = &graph.Function{Name: "tanh", F: math.Tanh,
	Derivative: &graph.Function{Name: "tanh'", F: func(x float64) float64 { t := math.Tanh(x); return 1 - t*t }}}

var logOnePlus = &graph.Function{Name: "log(1 + x)", F: math.Log1p,
	Derivative: &graph.Function{Name: "log(1 + x)'", F: func(x float64) float64 { return 1 / (1 + x) }}}
