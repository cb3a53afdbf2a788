package pairwise

import (
	"context"
	"math"

	"missingscore/internal/lanczos"
)

// KeepDefinite makes p positive definite as optim.PositiveDefinite does a dense one: if its
// smallest eigenvalue is under floor, its pairs are shrunk by one factor until it is floor.
// It tells whether nothing had to be done, and fails only where ctx ends.
func (p *Sparse) KeepDefinite(ctx context.Context, floor float64) (within bool, err error) {
	rows := p.neighbours()
	least, err := p.least(ctx, rows, p.Diagonal, nil)
	if err != nil || least >= floor {
		return err == nil, err
	}
	unit := make([]float64, p.D)
	for j := range unit {
		p.Diagonal[j] = max(p.Diagonal[j], 2*floor)
		unit[j] = 1 / math.Sqrt(p.Diagonal[j]-floor)
	}
	if least, err = p.least(ctx, rows, nil, unit); err != nil {
		return false, err
	}
	factor := 1.0
	if least < -1 {
		factor = -1 / least
	}
	for i := range p.Value {
		p.Value[i] *= factor
	}
	return false, nil
}

// Smallest is the smallest eigenvalue, or a little less. It fails only where ctx ends.
func (p *Sparse) Smallest(ctx context.Context) (float64, error) {
	return p.least(ctx, p.neighbours(), p.Diagonal, nil)
}

// least is the smallest eigenvalue of the pairs with this diagonal, nil for zeros, both sides
// times unit, nil for ones.
func (p *Sparse) least(ctx context.Context, rows []neighbours, diagonal, unit []float64) (float64, error) {
	return lanczos.Smallest(ctx, p.D, func(y, x []float64) {
		for j, n := range rows {
			sum := 0.0
			for i, k := range n.at {
				if unit == nil {
					sum += n.value[i] * x[k]
				} else {
					sum += n.value[i] * unit[k] * x[k]
				}
			}
			if unit != nil {
				sum *= unit[j]
			}
			if diagonal != nil {
				sum += diagonal[j] * x[j]
			}
			y[j] = sum
		}
	})
}
