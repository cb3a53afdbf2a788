package graph

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Parameterisation says how a Gaussian's precision depends on its parameters.
type Parameterisation int

const (
	// CholeskyFactor is P = LLᵀ with L_jj = exp(θ_jj): P is positive definite
	// for every θ. For parameter estimation.
	CholeskyFactor Parameterisation = iota
	// FreeSymmetric is P_jk = P_kj = θ_jk, one parameter per pair, so the
	// gradient of a pair is G_jk + G_kj. For the L1 path.
	FreeSymmetric
	// Natural is FreeSymmetric with η = Pμ in place of μ: the score η − Px is linear
	// in both, so one step size serves them. For the L1 path on truncated data,
	// where μ is not the mean of what is observed.
	Natural
)

// Gaussian is log q(x) = −½(x−μ)ᵀP(x−μ), hence s = −P(x−μ) and D = −diag P
// (maths.md, "Models"); Natural has log q(x) = −½xᵀPx + ηᵀx. It starts at μ = 0, P = I.
type Gaussian struct {
	d    int
	kind Parameterisation

	// Location is μ, for Natural η: (1, d).
	Location *Param
	// Packed holds θ_jk for j ≤ k, row by row: (1, d(d+1)/2). See PackedIndex.
	Packed *Param
	params []*Param
}

// NewGaussian is the standard normal on R^d.
func NewGaussian(d int, kind Parameterisation) *Gaussian {
	g := &Gaussian{d: d, kind: kind, Location: NewParam("mean", 1, d), Packed: NewParam("precision", 1, d*(d+1)/2)}
	g.params = []*Param{g.Location, g.Packed}
	if kind == Natural {
		g.Location.Name = "linear"
	}
	if kind != CholeskyFactor {
		for j := range d {
			g.Packed.Value[PackedIndex(d, j, j)] = 1
		}
	}
	return g
}

// PackedIndex is the place of the pair j ≤ k in a packed symmetric matrix.
func PackedIndex(d, j, k int) int { return j*d - j*(j-1)/2 + k - j }

// Unpack is the symmetric matrix (d, d) of its packed upper triangle.
func Unpack(d int, packed []float64) *mat.SymDense {
	p := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			p.SetSym(j, k, packed[PackedIndex(d, j, k)])
		}
	}
	return p
}

func (g *Gaussian) Dim() int         { return g.d }
func (g *Gaussian) Params() []*Param { return g.params }

// Terms implements Model.
func (g *Gaussian) Terms(b *Builder, x Node) Terms {
	n, _ := shape(x)
	p := g.PrecisionNode(b)
	location, minus := b.Param(g.Location), b.Scale(-1, p)
	t := Terms{
		Diagonal:       b.Rows(b.diagonal(minus), n),
		HessianProduct: func(v Node) Node { return b.MatMul(false, false, v, minus) },
		OneHessian:     true,
	}
	if g.kind == Natural {
		t.Score = b.AddRow(b.MatMul(false, false, x, minus), location)
		t.LogDensity = b.Scale(0.5, b.RowDot(x, b.AddRow(t.Score, location)))
		return t
	}
	r := b.AddRow(x, b.Scale(-1, location))
	t.Score = b.MatMul(false, false, r, minus)
	t.LogDensity = b.Scale(0.5, b.RowDot(r, t.Score))
	return t
}

// PrecisionNode is P (d, d) as a node.
func (g *Gaussian) PrecisionNode(b *Builder) Node {
	if g.kind == CholeskyFactor {
		l := b.factor(b.Param(g.Packed), g.d)
		return b.MatMul(false, true, l, l)
	}
	return b.symmetric(b.Param(g.Packed), g.d)
}

// Parameterisation says how the parameters stand for μ and P.
func (g *Gaussian) Parameterisation() Parameterisation { return g.kind }

// Mean is μ, a copy. For Natural it solves Pμ = η and is NaN where P is singular.
func (g *Gaussian) Mean() []float64 {
	mu := append([]float64(nil), g.Location.Value...)
	if g.kind != Natural {
		return mu
	}
	var v mat.VecDense
	if err := v.SolveVec(g.Precision(), mat.NewVecDense(g.d, mu)); err != nil && !isCondition(err) {
		for j := range mu {
			mu[j] = math.NaN()
		}
		return mu
	}
	return v.RawVector().Data
}

func isCondition(err error) bool {
	c, ok := err.(mat.Condition)
	return ok && !math.IsInf(float64(c), 1)
}

// SetMean sets μ; for Natural set the precision first.
func (g *Gaussian) SetMean(mu []float64) {
	copy(g.Location.Value, mu)
	if g.kind == Natural {
		mat.NewVecDense(g.d, g.Location.Value).MulVec(g.Precision(), mat.NewVecDense(g.d, append([]float64(nil), mu...)))
	}
}

