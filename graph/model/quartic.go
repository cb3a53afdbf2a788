package model

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/graph"
)

// Quartic is the paper's "ICA inspired" model log q(x) = Σ_ij θ_ij x_i² x_j² with symmetric θ
// (docs/theory/models.md#eq-quartic). With z = x∘x
//
//	log q = zᵀθz,  s = 4 x∘(θz),  D = 4θz + 8 diag(θ)∘z,  Hv = 4(θz)∘v + 8 x∘(θ(x∘v))
//
// The parameters enforce −θ = LLᵀ with L_jj = exp(·), which is sufficient, not necessary, for an
// integrable density. It starts at θ = −½ I.
type Quartic struct {
	d    int
	free bool
	// Packed holds L as in CholeskyFactor, or −θ if free: (1, d(d+1)/2).
	Packed *graph.Param
}

func NewQuartic(d int) *Quartic {
	q := &Quartic{d: d, Packed: graph.NewParam("quartic", 1, d*(d+1)/2)}
	for j := range d {
		q.Packed.Value[graph.PackedIndex(d, j, j)] = 0.5 * math.Log(0.5)
	}
	return q
}

func (q *Quartic) Dim() int               { return q.d }
func (q *Quartic) Params() []*graph.Param { return []*graph.Param{q.Packed} }

// InitialRMS implements FixedOrigin: for log q = −x⁴/2, E x² = √2 Γ(3/4)/Γ(1/4).
func (q *Quartic) InitialRMS() float64 {
	return math.Sqrt(math.Sqrt2 * math.Gamma(0.75) / math.Gamma(0.25))
}

// The model overfits: with 1000 rows 5 to 15 epochs are best, and a penalty works better than
// held-out rows (benchmarks/quartic). With a slower imputer Marg-Var diverges in 20 columns.
func (q *Quartic) TrainingDefaults() Training {
	return Training{
		Epochs:      func(batches int, _ bool) int { return max(25, EpochsOf(250, batches)) },
		ImputerRate: 3e-3,
	}
}

func (q *Quartic) Free() Coupled {
	f := &Quartic{d: q.d, free: true, Packed: graph.NewParam("quartic", 1, len(q.Packed.Value))}
	f.setFree(q.Theta())
	return f
}

func (q *Quartic) Matrix() *graph.Param { return q.Packed }

func (q *Quartic) setFree(theta mat.Symmetric) {
	packSymmetric(q.Packed.Value, theta)
	for i, v := range q.Packed.Value {
		q.Packed.Value[i] = 0 - v // not −0
	}
}

func (q *Quartic) minusTheta(b *graph.Builder) graph.Node {
	if q.free {
		return graph.Symmetric(b, b.Param(q.Packed), q.d)
	}
	l := graph.CholeskyFactor(b, b.Param(q.Packed), q.d)
	return b.MatMul(false, true, l, l)
}

func (q *Quartic) Evaluate(b *graph.Builder, x graph.Node) Evaluation {
	n, _ := graph.Shape(x)
	theta := b.Scale(-1, q.minusTheta(b))
	z := b.Map(graph.Square, x)
	tz := b.MatMul(false, false, z, theta)
	return Evaluation{
		LogDensity: b.RowDot(z, tz),
		Score:      b.Scale(4, b.Prod(x, tz)),
		Diagonal:   b.Add(b.Scale(4, tz), b.Scale(8, b.Prod(b.Rows(graph.DiagonalOf(b, theta), n), z))),
		HessianProduct: func(v graph.Node) graph.Node {
			cross := b.Prod(x, b.MatMul(false, false, b.Prod(x, v), theta))
			return b.Add(b.Scale(4, b.Prod(tz, v)), b.Scale(8, cross))
		},
	}
}

// Theta returns a copy of θ.
func (q *Quartic) Theta() *mat.SymDense {
	if !q.free {
		return factored(-1, q.Packed.Value, q.d)
	}
	t := mat.NewSymDense(q.d, nil)
	for j := range q.d {
		for k := j; k < q.d; k++ {
			t.SetSym(j, k, 0-q.Packed.Value[graph.PackedIndex(q.d, j, k)]) // not −0
		}
	}
	return t
}

// SetTheta sets θ. It fails if −θ is not positive definite or has another size.
func (q *Quartic) SetTheta(theta mat.Symmetric) error {
	var minus mat.SymDense
	minus.ScaleSym(-1, theta)
	factor := make([]float64, len(q.Packed.Value))
	if err := setFactor(factor, &minus, q.d, "minus the quartic coefficients"); err != nil {
		return err
	}
	if q.free {
		q.setFree(theta)
	} else {
		copy(q.Packed.Value, factor)
	}
	return nil
}
