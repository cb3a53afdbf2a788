package model

import (
	"missingscore/data/missingness"
	"missingscore/graph"
)

// LogisticMissingness is the log φ_Λ of missingness.Logistic. With η = a + Bx, t_j = η_j where
// j ∈ Λ and −η_j elsewhere, σ the logistic function, u_j = ±σ(−t_j) with the sign of t_j/η_j
// and c = σ(t)∘σ(−t):
//
//	log φ = Σ_j log σ(t_j),   ∇log φ = Bᵀu,   ∂²_kk log φ = −Σ_j c_j B_jk²,   H v = −Bᵀ(c∘Bv)
//
// Columns that it does not concern take part as a fair coin, a constant.
type LogisticMissingness struct {
	Intercept *graph.Param // a (1, d)
	Slope     *graph.Param // B (d, d)
}

// NewLogisticMissingness copies l, in the units that the model's rows have.
func NewLogisticMissingness(l *missingness.Logistic) *LogisticMissingness {
	d := len(l.Intercept)
	m := &LogisticMissingness{graph.NewParam("intercept of missingness", 1, d), graph.NewParam("slope of missingness", d, d)}
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

// Evaluate implements Missingness.
func (l *LogisticMissingness) Evaluate(b *graph.Builder, x, mask graph.Node) Evaluation {
	slope := b.Param(l.Slope)
	sign := b.Sub(mask, b.Complement(mask))
	t := b.Prod(sign, b.AddRow(b.MatMul(false, true, x, slope), b.Param(l.Intercept)))
	against := b.Logistic(b.Scale(-1, t))
	minus := b.Scale(-1, b.Prod(b.Logistic(t), against)) // −c
	return Evaluation{
		LogDensity: b.RowSum(b.LogLogistic(t)),
		Score:      b.MatMul(false, false, b.Prod(sign, against), slope),
		Diagonal:   b.MatMul(false, false, minus, b.Square(slope)),
		HessianProduct: func(v graph.Node) graph.Node {
			return b.MatMul(false, false, b.Prod(minus, b.MatMul(false, true, v, slope)), slope)
		},
	}
}
