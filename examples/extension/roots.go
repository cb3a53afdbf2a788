package extension

import (
	"math"
	"math/rand/v2"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
)

// Roots is the square-root graphical model of positive numbers (Inouye et al. 2016),
//
//	log q = −rᵀKr + 2ηᵀr,  r_j = √x_j,  K positive definite
//
// With g = η − Kr: s_j = g_j/r_j, D_j = −(K_jj + s_j)/2x_j. It gives no Hessian products.
type Roots struct{ eta, packed *graph.Param }

func init() {
	model.Models["roots"] = func(d int, _ []byte, _ *rand.Rand) (model.Model, error) {
		return Roots{graph.NewParam("eta", 1, d), graph.NewParam("interaction", 1, d*(d+1)/2)}, nil
	}
}

func (m Roots) Dim() int               { return m.eta.Cols }
func (m Roots) Params() []*graph.Param { return []*graph.Param{m.eta, m.packed} }

// InitialRMS implements model.FixedOrigin, for exponentials of rate 1, where it starts.
func (m Roots) InitialRMS() float64 { return math.Sqrt2 }

// Support implements model.Supported.
func (m Roots) Support() *domain.Domain {
	s := domain.All(m.Dim())
	clear(s.Lower)
	return s
}

// Evaluate implements model.Model.
func (m Roots) Evaluate(b *graph.Builder, x graph.Node) model.Evaluation {
	l, eta := b.CholeskyFactor(b.Param(m.packed), m.Dim()), b.Param(m.eta)
	k := b.MatMul(false, true, l, l)
	r, inverse := b.Map(power(1, 0.5, 2), x), b.Map(power(1, -0.5, 2), x)
	g := b.AddRow(b.Scale(-1, b.MatMul(false, false, r, k)), eta)
	score := b.Prod(g, inverse)
	return model.Evaluation{
		LogDensity: b.RowDot(r, b.AddRow(g, eta)),
		Score:      score,
		Diagonal:   b.Prod(b.Scale(-0.5, b.Square(inverse)), b.AddRow(score, b.DiagonalOf(k))),
	}
}

// power is c·x^p with so many derivatives.
func power(c, p float64, derivatives int) *graph.Function {
	f := &graph.Function{Name: "power", F: func(x float64) float64 { return c * math.Pow(x, p) }}
	if derivatives > 0 {
		f.Derivative = power(c*p, p-1, derivatives-1)
	}
	return f
}
