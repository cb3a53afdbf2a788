package graph

import (
	"fmt"
	"maps"
)

// HessianDiagonal returns ∂²y_i/∂x_ij² (n, d) of y (n, 1) at the rows of x (n, d), where y_i
// depends on row i of x only. One forward pass sums over the operations o between x and y,
//
//	∂²y/∂x_j² = Σ_o g_o · o''[u̇_j, u̇_j]
//
// with g_o = ∂y/∂o and u̇_j the derivatives of its inputs along coordinate j. It fails at an
// operation without a second derivative or one that mixes rows.
func HessianDiagonal(b *Builder, y, x Node) (diagonal Node, err error) {
	n, d := shape(x)
	err = try(func() {
		s := &sweep{b: b, n: n, d: d}
		s.run(y, filled(b, 1, n, 1), map[Node]tangents{x: {y: filled(b, 1, n, d)}})
		diagonal = filled(b, 0, n, d)
		for _, bend := range s.bends {
			diagonal = b.Add(diagonal, bend)
		}
	})
	return diagonal, err
}

// JacobianDiagonal returns ∂y_ij/∂x_ij (n, d) of y (n, d). It fails as HessianDiagonal does.
func JacobianDiagonal(b *Builder, y, x Node) (diagonal Node, err error) {
	n, d := shape(x)
	err = try(func() {
		s := &sweep{b: b, n: n, d: d}
		if t := s.run(y, nil, map[Node]tangents{x: {y: filled(b, 1, n, d)}}); t.none() {
			diagonal = filled(b, 0, n, d)
		} else {
			diagonal = s.element(t)
		}
	})
	return diagonal, err
}

// JacobianProduct returns J_i v_i (n, k), J_i the Jacobian of row i of y (n, k) with respect to row
// i of x (n, d), and v (n, d). It stops the construction where JacobianDiagonal fails.
func JacobianProduct(b *Builder, y, x, v Node) Node {
	n, k := shape(y)
	s := &sweep{b: b, n: n, d: 1}
	if t := s.run(y, nil, map[Node]tangents{x: {all: v}}); !t.none() {
		return t.all
	}
	return filled(b, 0, n, k)
}

func try(f func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			err = e.err
		default:
			panic(e)
		}
	}()
	f()
	return nil
}

// tangents are the derivatives of a node (R, h) along the d coordinates of x; zero: none.
type tangents struct {
	// y (R, d), w (d, h) and k (R, h): along coordinate j element c changes by y_j w_jc k_c. A nil
	// k is all ones. If w and k are nil, element j changes by y_j along coordinate j only.
	y, w, k Node
	// all (R·d, h): row i·d+j is the derivative of row i along coordinate j.
	all Node
}

func (t tangents) none() bool     { return t.y == nil && t.all == nil }
func (t tangents) identity() bool { return t.y != nil && t.w == nil }

type sweep struct {
	b     *Builder
	n, d  int    // rows of x, and directions
	g     Node   // adjoint of the current operation; nil without second derivatives
	bends []Node // (n, d): the diagonal is their sum
}

// run returns the tangents of y from known ones. g is the adjoint of y.
func (s *sweep) run(y, g Node, known map[Node]tangents) tangents {
	sources := map[Node]bool{}
	for n, t := range known {
		sources[n] = !t.none()
	}
	order := paths(s.b, y, sources)
	adjoint := map[Node]Node{}
	if g != nil {
		adjoint = adjoints(s.b, order, y, g, sources)
	}
	at := maps.Clone(known)
	for _, n := range order {
		op := n.Op().(*kernelOp)
		in := make([]tangents, len(op.inputs))
		for i, input := range op.inputs {
			if op.differentiable(i) {
				in[i] = at[input]
			}
		}
		s.g = adjoint[n]
		switch {
		case op.tangents != nil:
			at[n] = op.tangents(s, in)
		case op.Elementwise:
			at[n] = s.elementwise(n, op, in[0])
		default:
			s.b.Failf("%s has no second derivative along coordinates, or mixes rows", op.Name)
		}
	}
	return at[y]
}

// through returns the tangents of an operation written as the expression y of its inputs.
func (s *sweep) through(y Node, inputs []Node, in []tangents) tangents {
	known := map[Node]tangents{}
	for i, n := range inputs {
		known[n] = in[i]
	}
	return s.run(y, s.g, known)
}

