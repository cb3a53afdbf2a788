package losses

import "missingscore/data/domain"

// RowWeighted is an objective that weights the coordinates of a row: with numbers g_j and g'_j
// of the row and its gaps, not of the model, a completed row has the loss
//
//	Σ_j g_j (2D_j + s_j²) + 2 g'_j s_j
//
// Of a normal model it depends on rows by their WeightedMoments alone
// (docs/theory/truncated.md#eq-weighted-moments).
type RowWeighted interface {
	Objective
	// RowWeights makes a function that fills g and g' (d) of a row x with 0 where missing. It is
	// not ok for a row whose loss has another form.
	RowWeights() func(x, mask, g, slope []float64) (ok bool)
}

// RowWeights implements RowWeighted: rows whose scores are taken along tangents have another loss.
func (o Truncated) RowWeights() func(x, mask, g, slope []float64) bool {
	var t domain.Tangent
	return func(x, mask, g, slope []float64) bool {
		o.Weight.At(o.Domain, x, mask, g, slope, &t)
		for _, v := range t.V {
			for _, a := range v {
				if a != 0 {
					return false
				}
			}
		}
		return true
	}
}

// RowWeights implements RowWeighted: g is the mask.
func (Classical) RowWeights() func(x, mask, g, slope []float64) bool {
	return func(_, mask, g, slope []float64) bool {
		copy(g, mask)
		clear(slope)
		return true
	}
}
