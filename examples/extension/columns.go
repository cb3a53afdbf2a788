package extension

import (
	"encoding/json"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
)

// Columns is the classical objective with a weight for each column, for tables where
// some are better measured than others: R = Σ_Λ w_j (2D_j + 2s_j²), S = s, c = −w on Λ.
type Columns struct {
	Weights []float64 `json:"weights"`
}

func init() {
	losses.Objectives["columns"] = func(options []byte, _ *domain.Domain, _ domain.Weight) (losses.Objective, error) {
		var o Columns
		return o, json.Unmarshal(options, &o)
	}
}

const inputWeights = "column weights" // (b, d), 0 where missing

// Parts implements losses.Objective.
func (o Columns) Parts(b *graph.Builder, rows losses.Rows, t model.Evaluation) losses.Parts {
	n, d := graph.Shape(rows.Mask)
	w := b.Input(inputWeights, n, d)
	twice := b.Scale(2, w)
	return losses.Parts{
		Linear:    b.Add(b.GroupDot(twice, t.Diagonal, rows.R), b.GroupSquares(twice, t.Score, rows.R)),
		Score:     t.Score,
		Quadratic: b.Scale(-1, w),
	}
}

// Bind implements losses.Objective.
func (o Columns) Bind(p *graph.Program, batch *data.Batch, _ *rand.Rand) {
	for i, m := range batch.Mask {
		p.Input(inputWeights)[i] = m * o.Weights[i%batch.D]
	}
}
