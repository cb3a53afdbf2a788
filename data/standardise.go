package data

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Scale is the place and the unit of each column: z_j = (x_j − Mean_j) / Deviation_j.
// Both have length d and the units of the columns.
type Scale struct{ Mean, Deviation []float64 }

// Standardise gives every column mean 0 and deviation 1 over its observed cells.
// With n_j the number of them,
//
//	Mean_j = Σ_i x_ij / n_j,   Deviation_j² = Σ_i (x_ij − Mean_j)² / n_j
//
// The objectives of score matching have units 1/x², so columns in different
// units would otherwise weigh differently. Missing cells stay missing and hold 0. Columns with
// Cuts have the units of their latent numbers, and stay as they are; counted rows are
// standardised already.
func Standardise(t *Table) (*Table, Scale) {
	if t.Counted != nil {
		return t, t.Counted.Scale
	}
	s := Scale{Mean: make([]float64, t.D), Deviation: make([]float64, t.D)}
	x := make([]float64, 0, t.N)
	for j := range t.D {
		x = t.AppendColumn(x[:0], j)
		sums := sumsOf(x)
		s.Mean[j], s.Deviation[j] = sums.MeanDeviation()
		if t.Ordinal(j) {
			s.Mean[j], s.Deviation[j] = 0, 1
		}
	}
	return s.Standardised(t), s
}

// ScaleAboutZero gives every column this root mean square over its observed cells,
// without shifting it (Mean_j = 0): for models that are symmetric about 0.
func ScaleAboutZero(t *Table, size float64) (*Table, Scale) {
	s := Scale{Mean: make([]float64, t.D), Deviation: make([]float64, t.D)}
	x := make([]float64, 0, t.N)
	for j := range t.D {
		x = t.AppendColumn(x[:0], j)
		s.Deviation[j] = floats.Norm(x, 2) / math.Sqrt(float64(len(x))) / size
	}
	return t.mapped(func(j int, x float64) float64 { return x / s.Deviation[j] }), s
}

// Standardised is the table in the scale, z_j = (x_j − Mean_j) / Deviation_j. Missing cells stay
// missing and hold 0.
func (s Scale) Standardised(t *Table) *Table {
	return t.mapped(func(j int, x float64) float64 { return (x - s.Mean[j]) / s.Deviation[j] })
}

// Restore gives a table of standardised columns in the units of the scale,
// x_j = Mean_j + Deviation_j z_j.
func (s Scale) Restore(t *Table) *Table {
	return t.mapped(func(j int, z float64) float64 { return s.Mean[j] + s.Deviation[j]*z })
}

// Precision gives the precision (d, d) of standardised columns in the table's
// units, P_jk / (Deviation_j Deviation_k). It panics with mat.ErrShape if p is
// of another size than the scale.
func (s Scale) Precision(p mat.Symmetric) *mat.SymDense {
	d := len(s.Deviation)
	if p.SymmetricDim() != d {
		panic(mat.ErrShape)
	}
	scaled := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			scaled.SetSym(j, k, p.At(j, k)/s.Deviation[j]/s.Deviation[k])
		}
	}
	return scaled
}

// Location gives the mean (d) of standardised columns in the table's units,
// Mean_j + Deviation_j μ_j. It panics if mu is of another length than the scale.
func (s Scale) Location(mu []float64) []float64 {
	location := floats.MulTo(make([]float64, len(mu)), s.Deviation, mu)
	floats.Add(location, s.Mean)
	return location
}

// mapped is a copy with f(column, value) in place of each observed value.
func (t *Table) mapped(f func(j int, x float64) float64) *Table {
	m := t.emptied(t.Names)
	m.Cuts, m.Sampled = t.Cuts, t.Sampled
	for k, seen := range t.Observed {
		if seen {
			m.set(k/t.D, k%t.D, f(k%t.D, t.Values[k]))
		}
	}
	return m
}

// UnitScale is the scale of d columns that are left as they are.
func UnitScale(d int) Scale {
	s := Scale{Mean: make([]float64, d), Deviation: make([]float64, d)}
	for j := range s.Deviation {
		s.Deviation[j] = 1
	}
	return s
}
