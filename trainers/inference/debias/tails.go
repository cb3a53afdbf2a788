package debias

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
)

// tails are how heavy the rows' tails are by Mardia's kurtosis, extended to rows with gaps
// (docs/theory/inference.md#eq-tails). The distance D = (x − μ)_oᵀ Σ_oo⁻¹ (x − μ)_o of a normal
// row with k observed cells is χ² with k degrees of freedom.
type tails struct {
	ratio float64 // Σ D² over its expectation for normal rows, Σ k(k + 2); 0: not known
	z     float64 // Σ D² − k(k + 2) − 2(k + 2)(D − k), over its standard error: about N(0, 1) for normal rows
}

// tailsOf are those of a table's rows under N(μ, P⁻¹).
func tailsOf(t *data.Table, mu []float64, p mat.Symmetric, workers int) (tails, error) {
	n, err := newNormal(mu, p)
	if err != nil {
		return tails{}, err
	}
	var fourth, expected, excess, variance float64
	err = n.eachPattern(t, workers, func(q *pattern) {
		k := float64(n.d)
		for _, seen := range t.Observed[q.rows[0]*n.d : (q.rows[0]+1)*n.d] {
			if !seen {
				k--
			}
		}
		for a, count := range q.count {
			x := q.delta.RowView(a)
			distance := mat.Inner(x, n.p, x) // δ̂ᵀPδ̂
			fourth += count * distance * distance
			expected += count * k * (k + 2)
			excess += count * (distance*distance - k*(k+2) - 2*(k+2)*(distance-k))
			if t.Weights != nil {
				count *= count
			}
			variance += count * 8 * k * (k + 2)
		}
	})
	if err != nil || variance == 0 {
		return tails{}, err
	}
	return tails{ratio: fourth / expected, z: excess / math.Sqrt(variance)}, nil
}

// warnings are of tails that not one table of normal rows in a thousand has. Correlations of
// rows with elliptical tails have a variance that is ratio times that of normal rows.
func (t tails) warnings() []string {
	if distuv.UnitNormal.Survival(t.z) > 0.001 {
		return nil
	}
	return []string{fmt.Sprintf("rows have heavier tails than normal ones (Mardia's kurtosis is %.2g times theirs), and errors by the model are too small, by a factor of %.1f: take --inference robust", t.ratio, math.Sqrt(t.ratio))}
}
