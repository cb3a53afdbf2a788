package data

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Scale is the location and unit of each column: z_j = (x_j − Mean_j) / Deviation_j. Both have
// length d and the units of the columns.
type Scale struct{ Mean, Deviation []float64 }

// Standardise gives every column mean 0 and standard deviation 1 over its n_j observed cells:
//
//	Mean_j = Σ_i x_ij / n_j,   Deviation_j² = Σ_i (x_ij − Mean_j)² / n_j
//
// or the weighted sums. Missing cells hold 0. Columns with Cuts and counted rows stay as they are.
func Standardise(t *Table) (*Table, Scale) {
	s := StandardScale(t)
	return s.Standardised(t), s
}

// StandardScale returns the Scale of Standardise.
func StandardScale(t *Table) Scale {
	if t.Counted != nil {
		return t.Counted.Scale
	}
	s := UnitScale(t.D)
	for j, c := range columnSums(t) {
		if !t.Ordinal(j) {
			s.Mean[j], s.Deviation[j] = c.Mean, c.Deviation
		}
	}
	return s
}

// RootMeanSquareScale gives every column this root mean square over its observed cells, with Mean_j = 0.
func RootMeanSquareScale(t *Table, size float64) Scale {
	s := UnitScale(t.D)
	for j, c := range columnSums(t) {
		s.Deviation[j] = c.RootMeanSquare / size
	}
	return s
}

// Standardised returns z_j = (x_j − Mean_j) / Deviation_j, 0 in missing cells.
func (s Scale) Standardised(t *Table) *Table {
	if t.Counted != nil {
		return t
	}
	return mapped(t, make([]float64, len(t.Values)), s.forward)
}

// Restore returns x_j = Mean_j + Deviation_j z_j.
func (s Scale) Restore(t *Table) *Table { return mapped(t, make([]float64, len(t.Values)), s.back) }

// InPlace does the work of Standardised in the memory of t. restore undoes it up to rounding.
func (s Scale) InPlace(t *Table) (z *Table, restore func()) {
	if t.Counted != nil {
		return t, func() {}
	}
	return mapped(t, t.Values, s.forward), func() { mapped(t, t.Values, s.back) }
}

func (s Scale) forward(j int, x float64) float64 { return (x - s.Mean[j]) / s.Deviation[j] }
func (s Scale) back(j int, z float64) float64    { return s.Mean[j] + s.Deviation[j]*z }

// Precision returns the precision (d, d) of standardised columns in the table's units, P_jk /
// (Deviation_j Deviation_k).
func (s Scale) Precision(p mat.Symmetric) *mat.SymDense {
	scaled := mat.NewSymDense(len(s.Deviation), nil)
	scaled.CopySym(p)
	s.PrecisionInPlace(scaled)
	return scaled
}

// PrecisionInPlace does the work of Precision and overwrites p.
func (s Scale) PrecisionInPlace(p *mat.SymDense) {
	for j, unit := range s.Deviation {
		for k := range j + 1 {
			p.SetSym(k, j, p.At(k, j)/s.Deviation[k]/unit)
		}
	}
}

// Location returns the mean (d) of standardised columns in the table's units, Mean_j + Deviation_j μ_j.
func (s Scale) Location(mu []float64) []float64 {
	location := floats.MulTo(make([]float64, len(mu)), s.Deviation, mu)
	floats.Add(location, s.Mean)
	return location
}

// mapped returns t with f of the observed values in to (N, D), and 0 in missing cells.
func mapped(t *Table, to []float64, f func(j int, x float64) float64) *Table {
	for k, seen := range t.Observed {
		x := t.Values[k]
		if to[k] = 0; seen {
			to[k] = f(k%t.D, x)
		}
	}
	z := *t
	z.Names, z.Values, z.Counted = slices.Clone(t.Names), to, nil
	return &z
}

// UnitScale is the identity scale of d columns: mean 0, deviation 1.
func UnitScale(d int) Scale {
	s := Scale{Mean: make([]float64, d), Deviation: make([]float64, d)}
	for j := range s.Deviation {
		s.Deviation[j] = 1
	}
	return s
}
