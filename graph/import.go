package graph

import (
	"fmt"
	"math"
	"strings"

	"gorgonia.org/gorgonia"

	"missingscore/internal/panics"
)

// Imported is a log density written with Gorgonia's operations. FromLogDensity makes a model of it:
//
//	q, err := graph.Import(d, f)
//	m := model.FromLogDensity(d, q.Params, q.LogDensity)
type Imported struct {
	// Params are the named leaves of f's graph other than x, with their values.
	Params []*Param

	f func(g *gorgonia.ExprGraph, x *gorgonia.Node) (*gorgonia.Node, error)
}

// Import translates a function that adds to g the log density, a vector (n) or matrix (n, 1), at
// the rows of x (n, d). It is called once per number of rows. Leaves need a name and a value.
// Import fails at an unsupported operation, naming it.
func Import(d int, f func(g *gorgonia.ExprGraph, x *gorgonia.Node) (*gorgonia.Node, error)) (*Imported, error) {
	m := &Imported{f: f}
	_, err := Build(func(b *Builder) { b.Output("log q", m.translate(b, b.Input("x", 2, d), true)) })
	return m, err
}

func (m *Imported) LogDensity(b *Builder, x Node) Node { return m.translate(b, x, false) }

func (m *Imported) translate(b *Builder, x Node, learn bool) Node {
	n, d := shape(x)
	g := gorgonia.NewGraph()
	from := gorgonia.NewMatrix(g, gorgonia.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("x"))
	var y *gorgonia.Node
	err := panics.Caught(func() (err error) {
		y, err = m.f(g, from)
		return err
	})
	switch {
	case err != nil:
		b.Fail(fmt.Errorf("the log density in Gorgonia's operations: %w", err))
	case y == nil:
		b.Failf("the log density in Gorgonia's operations is nil")
	}
	made := map[Node]Node{from: x}
	var visit func(n Node) Node
	visit = func(n Node) Node {
		if made[n] != nil {
			return made[n]
		}
		if n.Op() == nil || strings.HasPrefix(n.Op().String(), "const ") {
			made[n] = m.leaf(b, n, learn)
			return made[n]
		}
		var in []Node
		for it := g.From(n.ID()); it != nil && it.Next(); {
			in = append(in, visit(it.Node().(Node)))
			if strings.HasPrefix(n.Op().String(), "Repeat") {
				break // the other inputs are repetition counts
			}
		}
		made[n] = counterpart(b, n, in)
		return made[n]
	}
	return visit(y)
}

// sides returns the shape of a Gorgonia node: a vector is a column, a scalar (1, 1).
func sides(b *Builder, n Node) (rows, cols int) {
	switch s := n.Shape(); len(s) {
	case 0:
		return 1, 1
	case 1:
		return s[0], 1
	case 2:
		return s[0], s[1]
	}
	b.Failf("%s has shape %v: at most two dimensions are possible", n.Name(), n.Shape())
	return 0, 0
}

func (m *Imported) leaf(b *Builder, n Node, learn bool) Node {
	rows, cols := sides(b, n)
	if n.Value() == nil || n.Dtype() != gorgonia.Float64 {
		b.Failf("the leaf %q of Gorgonia's graph needs a value of type float64", n.Name())
	}
	values := numbers[float64](n.Value())
	if n.Op() != nil && rows*cols == 1 {
		return filled(b, values[0], 1, 1)
	}
	for _, p := range m.Params {
		if p.Name == n.Name() {
			if p.Rows != rows || p.Cols != cols {
				b.Failf("the leaf %q of Gorgonia's graph is (%d, %d) and (%d, %d)", n.Name(), p.Rows, p.Cols, rows, cols)
			}
			return b.Param(p)
		}
	}
	if !learn || n.Name() == "" {
		b.Failf("the leaf %q of Gorgonia's graph needs a name, the same for each number of rows", n.Name())
	}
	p := NewParam(n.Name(), rows, cols)
	copy(p.Value, values)
	m.Params = append(m.Params, p)
	return b.Param(p)
}

