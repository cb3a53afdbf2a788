package trainers

import (
	"math"

	"missingscore/data"
	"missingscore/graph/model"
)

// scaling is what is done to columns before they are fitted.
type scaling int

const (
	keptUnits        scaling = iota // nothing
	toRootMeanSquare                // divided, and not shifted
	standardised
)

// scaling is what is done to columns, and the root mean square that they are given: a model that
// states a support or a fixed origin is not shifted, and one whose support is no cone has units of
// its own.
func (p *Prepared) scaling() (by scaling, size float64) {
	support := model.SupportOf(p.Model)
	m, fixed := p.Model.(model.FixedOrigin)
	switch {
	case p.Spec.KeepUnits || !support.Cone():
		return keptUnits, 1
	case fixed:
		return toRootMeanSquare, m.InitialRMS()
	case support != nil:
		return toRootMeanSquare, 1
	}
	return standardised, 1
}

// scale is how the rows are scaled to be fitted, and whether this changes them.
func (p *Prepared) scale() (scale data.Scale, changes bool) {
	by, size := p.scaling()
	switch {
	case by == keptUnits:
		return data.UnitScale(p.Table.D), false
	case p.file != nil:
		return p.file.scale(by, size), true
	case by == toRootMeanSquare:
		return data.RootMeanSquareScale(p.Table, size), true
	}
	return data.StandardScale(p.Table), true
}

// scale is that of the file's rows, by the sums of their columns.
func (f *streamed) scale(by scaling, size float64) data.Scale {
	scale := data.UnitScale(len(f.columns))
	for j, c := range f.columns {
		if by == toRootMeanSquare {
			scale.Deviation[j] = c.Norm / math.Sqrt(float64(c.Number)) / size
		} else {
			scale.Mean[j], scale.Deviation[j] = c.MeanDeviation()
		}
	}
	return scale
}
