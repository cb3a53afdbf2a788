package missingness

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Logistic hides cells by logistic regressions on the whole row:
//
//	P(cell j observed | x) = 1/(1 + exp(−η_j)),   η = Intercept + Slope x
//
// The diagonal of Slope is self-masking. Slopes off it make a column depend on others:
// at random if those are always observed, not at random if they are not. Intercept
// +Inf stands for a column that this says nothing of: always observed, or missing for
// reasons that have nothing to do with x, which leave the estimate alone.
type Logistic struct {
	Intercept []float64  // (d)
	Slope     *mat.Dense // (d, d), units 1/x; row j belongs to column j
}

// NewLogistic says nothing of any of d columns, to be narrowed.
func NewLogistic(d int) *Logistic {
	l := &Logistic{Intercept: make([]float64, d), Slope: mat.NewDense(d, d, nil)}
	for j := range l.Intercept {
		l.Intercept[j] = math.Inf(1)
	}
	return l
}

// Concerns says whether column j is hidden by l.
func (l *Logistic) Concerns(j int) bool { return !math.IsInf(l.Intercept[j], 1) }

// Observed implements Mechanism.
func (l *Logistic) Observed(p, x []float64) {
	for j, a := range l.Intercept {
		p[j] = 1
		if l.Concerns(j) {
			p[j] = 1 / (1 + math.Exp(-a-floats.Dot(l.Slope.RawRowView(j), x)))
		}
	}
}

// Standardised is l for columns z_j = (x_j − mean_j)/deviation_j.
func (l *Logistic) Standardised(mean, deviation []float64) *Logistic {
	z := NewLogistic(len(mean))
	for j, a := range l.Intercept {
		row := l.Slope.RawRowView(j)
		z.Intercept[j] = a + floats.Dot(row, mean)
		floats.MulTo(z.Slope.RawRowView(j), row, deviation)
	}
	return z
}