func counterpart(b *Builder, n Node, in []Node) Node {
	rows, cols := sides(b, n)
	name := n.Op().String()
	if f, ok := unaries[name]; ok {
		return f(b, in[0])
	}
	if f, ok := binaries[strings.TrimSuffix(strings.TrimSuffix(name, " false"), " true")]; ok {
		return f(b, spread(b, in[0], rows, cols), spread(b, in[1], rows, cols))
	}
	var size float64
	switch {
	case name == "^ false" && isFilled(b, in[1]):
		return b.Map(Power(b.equal[in[1]]), in[0])
	case name == "A × B", name == "A × b":
		return b.MatMul(false, false, in[0], in[1])
	case name == "Aᵀ{1, 0}":
		return swap(b, in[0], rows, cols, cols, rows, 1)
	case name == "Σ[1]":
		return b.RowSum(in[0])
	case strings.HasPrefix(name, "Softmax{-1, false}"), strings.HasPrefix(name, "Softmax{1, false}"):
		return JoinRows(b, GroupSoftmax(b, SplitRows(b, in[0], cols), cols), cols)
	case name == "Concat(axis=1)" && len(in) == 2:
		return ConcatColumns(b, in[0], in[1])
	case strings.HasPrefix(name, "Repeat"):
		return spread(b, in[0], rows, cols)
	case strings.HasPrefix(name, "Reshape"):
		return reshape(b, in[0], rows, cols)
	}
	if _, err := fmt.Sscanf(name, "SizeOf=%g", &size); err == nil {
		return filled(b, size, 1, 1)
	}
	b.Failf("Gorgonia's operation %q is not supported: score matching needs derivatives that are not implemented for it", name)
	return nil
}

func isFilled(b *Builder, n Node) bool { _, ok := b.equal[n]; return ok }

func spread(b *Builder, x Node, rows, cols int) Node {
	switch r, c := shape(x); {
	case r == rows && c == cols:
		return x
	case r == 1 && c == 1:
		return fold(b, "spread", x, rows, cols, 1, rows*cols, true, nil)
	case r == 1 && c == cols:
		return b.Rows(x, rows)
	case r == rows && c == 1:
		return b.Columns(x, cols)
	default:
		b.Failf("(%d, %d) cannot be repeated to (%d, %d)", r, c, rows, cols)
	}
	return nil
}

var binaries = map[string]func(b *Builder, x, y Node) Node{
	"+": (*Builder).Add,
	"-": (*Builder).Sub,
	"⊙": (*Builder).Prod,
	"÷": func(b *Builder, x, y Node) Node {
		if c, ok := b.equal[y]; ok {
			return b.Scale(1/c, x)
		}
		return b.Prod(x, b.Map(Power(-1), y))
	},
}

var unaries = map[string]func(b *Builder, x Node) Node{
	"exp":      mapped(Exp),
	"ln":       mapped(Log),
	"sqrt":     mapped(Power(0.5)),
	"inv":      mapped(Power(-1)),
	"invSqrt":  mapped(Power(-0.5)),
	"cube":     mapped(Power(3)),
	"sigmoid":  mapped(Logistic),
	"log1p":    mapped(&Function{Name: "log1p", F: math.Log1p, Derivative: shifted(1, 3)}),
	"expm1":    mapped(&Function{Name: "expm1", F: math.Expm1, Derivative: Exp}),
	"square":   mapped(Square),
	"neg":      func(b *Builder, x Node) Node { return b.Scale(-1, x) },
	"tanh":     mapped(Tanh),
	"softplus": mapped(Softplus),
}

func mapped(f *Function) func(b *Builder, x Node) Node {
	return func(b *Builder, x Node) Node { return b.Map(f, x) }
}

// shifted is the k-th derivative of log(1 + x), k ≥ 1, with more further derivatives.
func shifted(k, more int) *Function {
	c := -math.Pow(-1, float64(k)) * math.Gamma(float64(k))
	f := &Function{Name: "log1p'", F: func(x float64) float64 { return c * math.Pow(1+x, -float64(k)) }}
	if more > 0 {
		f.Derivative = shifted(k+1, more-1)
	}
	return f
}
