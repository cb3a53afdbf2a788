// Package transform has strictly increasing functions of single columns, applied before a fit and
// inverted in the results.
//
//	Spec, Parse    which column, which function
//	Spec.Fit       the functions of a table: those by ranks depend on it
//	Columns        one function a column: of tables, domains, missingness, rows, and in files
//	Kinds          the functions by name
//
// With y_j = T_j(x_j), a model of y is one of x (docs/theory/transforms.md#change-of-variables).
package transform

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/missingness"
	"missingscore/internal/setting"
)

// Function is a strictly increasing T of one column.
type Function interface {
	// Kind is its name in Kinds.
	Kind() string
	// Check returns why T(x) does not exist, or nil.
	Check(x float64) error
	// Forward is T(x), for x that passes Check.
	Forward(x float64) float64
	// Inverse is the x with T(x) = y, or the nearest x if T does not reach y.
	Inverse(y float64) float64
	// Slope gives log T'(x), and T''(x)/T'(x) in units 1/x.
	Slope(x float64) (log, curvature float64)
	// Bounds returns the range of T(x) for low ≤ x ≤ high, infinite if T needs no bound.
	Bounds(low, high float64) (float64, float64)
}

// Columns holds the functions of a table's columns (d), nil for the identity.
type Columns []Function

// Table returns the table of T_j(x_ij). It fails with a *data.RowError, caused by a *ValueError.
func (c Columns) Table(t *data.Table) (*data.Table, error) {
	if c == nil {
		return t, nil
	}
	y := *t
	y.Values, y.Cuts = slices.Clone(t.Values), c.cuts()
	for k, seen := range t.Observed {
		i, j := k/t.D, k%t.D
		if !seen || c[j] == nil {
			continue
		}
		if err := c[j].Check(t.Values[k]); err != nil {
			e := &data.RowError{Row: i, Column: t.Names[j], Cell: data.FormatNumber(t.Values[k]), Why: err}
			if t.Lines != nil {
				e.Line = t.Lines[i]
			}
			return nil, e
		}
		y.Values[k] = c[j].Forward(t.Values[k])
	}
	return &y, nil
}

type ValueError struct{ Kind, Needs string }

func (e *ValueError) Error() string {
	return fmt.Sprintf("has no %s: only %s have one", e.Kind, e.Needs)
}

// Row sets y to T(x) of a row. It is false if a number has no T(x).
func (c Columns) Row(y, x []float64) bool {
	copy(y, x)
	for j, f := range c {
		if f == nil {
			continue
		}
		if f.Check(x[j]) != nil {
			return false
		}
		y[j] = f.Forward(x[j])
	}
	return true
}

// Restore maps rows (n, d) of y back to x, in place.
func (c Columns) Restore(y []float64) {
	if c == nil {
		return
	}
	for i := range y {
		if f := c[i%len(c)]; f != nil {
			y[i] = f.Inverse(y[i])
		}
	}
}

// Smooth returns c with smoothed normal scores, as densities need.
func (c Columns) Smooth() Columns {
	smooth := slices.Clone(c)
	for j, f := range c {
		if scores, ranks := f.(*normalScores); ranks {
			smooth[j] = scores.smooth()
		}
	}
	return smooth
}

// Slope returns log T_j'(x) and T_j”(x)/T_j'(x) of column j, both 0 for the identity.
func (c Columns) Slope(j int, x float64) (log, curvature float64) {
	if c == nil || c[j] == nil {
		return 0, 0
	}
	return c[j].Slope(x)
}

// Domain maps a domain of x to y, nil if no bound is left. It fails with an error of the setting
// transform if a transformed column is in a half-space.
func (c Columns) Domain(s *domain.Domain, names []string) (*domain.Domain, error) {
	if c == nil || s == nil {
		return s, nil
	}
	y := domain.All(len(c))
	y.Half = s.Half
	for j, f := range c {
		y.Lower[j], y.Upper[j] = s.Lower[j], s.Upper[j]
		if f == nil {
			continue
		}
		if slices.ContainsFunc(s.Half, func(h domain.HalfSpace) bool { return h.A[j] != 0 }) {
			return nil, setting.Errorf("transform", names[j]+"="+f.Kind(), "%s is in a half-space of the domain, which the function would bend: leave one of the two out", names[j])
		}
		y.Lower[j], y.Upper[j] = f.Bounds(s.Lower[j], s.Upper[j])
	}
	if !y.Bounded() {
		return nil, nil
	}
	return y, nil
}

// Missingness maps a mechanism for x to one for y. It fails with an error of the setting transform
// for a logistic regression on a transformed column, and for ranks of a column that is not missing
// completely at random.
func (c Columns) Missingness(m *missingness.Model, names []string) (*missingness.Model, error) {
	if c == nil || m == nil {
		return m, nil
	}
	for j, f := range c {
		if f == nil {
			continue
		}
		value := names[j] + "=" + f.Kind()
		for k, row := range names {
			if m.Logistic != nil && m.Logistic.Concerns(k) && m.Logistic.Slope.At(k, j) != 0 {
				return nil, setting.Errorf("transform", value, "Spec.Missingness hides %s by a logistic regression on %s, which does not hold after the function: leave one of the two out", row, names[j])
			}
		}
		if _, ranks := f.(*normalScores); ranks && m.Concerns(j) {
			return nil, setting.Errorf("transform", value, "Spec.Missingness says that %s is not missing completely at random, so the ranks of its observed cells are biased: use log, sqrt or another function, or none", names[j])
		}
	}
	censored, err := c.Domain(m.Censored, names)
	return &missingness.Model{Logistic: m.Logistic, Censored: censored}, err
}

// Labels returns the names after the functions, as "log of zinc".
func (c Columns) Labels(names []string) []string {
	labels := slices.Clone(names)
	for j, f := range c {
		if f != nil {
			labels[j] = f.Kind() + " of " + names[j]
		}
	}
	return labels
}

// Describe lists the transformed columns by function, as "log of zinc, lead; npn of age".
func (c Columns) Describe(names []string) string {
	var kinds []string
	of := map[string][]string{}
	for j, f := range c {
		if f == nil {
			continue
		}
		if of[f.Kind()] == nil {
			kinds = append(kinds, f.Kind())
		}
		of[f.Kind()] = append(of[f.Kind()], names[j])
	}
	var parts []string
	for _, kind := range kinds {
		columns := strings.Join(of[kind], ", ")
		if len(of[kind]) == len(names) {
			columns = "every column"
		}
		parts = append(parts, kind+" of "+columns)
	}
	return strings.Join(parts, "; ")
}

// Released names the columns whose bounds in s the functions remove.
func (c Columns) Released(s *domain.Domain, names []string) (released []string) {
	if s == nil {
		return nil
	}
	for j, f := range c {
		if f == nil || !s.BoundedColumn(j) {
			continue
		}
		if low, high := f.Bounds(s.Lower[j], s.Upper[j]); math.IsInf(low, -1) && math.IsInf(high, 1) {
			released = append(released, names[j])
		}
	}
	return released
}
