package losses

import (
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
)

// RowWeighted is an objective that weights the coordinates of a row: with numbers g_j and g'_j
// of the row and its gaps, not of the model, a completed row has the loss
//
//	Σ_j g_j (2D_j + s_j²) + 2 g'_j s_j
//
// For a model whose score is linear in the row, few moments say of many rows all that the loss
// depends on (docs/theory/truncated.md#eq-weighted-moments).
type RowWeighted interface {
	Objective
	// RowWeights makes a function that fills g and g' (d) of a row x with 0 where missing. It is
	// not ok for a row whose loss has another form.
	RowWeights() func(x, mask, g, slope []float64) (ok bool)
	// Given is the objective with g and g' as they stand in g and slope (rows, d) for the rows of
	// a table.
	Given(g, slope []float64) Objective
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

// Given implements RowWeighted.
func (o Truncated) Given(g, slope []float64) Objective { return givenWeights{o, g, slope} }

// givenWeights are g and its slopes (rows, d) of a table's rows.
type givenWeights struct {
	Truncated
	g, slope []float64
}

// Bind implements Objective.
func (o givenWeights) Bind(p *graph.Program, batch *data.Batch, _ *rand.Rand) {
	d, g, slope := batch.D, p.Input(inputG), p.Input(inputSlope)
	clear(g)
	clear(slope)
	for i, row := range batch.Rows {
		copy(g[i*d:], o.g[row*d:(row+1)*d])
		copy(slope[i*d:], o.slope[row*d:(row+1)*d])
	}
	if !o.Weight.NoTangent {
		for k := range o.Domain.Half {
			clear(p.Input(tangentName(k)))
		}
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

// Given implements RowWeighted.
func (o Classical) Given(g, _ []float64) Objective { return givenMask{o, g} }

// givenMask is a mask (rows, d) of a table's rows, which have all cells nevertheless.
type givenMask struct {
	Classical
	mask []float64
}

// Bind implements Objective.
func (o givenMask) Bind(p *graph.Program, batch *data.Batch, _ *rand.Rand) {
	d, mask := batch.D, p.Input(InputMask)
	clear(mask)
	for i, row := range batch.Rows {
		copy(mask[i*d:], o.mask[row*d:(row+1)*d])
	}
}
