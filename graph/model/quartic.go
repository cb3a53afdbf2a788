package model

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// Quartic is the paper's "ICA inspired" model log q(x) = Σ_ij θ_ij x_i² x_j² with
// symmetric θ (docs/theory/models.md#eq-quartic). With z = x∘x
//
//	log q = zᵀθz,  s = 4 x∘(θz),  D = 4θz + 8 diag(θ)∘z,  Hv = 4(θz)∘v + 8 x∘(θ(x∘v))
//
// The density is integrable if −zᵀθz > 0 for all z ≥ 0 but 0. It is kept so by its
// parameters: −θ = LLᵀ with L_jj = exp(·), negative definite for every value. That is
// sufficient, and necessary up to couplings so negative that −θ is copositive
// without being positive definite. It starts at θ = −½ I.
type Quartic struct {
	d int
	// Packed holds L as CholeskyFactor does: (1, d(d+1)/2). See PackedIndex.
	Packed *graph.Param
}

// NewQuartic is the model with θ = −½ I.
func NewQuartic(d int) *Quartic {
	q := &Quartic{d: d, Packed: graph.NewParam("quartic", 1, d*(d+1)/2)}
	for j := range d {
		q.Packed.Value[graph.PackedIndex(d, j, j)] = 0.5 * math.Log(0.5)
	}
	return q
}

func (q *Quartic) Dim() int               { return q.d }
func (q *Quartic) Params() []*graph.Param { return []*graph.Param{q.Packed} }

// InitialRMS implements FixedOrigin, for the model is even in each column: where
// log q = −x⁴/2, E x² = √2 Γ(3/4)/Γ(1/4).
func (q *Quartic) InitialRMS() float64 {
	return math.Sqrt(math.Sqrt2 * math.Gamma(0.75) / math.Gamma(0.25))
}

// TrainingDefaults implements Trainable: the model overfits, with 1000 rows 5 to 15 passes
// are best, the fewer the more columns. With a slower imputer Marg-Var diverges in 20 columns.
func (q *Quartic) TrainingDefaults() Training {
	return Training{
		Epochs:      func(batches int, _ bool) int { return max(25, EpochsOf(250, batches)) },
		ImputerRate: 3e-3,
	}
}

// Evaluate implements Model.
func (q *Quartic) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	l := b.CholeskyFactor(b.Param(q.Packed), q.d)
	theta := b.Scale(-1, b.MatMul(false, true, l, l))
	z := b.Square(x)
	tz := b.MatMul(false, false, z, theta)
	return Evaluation{
		LogDensity: b.RowDot(z, tz),
		Score:      b.Scale(4, b.Prod(x, tz)),
		Diagonal:   b.Add(b.Scale(4, tz), b.Scale(8, b.Prod(b.Rows(b.DiagonalOf(theta), n), z))),
		HessianProduct: func(v graph.Node) graph.Node {
			cross := b.Prod(x, b.MatMul(false, false, b.Prod(x, v), theta))
			return b.Add(b.Scale(4, b.Prod(tz, v)), b.Scale(8, cross))
		},
	}
}

// Theta is θ, a copy.
func (q *Quartic) Theta() *mat.SymDense {
	l := make([]float64, q.d*q.d)
	graph.FillCholeskyFactor(l, q.Packed.Value, q.d)
	t := mat.NewSymDense(q.d, nil)
	t.SymOuterK(-1, mat.NewDense(q.d, q.d, l))
	return t
}

// SetTheta sets θ. It fails if −θ is not positive definite or of another size.
func (q *Quartic) SetTheta(theta mat.Symmetric) error {
	var minus mat.SymDense
	minus.ScaleSym(-1, theta)
	return setFactor(q.Packed.Value, &minus, q.d, "minus the quartic coefficients")
}