// Precision is P, a copy.
func (g *Gaussian) Precision() *mat.SymDense {
	if g.kind != CholeskyFactor {
		return Unpack(g.d, g.Packed.Value)
	}
	p := mat.NewSymDense(g.d, nil)
	l := make([]float64, g.d*g.d)
	fillFactor(l, g.Packed.Value, g.d)
	p.SymOuterK(1, mat.NewDense(g.d, g.d, l))
	return p
}

// SetPrecision sets P. It fails if P has another size or, for CholeskyFactor,
// if it is not positive definite.
func (g *Gaussian) SetPrecision(p mat.Symmetric) error {
	if g.kind == CholeskyFactor {
		return setFactor(g.Packed.Value, p, g.d, "the precision")
	}
	if n := p.SymmetricDim(); n != g.d {
		return fmt.Errorf("a precision of size %d does not fit a model of %d columns", n, g.d)
	}
	for j := range g.d {
		for k := j; k < g.d; k++ {
			g.Packed.Value[PackedIndex(g.d, j, k)] = p.At(j, k)
		}
	}
	return nil
}

// setFactor packs the Cholesky factor of p, called what in errors.
func setFactor(packed []float64, p mat.Symmetric, d int, what string) error {
	if n := p.SymmetricDim(); n != d {
		return fmt.Errorf("%s: a matrix of size %d does not fit a model of %d columns", what, n, d)
	}
	var c mat.Cholesky
	if !c.Factorize(p) {
		return fmt.Errorf("%s: the matrix is not positive definite", what)
	}
	var l mat.TriDense
	c.LTo(&l)
	for j := range d {
		packed[PackedIndex(d, j, j)] = math.Log(l.At(j, j))
		for k := j + 1; k < d; k++ {
			packed[PackedIndex(d, j, k)] = l.At(k, j)
		}
	}
	return nil
}

// symmetric unpacks θ to a symmetric matrix.
func (b *Builder) symmetric(packed Node, d int) Node {
	return b.Apply(Op{Name: "symmetric", Rows: d, Cols: d,
		Kernel: unpack[float64](d), Single: unpack[float32](d),
		Reverse: func(_, g Node) []Node {
			return []Node{b.Apply(Op{Name: "symmetric'", Rows: 1, Cols: d * (d + 1) / 2,
				Kernel: pairs[float64](d), Single: pairs[float32](d)}, g)}
		}}, packed)
}

func unpack[T Float](d int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for j, i := 0, 0; j < d; j++ {
			for k := j; k < d; k, i = k+1, i+1 {
				out[j*d+k], out[k*d+j] = in[0][i], in[0][i]
			}
		}
		return nil
	}
}

// pairs adds the gradients of P_jk and P_kj.
func pairs[T Float](d int) Kernel[T] {
	return func(out []T, in [][]T) error {
		for j, i := 0, 0; j < d; j++ {
			out[i] = in[0][j*d+j]
			i++
			for k := j + 1; k < d; k, i = k+1, i+1 {
				out[i] = in[0][j*d+k] + in[0][k*d+j]
			}
		}
		return nil
	}
}

func fillFactor(l, packed []float64, d int) {
	clear(l)
	for j, i := 0, 0; j < d; j++ {
		l[j*d+j] = math.Exp(packed[i])
		i++
		for k := j + 1; k < d; k, i = k+1, i+1 {
			l[k*d+j] = packed[i]
		}
	}
}

// factor unpacks θ to the lower triangular L with L_jj = exp(θ_jj).
func (b *Builder) factor(packed Node, d int) Node {
	return b.Apply(Op{Name: "factor", Rows: d, Cols: d,
		Kernel: func(out []float64, in [][]float64) error {
			fillFactor(out, in[0], d)
			return nil
		},
		Reverse: func(out, g Node) []Node {
			return []Node{b.Apply(Op{Name: "factor'", Rows: 1, Cols: d * (d + 1) / 2,
				Kernel: func(o []float64, in [][]float64) error {
					l, g := in[0], in[1]
					for j, i := 0, 0; j < d; j++ {
						o[i] = g[j*d+j] * l[j*d+j]
						i++
						for k := j + 1; k < d; k, i = k+1, i+1 {
							o[i] = g[k*d+j]
						}
					}
					return nil
				}}, out, g)}
		}}, packed)
}

// diagonal is diag P as a row (1, d).
func (b *Builder) diagonal(p Node) Node {
	d, _ := shape(p)
	return b.Apply(Op{Name: "diagonal", Rows: 1, Cols: d,
		Kernel: takeDiagonal[float64], Single: takeDiagonal[float32],
		Reverse: func(_, g Node) []Node {
			return []Node{b.Apply(Op{Name: "diagonal'", Rows: d, Cols: d,
				Kernel: setDiagonal[float64], Single: setDiagonal[float32]}, g)}
		}}, p)
}

func takeDiagonal[T Float](out []T, in [][]T) error {
	for j := range out {
		out[j] = in[0][j*len(out)+j]
	}
	return nil
}

func setDiagonal[T Float](out []T, in [][]T) error {
	clear(out)
	d := len(in[0])
	for j, v := range in[0] {
		out[j*d+j] = v
	}
	return nil
}
