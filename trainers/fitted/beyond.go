package fitted

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
)

// A drawn cell is not to be believed where it lies beyond the column's observed ones by more
// than 1.5 times their range and 6 of their standard deviations.
const (
	farRanges     = 1.5
	farDeviations = 6.
	judgedCells   = 10 // of a column at least, or its range says too little
)

// Beyond says, column by column, which draws lie far outside what the table shows of it.
func (r *Imputed) Beyond(t *data.Table) (problems []string) {
	for j, name := range t.Names {
		x := t.Column(j)
		if len(x) < judgedCells {
			continue
		}
		low, high := slices.Min(x), slices.Max(x)
		_, variance := stat.PopMeanVariance(x, nil)
		room := max(farRanges*(high-low), farDeviations*math.Sqrt(variance))
		cells, beyond, worst, farthest := 0, 0, 0.0, room
		for k := j; k < len(r.Values); k += t.D {
			if t.Observed[k/t.D/r.Draws*t.D+j] {
				continue
			}
			cells++
			v := r.Values[k]
			by := max(low-v, v-high)
			if by > room {
				beyond++
			}
			if by > farthest {
				worst, farthest = v, by
			}
		}
		if beyond > 0 {
			problems = append(problems, fmt.Sprintf("%d of %d draws of %s lie far outside what was observed (%.4g to %.4g), as %.4g", beyond, cells, name, low, high, worst))
		}
	}
	return problems
}

// A column's draws extrapolate if more than this share of them, of so many at least, lies outside
// the observed range.
const (
	extrapolatedShare = 1. / 3
	extrapolatedDraws = 20
)

// Extrapolated names the columns whose gaps lie where the table has no values of them, by the share
// of draws outside the observed range. It is for draws without a known law of missing cells or
// bounds, by which such draws may be right.
func (r *Imputed) Extrapolated(t *data.Table) (problems []string) {
	for _, c := range Summarise(t, r.Values, r.Draws) {
		if o := c.Observed; o.N >= judgedCells && c.Imputed.N >= extrapolatedDraws && c.Outside > extrapolatedShare {
			problems = append(problems, fmt.Sprintf("%.0f %% of the draws of %s lie outside what was observed (%.4g to %.4g): its gaps lie where the table has no values of it (--pmm keeps to observed values)", 100*c.Outside, c.Name, o.Low, o.High))
		}
	}
	return problems
}