// bend adds a term of the diagonal, (R, d).
func (s *sweep) bend(part Node) {
	if isZero(s.b, part) {
		return
	}
	if rows, _ := shape(part); rows > s.n {
		part = s.b.GroupSum(part, rows/s.n)
	}
	s.bends = append(s.bends, part)
}

// elementwise: along a tangent u̇ the result changes by f'u̇, and bends by g f”u̇².
func (s *sweep) elementwise(n Node, op *kernelOp, u tangents) tangents {
	b, x := s.b, op.inputs[0]
	r, h := shape(n)
	if s.g != nil {
		if c := Gradient(b, op.Reverse(n, s.g)[0], x, s.g); !isZero(b, c) {
			switch {
			case u.identity():
				s.bend(b.Prod(c, b.Map(Square, u.y)))
			case u.y != nil:
				if u.k != nil {
					c = b.Prod(c, b.Map(Square, u.k))
				}
				s.bend(b.Prod(b.Map(Square, u.y), b.MatMul(false, true, c, b.Map(Square, u.w))))
			case h == 1:
				s.bend(GroupOuter(b, b.Map(Square, reshape(b, u.all, r, s.d)), c, 1))
			default:
				s.bend(reshape(b, GroupSquares(b, c, u.all, s.d), r, s.d))
			}
		}
	}
	return s.times(op.Reverse(n, filled(b, 1, r, h))[0], u)
}

func (s *sweep) times(k Node, u tangents) tangents {
	b := s.b
	r, h := shape(k)
	c, constant := b.equal[k]
	switch {
	case u.none() || constant && c == 1:
		return u
	case u.identity():
		return tangents{y: b.Prod(k, u.y)}
	case constant && u.y != nil:
		return tangents{y: multiple(b, c, u.y), w: u.w, k: u.k}
	case u.y != nil && u.k == nil:
		return tangents{y: u.y, w: u.w, k: k}
	case u.y != nil:
		return tangents{y: u.y, w: u.w, k: b.Prod(u.k, k)}
	case h == 1:
		return tangents{all: reshape(b, GroupOuter(b, reshape(b, s.all(u), r, s.d), k, 1), r*s.d, 1)}
	}
	return tangents{all: groupProd(b, k, s.all(u))}
}

func (s *sweep) all(u tangents) Node {
	switch {
	case u.all != nil:
		return u.all
	case u.w == nil:
		return spreadDiagonal(s.b, u.y)
	}
	r, _ := shape(u.y)
	y, even := s.b.equal[u.y]
	k := u.k
	if k == nil {
		_, h := shape(u.w)
		k = filled(s.b, 1, r, h)
	}
	if even {
		return stack(s.b, multiple(s.b, y, k), u.w)
	}
	return GroupOuter(s.b, stack(s.b, k, u.w), reshape(s.b, u.y, r*s.d, 1), 1)
}

func (s *sweep) element(u tangents) Node {
	switch {
	case u.all != nil:
		return DiagonalOf(s.b, u.all)
	case u.w != nil:
		r, _ := shape(u.y)
		along := s.b.Prod(u.y, s.b.Rows(DiagonalOf(s.b, u.w), r))
		if u.k != nil {
			along = s.b.Prod(along, u.k)
		}
		return along
	}
	return u.y
}

func (s *sweep) sum(a, c tangents) tangents {
	switch {
	case a.none():
		return c
	case c.none():
		return a
	case a.y != nil && c.y != nil && a.w == c.w && a.k == c.k:
		return tangents{y: s.b.Add(a.y, c.y), w: a.w, k: a.k}
	}
	return tangents{all: s.b.Add(s.all(a), s.all(c))}
}

// prod: u ∘ v changes by u̇v + uv̇, and bends by 2g u̇v̇.
func (s *sweep) prod(u, v Node, a, c tangents) tangents {
	b := s.b
	if s.g != nil && !a.none() && !c.none() {
		twice := b.Scale(2, s.g)
		r, h := shape(u)
		switch {
		case a.identity() || c.identity():
			s.bend(b.Prod(twice, b.Prod(s.element(a), s.element(c))))
		case h == 1:
			s.bend(GroupOuter(b, b.Prod(reshape(b, s.all(a), r, s.d), reshape(b, s.all(c), r, s.d)), twice, 1))
		default:
			s.bend(reshape(b, b.GroupDot(twice, b.Prod(s.all(a), s.all(c)), s.d), r, s.d))
		}
	}
	return s.sum(s.times(v, a), s.times(u, c))
}

