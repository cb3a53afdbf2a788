package missingness

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Censored hides exactly the cells below or above known thresholds, in the units of
// the columns; infinite thresholds hide nothing. φ is then an indicator: it restricts
// the support by pattern, which domain.Domain.Censoring says to objective and imputations,
// and leaves the score alone.
type Censored struct {
	Below, Above []float64 // (d)
}

// NewCensored hides nothing of d columns, to be narrowed.
func NewCensored(d int) *Censored {
	c := &Censored{make([]float64, d), make([]float64, d)}
	for j := range d {
		c.Below[j], c.Above[j] = math.Inf(-1), math.Inf(1)
	}
	return c
}

// Concerns says whether column j has a threshold.
func (c *Censored) Concerns(j int) bool {
	return !math.IsInf(c.Below[j], -1) || !math.IsInf(c.Above[j], 1)
}

// Observed implements Mechanism.
func (c *Censored) Observed(p, x []float64) {
	for j, v := range x {
		p[j] = 0
		if c.Below[j] <= v && v <= c.Above[j] {
			p[j] = 1
		}
	}
}

// Standardised is c for columns z_j = (x_j − mean_j)/deviation_j.
func (c *Censored) Standardised(mean, deviation []float64) *Censored {
	z := NewCensored(len(mean))
	for _, t := range []struct{ from, to []float64 }{{c.Below, z.Below}, {c.Above, z.Above}} {
		floats.SubTo(t.to, t.from, mean)
		floats.Div(t.to, deviation)
	}
	return z
}
