package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/simulate"
)

// Parameterisation relates a Gaussian's precision to its parameters.
type Parameterisation int

const (
	// CholeskyFactor is P = LLᵀ with L_jj = exp(θ_jj): P is positive definite for every θ.
	CholeskyFactor Parameterisation = iota
	// FreeSymmetric is P_jk = P_kj = θ_jk, one parameter per pair. For the L1 path.
	FreeSymmetric
	// Natural is FreeSymmetric with η = Pμ instead of μ: the score η − Px is linear in both.
	Natural
)

// Gaussian is log q(x) = −½(x−μ)ᵀP(x−μ), s = −P(x−μ), D = −diag P
// (docs/theory/models.md#eq-gaussian); Natural has log q(x) = −½xᵀPx + ηᵀx. It starts at μ = 0, P = I.
type Gaussian struct {
	d    int
	kind Parameterisation

	// Location is μ, or η for Natural: (1, d).
	Location *graph.Param
	// Packed holds θ_jk for j ≤ k, row by row: (1, d(d+1)/2). See PackedIndex.
	Packed *graph.Param
	params []*graph.Param
}

// NewGaussian is the standard normal on R^d.
func NewGaussian(d int, kind Parameterisation) *Gaussian {
	g := &Gaussian{d: d, kind: kind, Location: graph.NewParam("mean", 1, d), Packed: graph.NewParam("precision", 1, d*(d+1)/2)}
	g.params = []*graph.Param{g.Location, g.Packed}
	if kind == Natural {
		g.Location.Name = "linear"
	}
	if kind != CholeskyFactor {
		for j := range d {
			g.Packed.Value[graph.PackedIndex(d, j, j)] = 1
		}
	}
	return g
}

func (g *Gaussian) Dim() int               { return g.d }
func (g *Gaussian) Params() []*graph.Param { return g.params }

func (g *Gaussian) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	p := g.PrecisionNode(b)
	location, minus := b.Param(g.Location), b.Scale(-1, p)
	t := Evaluation{
		Diagonal:        b.Rows(graph.DiagonalOf(b, minus), n),
		HessianProduct:  func(v graph.Node) graph.Node { return b.MatMul(false, false, v, minus) },
		ConstantHessian: true,
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

func (g *Gaussian) MeanNode(b *graph.Builder) graph.Node {
	if g.kind == Natural {
		b.Failf("the model has the parameter η = Pμ, not the mean μ")
	}
	return b.Param(g.Location)
}

func (g *Gaussian) LinearNode(b *graph.Builder) graph.Node {
	if g.kind == Natural {
		return b.Param(g.Location)
	}
	return b.MatMul(false, false, b.Param(g.Location), g.PrecisionNode(b))
}

func (g *Gaussian) PrecisionNode(b *graph.Builder) graph.Node {
	if g.kind == CholeskyFactor {
		l := graph.CholeskyFactor(b, b.Param(g.Packed), g.d)
		return b.MatMul(false, true, l, l)
	}
	return graph.Symmetric(b, b.Param(g.Packed), g.d)
}

func (g *Gaussian) Parameterisation() Parameterisation { return g.kind }

// Mean returns a copy of μ; for Natural NaN if P is singular.
func (g *Gaussian) Mean() []float64 {
	mu := append([]float64(nil), g.Location.Value...)
	if g.kind != Natural {
		return mu
	}
	// Scale P to a unit diagonal, so that it can be solved in float64.
	p, unit := g.Precision(), make([]float64, g.d)
	for j := range unit {
		unit[j] = 1
		if size := math.Abs(p.At(j, j)); size > 0 && !math.IsInf(size, 0) {
			_, exponent := math.Frexp(size)
			unit[j] = math.Ldexp(1, -exponent/2)
		}
		for k := range j + 1 {
			p.SetSym(j, k, p.At(j, k)*unit[j]*unit[k])
		}
	}
	floats.Mul(mu, unit)
	if !solve(p, mu) {
		return slices.Repeat([]float64{math.NaN()}, g.d)
	}
	floats.Mul(mu, unit)
	return mu
}

func solve(p *mat.SymDense, b []float64) (ok bool) {
	d := len(b)
	lower := mat.DenseCopyOf(p).RawMatrix().Data
	if graph.Factor(lower, d, d) {
		l, v := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Stride: d, Data: lower}, blas64.Vector{N: d, Inc: 1, Data: b}
		blas64.Trsv(blas.NoTrans, l, v)
		blas64.Trsv(blas.Trans, l, v)
		return true
	}
	var v mat.VecDense
	if c, fails := v.SolveVec(p, mat.NewVecDense(d, b)).(mat.Condition); fails && math.IsInf(float64(c), 1) {
		return false
	}
	copy(b, v.RawVector().Data)
	return true
}

// SetMean sets μ; for Natural set the precision first.
func (g *Gaussian) SetMean(mu []float64) {
	copy(g.Location.Value, mu)
	if g.kind == Natural {
		v := mat.NewVecDense(g.d, g.Location.Value)
		v.MulVec(g.Precision(), mat.VecDenseCopyOf(v))
	}
}

// Precision returns a copy of P.
func (g *Gaussian) Precision() *mat.SymDense {
	if g.kind != CholeskyFactor {
		return graph.Unpack(g.d, g.Packed.Value)
	}
	return factored(1, g.Packed.Value, g.d)
}

// factored returns c LLᵀ of the packed parameters of L.
func factored(c float64, packed []float64, d int) *mat.SymDense {
	p, l := mat.NewSymDense(d, nil), make([]float64, d*d)
	graph.FillCholeskyFactor(l, packed, d)
	p.SymOuterK(c, mat.NewDense(d, d, l))
	return p
}

// SetPrecision fails if P has another size or, for CholeskyFactor, is not positive definite.
func (g *Gaussian) SetPrecision(p mat.Symmetric) error {
	if g.kind == CholeskyFactor {
		return setFactor(g.Packed.Value, p, g.d, "the precision")
	}
	if n := p.SymmetricDim(); n != g.d {
		return fmt.Errorf("a precision of size %d does not fit a model of %d columns", n, g.d)
	}
	packSymmetric(g.Packed.Value, p)
	return nil
}

func (g *Gaussian) Free() Coupled {
	f := NewGaussian(g.d, FreeSymmetric)
	packSymmetric(f.Packed.Value, g.Precision())
	f.SetMean(g.Mean())
	return f
}

func (g *Gaussian) Matrix() *graph.Param { return g.Packed }

func packSymmetric(packed []float64, p mat.Symmetric) {
	if sparse, ok := p.(interface{ PackTo(packed []float64) }); ok {
		sparse.PackTo(packed)
		return
	}
	copy(packed, graph.Pack(p))
}

func (g *Gaussian) SampleRows(n int, s *domain.Domain, rng *rand.Rand) ([]float64, error) {
	t, err := simulate.Gaussian{Mean: g.Mean(), Precision: g.Precision()}.SampleInside(s, max(n, 2), rng)
	if err != nil {
		return nil, err
	}
	return t.Values[:n*t.D], nil
}

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
		packed[graph.PackedIndex(d, j, j)] = math.Log(l.At(j, j))
		for k := j + 1; k < d; k++ {
			packed[graph.PackedIndex(d, j, k)] = l.At(k, j)
		}
	}
	return nil
}
