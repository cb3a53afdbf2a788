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
