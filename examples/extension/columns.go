package extension

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"missingscore/data"
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
	losses.Objectives["columns"] = func(s losses.ObjectiveSetting) (losses.Objective, error) {
		var o Columns
		if err := json.Unmarshal(s.Options, &o); err != nil {
			return nil, err
		}
		if len(o.Weights) != s.Dim {
			return nil, fmt.Errorf("%d weights for the %d columns %v", len(o.Weights), s.Dim, s.Names)
		}
		if s.Domain.Bounded() {
			return nil, errors.New("column weights are for data without bounds")
		}
		return o, nil
	}
}

const inputWeights = "column weights" // (b, d), 0 where missing

// Parts implements losses.Objective.
func (o Columns) Parts(b *graph.Builder, rows losses.Rows, t model.Evaluation) losses.Parts {
	n, d := graph.Shape(rows.Mask)
	w := b.Input(inputWeights, n, d)
	twice := b.Scale(2, w)
	return losses.Parts{
		Linear:    b.Add(b.GroupDot(twice, t.NeedDiagonal(b), rows.R), graph.GroupSquares(b, twice, t.NeedScore(b), rows.R)),
		Score:     t.Score,
		Quadratic: b.Scale(-1, w),
	}
}

// Bind implements losses.Objective.
func (o Columns) Bind(p graph.Inputs, batch *data.Batch, _ *rand.Rand) {
	for i, m := range batch.Mask {
		p.Input(inputWeights)[i] = m * o.Weights[i%batch.D]
	}
}