func (s *sweep) rowSum(u tangents) tangents {
	if u.identity() {
		r, _ := shape(u.y)
		return tangents{all: reshape(s.b, u.y, r*s.d, 1)}
	}
	if u.k != nil {
		r, _ := shape(u.y)
		return tangents{all: reshape(s.b, s.b.Prod(u.y, s.b.MatMul(false, true, u.k, u.w)), r*s.d, 1)}
	}
	return tangents{all: s.b.RowSum(s.all(u))}
}

func (s *sweep) matMul(u tangents, w Node, transposed bool) tangents {
	switch {
	case u.all != nil || u.k != nil:
		return tangents{all: s.b.MatMul(false, transposed, s.all(u), w)}
	case u.w != nil:
		return tangents{y: u.y, w: s.b.MatMul(false, transposed, u.w, w)}
	case transposed:
		return tangents{y: u.y, w: s.b.MatMul(false, true, spreadDiagonal(s.b, filled(s.b, 1, 1, s.d)), w)}
	}
	return tangents{y: u.y, w: w}
}

// grouped checks that each group of r rows belongs to one row of x.
func (s *sweep) grouped(name string, rows, r int) {
	if rows/s.n%r != 0 {
		s.b.Failf("%s of %d rows each mixes rows of x", name, r)
	}
}

func (s *sweep) groupSum(u tangents, rows, h, r int) tangents {
	s.grouped("group sum", rows, r)
	if u.y != nil && u.k == nil {
		return tangents{y: s.b.GroupSum(u.y, r), w: u.w}
	}
	return tangents{all: fold(s.b, "groupsum", s.all(u), rows/r*s.d, h, s.d*h, r, false, nil)}
}

func (s *sweep) groupRepeat(u tangents, rows, h, r int) tangents {
	if u.y != nil && u.k == nil {
		return tangents{y: s.b.GroupRepeat(u.y, r), w: u.w}
	}
	return tangents{all: fold(s.b, "grouprepeat", s.all(u), rows*r*s.d, h, s.d*h, r, true, nil)}
}

// logSumExp: with weights p the logarithm changes by u̅ = Σ p u̇, and bends by g Σ p (u̇² − u̅²).
func (s *sweep) logSumExp(x Node, u tangents, r int) tangents {
	b := s.b
	rows, _ := shape(x)
	s.grouped("log-sum-exp", rows, r)
	along := reshape(b, s.all(u), rows, s.d)
	p := GroupSoftmax(b, x, r)
	mean := GroupMean(b, p, along, r)
	if s.g != nil {
		s.bend(GroupOuter(b, b.Sub(GroupMean(b, p, b.Map(Square, along), r), b.Map(Square, mean)), s.g, 1))
	}
	return tangents{all: reshape(b, mean, rows/r*s.d, 1)}
}

func isZero(b *Builder, n Node) bool { c, ok := b.equal[n]; return ok && c == 0 }

// swap exchanges two inner dimensions of x: order (·, p, q, l) to (·, q, p, l).
func swap(b *Builder, x Node, rows, cols, p, q, l int) Node {
	xr, xc := shape(x)
	if rows*cols != xr*xc || xr*xc%(p*q*l) != 0 {
		b.Fail(fmt.Errorf("swap: (%d, %d) to (%d, %d) by %d, %d, %d", xr, xc, rows, cols, p, q, l))
	}
	return b.Apply(Op{Name: "swap", Rows: rows, Cols: cols, Kernel: swapLoop[float64](p, q, l), Single: swapLoop[float32](p, q, l),
		Reverse: func(_, g Node) []Node { return []Node{swap(b, g, xr, xc, q, p, l)} }}, x)
}

func swapLoop[T Float](p, q, l int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for from := in[0]; len(from) > 0; from, out = from[p*q*l:], out[p*q*l:] {
			for i := range p {
				for j := range q {
					copy(out[(j*p+i)*l:(j*p+i+1)*l], from[(i*q+j)*l:])
				}
			}
		}
		return nil
	}
}
