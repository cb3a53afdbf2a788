package data

import "gonum.org/v1/gonum/mat"

// Batch is a block of rows of fixed shape, so that one program serves a whole
// fit. Rows that are not filled are padding of weight 0.
type Batch struct {
	Size, D int
	X       []float64 // (Size, D), zero where missing
	Mask    []float64 // (Size, D), 1 = observed, 0 = missing or padding
	Weight  []float64 // (Size)
	Rows    []int     // table row of each filled row
}

// NewBatch is a batch of padding.
func NewBatch(size, d int) *Batch {
	return &Batch{
		Size: size, D: d,
		X:      make([]float64, size*d),
		Mask:   make([]float64, size*d),
		Weight: make([]float64, size),
		Rows:   make([]int, 0, size),
	}
}

// Fill takes the given rows of the table, each with the same weight, in place
// of what was there. It allocates nothing. It panics with mat.ErrShape if there
// are more than Size rows or the table has another number of columns.
func (b *Batch) Fill(t *Table, rows []int, weight float64) {
	if len(rows) > b.Size || t.D != b.D {
		panic(mat.ErrShape)
	}
	clear(b.X)
	clear(b.Mask)
	clear(b.Weight)
	b.Rows = append(b.Rows[:0], rows...)
	for i, row := range rows {
		b.Weight[i] = weight
		for j := range b.D {
			// The test, not a product with the mask: 0·NaN is NaN.
			if from, to := row*t.D+j, i*b.D+j; t.Observed[from] {
				b.X[to], b.Mask[to] = t.Values[from], 1
			}
		}
	}
}
