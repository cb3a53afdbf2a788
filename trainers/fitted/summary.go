package fitted

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
)

// Moments of some values, in their units. NaN where there are too few.
type Moments struct {
	N                   int
	Mean, SD, Low, High float64
}

// ColumnSummary sets what was imputed in a column beside what was observed in it.
type ColumnSummary struct {
	Column            int // from 0
	Name              string
	Observed, Imputed Moments
	Outside           float64 // the share of imputed values below the least or above the largest observed one
}

// Summarise compares, for the columns with missing cells, completed rows (n·draws, d)
// with what was observed.
func Summarise(t *data.Table, values []float64, draws int) (columns []ColumnSummary) {
	for j, name := range t.Names {
		observed := t.Column(j)
		if len(observed) == t.N {
			continue
		}
		c := ColumnSummary{Column: j, Name: name, Observed: momentsOf(observed)}
		var imputed []float64
		for k := j; k < len(values); k += t.D {
			if t.Observed[k/t.D/draws*t.D+j] {
				continue
			}
			v := values[k]
			imputed = append(imputed, v)
			if v < c.Observed.Low || v > c.Observed.High {
				c.Outside++
			}
		}
		c.Outside /= float64(len(imputed))
		c.Imputed = momentsOf(imputed)
		columns = append(columns, c)
	}
	return columns
}

func momentsOf(x []float64) Moments {
	m := Moments{len(x), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if len(x) > 0 {
		m.Mean, m.SD = stat.MeanStdDev(x, nil)
		m.Low, m.High = floats.Min(x), floats.Max(x)
	}
	return m
}
