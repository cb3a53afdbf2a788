package graph

import (
	"math"

	"missingscore/data/missingness"
)

// LogisticMissingness is the log φ_Λ of missingness.Logistic. With η = a + Bx, t_j = η_j where
// j ∈ Λ and −η_j elsewhere, σ the logistic function, u_j = ±σ(−t_j) with the sign of t_j/η_j
// and c = σ(t)∘σ(−t):
//
//	log φ = Σ_j log σ(t_j),   ∇log φ = Bᵀu,   ∂²_kk log φ = −Σ_j c_j B_jk²,   H v = −Bᵀ(c∘Bv)
//
// Columns that it does not concern take part as a fair coin, a constant.
type LogisticMissingness struct {
	Intercept *Param // a (1, d)
	Slope     *Param // B (d, d)
}

// NewLogisticMissingness copies l, in the units that the model's rows have.
func NewLogisticMissingness(l *missingness.Logistic) *LogisticMissingness {
	d := len(l.Intercept)
	m := &LogisticMissingness{NewParam("intercept of missingness", 1, d), NewParam("slope of missingness", d, d)}
	for j, a := range l.Intercept {
		if l.Concerns(j) {
			m.Intercept.Value[j] = a
			copy(m.Slope.Value[j*d:], l.Slope.RawRowView(j))
		}
	}
	return m
}

// MissingnessOf is φ of a model of missingness, in the units that the rows have: nil
// where it has no regressions, for thresholds are a matter of the support.
func MissingnessOf(m *missingness.Model) Missingness {
	if m == nil || m.Logistic == nil {
		return nil
	}
	return NewLogisticMissingness(m.Logistic)
}

// Terms implements Missingness.
func (l *LogisticMissingness) Terms(b *Builder, x, mask Node) Terms {
	slope := b.Param(l.Slope)
	sign := b.Sub(mask, b.Complement(mask))
	t := b.Prod(sign, b.AddRow(b.MatMul(false, true, x, slope), b.Param(l.Intercept)))
	against := b.Logistic(b.Scale(-1, t))
	minus := b.Scale(-1, b.Prod(b.Logistic(t), against)) // −c
	return Terms{
		LogDensity: b.RowSum(b.LogLogistic(t)),
		Score:      b.MatMul(false, false, b.Prod(sign, against), slope),
		Diagonal:   b.MatMul(false, false, minus, b.Square(slope)),
		HessianProduct: func(v Node) Node {
			return b.MatMul(false, false, b.Prod(minus, b.MatMul(false, true, v, slope)), slope)
		},
	}
}

// Logistic is σ(x) = 1/(1 + e^{−x}) elementwise, for any size of x.
func (b *Builder) Logistic(x Node) Node {
	r, c := shape(x)
	return b.Apply(Op{Name: "logistic", Rows: r, Cols: c,
		Kernel: apply[float64](logistic), Single: apply[float32](logistic),
		Reverse: func(out, g Node) []Node { return []Node{b.Prod(g, b.Prod(out, b.Complement(out)))} }}, x)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// LogLogistic is log σ(x) elementwise, for any size of x.
func (b *Builder) LogLogistic(x Node) Node {
	r, c := shape(x)
	f := func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }
	return b.Apply(Op{Name: "loglogistic", Rows: r, Cols: c,
		Kernel: apply[float64](f), Single: apply[float32](f),
		Reverse: func(_, g Node) []Node { return []Node{b.Prod(g, b.Logistic(b.Scale(-1, x)))} }}, x)
}
