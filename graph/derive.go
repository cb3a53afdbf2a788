package graph

// Reverse makes nodes, so a gradient can be differentiated again; Gorgonia's Grad cannot do this.

// Gradient returns ∂(Σ y)/∂x in the shape of x, by one reverse pass. Nodes in held count as
// constants. It stops the construction at an operation without a derivative.
func Gradient(b *Builder, y, x Node, held ...Node) Node {
	sources := map[Node]bool{x: true}
	for _, h := range held {
		sources[h] = false
	}
	r, c := shape(y)
	if g := adjoints(b, paths(b, y, sources), y, filled(b, 1, r, c), sources)[x]; g != nil {
		return g
	}
	r, c = shape(x)
	return filled(b, 0, r, c)
}

// paths returns the nodes between sources and y in topological order; sources[n] is false for held n.
func paths(b *Builder, y Node, sources map[Node]bool) (order []Node) {
	depends := map[Node]bool{}
	var visit func(n Node) bool
	visit = func(n Node) bool {
		if source, ok := sources[n]; ok {
			return source
		}
		if found, ok := depends[n]; ok {
			return found
		}
		found := false
		if op, ok := n.Op().(*kernelOp); ok {
			for i, input := range op.inputs {
				if op.differentiable(i) && visit(input) {
					found = true
				}
			}
			if found && op.Reverse == nil {
				b.Fail(errNoDerivative(op.Name))
			}
		}
		if depends[n] = found; found {
			order = append(order, n)
		}
		return found
	}
	visit(y)
	return order
}

// adjoints returns the gradients with respect to order and sources, from gradient g of y.
func adjoints(b *Builder, order []Node, y, g Node, sources map[Node]bool) map[Node]Node {
	adjoint, inside := map[Node]Node{y: g}, map[Node]bool{}
	for _, n := range order {
		inside[n] = true
	}
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		op := n.Op().(*kernelOp)
		if adjoint[n] == nil {
			continue
		}
		for k, v := range op.Reverse(n, adjoint[n]) {
			switch input := op.inputs[k]; {
			case v == nil || !inside[input] && !sources[input]:
			case adjoint[input] == nil:
				adjoint[input] = v
			default:
				adjoint[input] = b.Add(adjoint[input], v)
			}
		}
	}
	return adjoint
}

// Operations simplify for filled constants.
func filled(b *Builder, c float64, rows, cols int) Node {
	k := filling{c, rows, cols}
	n, ok := b.fillings[k]
	if !ok {
		values := make([]float64, rows*cols)
		for i := range values {
			values[i] = c
		}
		n = b.Constant(rows, cols, values)
		b.fillings[k], b.equal[n] = n, c
	}
	return n
}

type filling struct {
	c          float64
	rows, cols int
}

func multiple(b *Builder, c float64, x Node) Node {
	if c == 1 {
		return x
	}
	return b.Scale(c, x)
}

func reshape(b *Builder, x Node, rows, cols int) Node {
	if of := b.reshaped[x]; of != nil {
		x = of
	}
	if r, c := shape(x); r == rows && c == cols {
		return x
	}
	n := fold(b, "reshape", x, rows, cols, 1, 1, false, nil)
	b.reshaped[n] = x
	return n
}
