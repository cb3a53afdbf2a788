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
	n, _ := graph.Shape(x)
	l, eta := graph.CholeskyFactor(b, b.Param(m.packed), m.Dim()), b.Param(m.eta)
	k := b.MatMul(false, true, l, l)
	r := b.Map(graph.Power(0.5), x)
	return model.Derive(b, x, b.RowDot(r, b.Sub(b.Scale(2, b.Rows(eta, n)), b.MatMul(false, false, r, k))))
}
