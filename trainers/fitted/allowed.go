package fitted

import (
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/transform"
)

// allowed tells whether completed rows are where the model says that missing cells are.
type allowed struct {
	table     *data.Table
	transform transform.Columns
	support   *domain.Domain
	section   domain.Section
	mask, x   []float64
	row       int // that section is of
}

func (f *Model) allowed(t *data.Table) *allowed {
	return &allowed{table: t, transform: f.Transform, support: f.patterned(), mask: make([]float64, t.D), x: make([]float64, t.D), row: -1}
}

// contains is about row i of the table, completed.
func (a *allowed) contains(i int, completed []float64) bool {
	if !a.transform.Row(a.x, completed) {
		return false
	}
	if !a.support.Bounded() {
		return true
	}
	if i != a.row {
		a.row = i
		for j := range a.mask {
			a.mask[j] = 0
			if a.table.Observed[i*a.table.D+j] {
				a.mask[j] = 1
			}
		}
		a.support.Section(&a.section, a.x, a.mask)
	}
	return a.section.Contains(a.x, a.mask)
}
