package data

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/simd"
)

// Batch is a block of rows of fixed shape. Unused rows are padding of weight 0.
type Batch struct {
	Size, D int
	X       []float64 // (Size, D), zero where missing
	Mask    []float64 // (Size, D), 1 = observed, 0 = missing or padding
	Weight  []float64 // (Size)
	Rows    []int     // table row of each used row

	table  *Table // source table and common row weight
	weight float64

	// AddNoise sets a, σ and ε of x(t) = a x + σ ε; nil without noise.
	Signal, Noise []float64 // (Size): a and σ
	Epsilon       []float64 // (Size, D): ε, 0 where missing

	completed *Batch
}

// Completed returns a batch with the completed rows x and the given mask. b owns and reuses it.
func (b *Batch) Completed(x, mask []float64) *Batch {
	if b.completed == nil {
		b.completed = new(Batch)
	}
	*b.completed = Batch{Size: len(x) / b.D, D: b.D, X: x, Mask: mask}
	return b.completed
}

func NewBatch(size, d int) *Batch {
	return &Batch{
		Size: size, D: d,
		X:      make([]float64, size*d),
		Mask:   make([]float64, size*d),
		Weight: make([]float64, size),
		Rows:   make([]int, 0, size),
	}
}

// AddNoise replaces each observed x by a x + σ ε, ε standard normal, with a and σ drawn per row.
func (b *Batch) AddNoise(draw func(*rand.Rand) (signal, noise float64), rng *rand.Rand) {
	if b.Signal == nil {
		b.Signal, b.Noise, b.Epsilon = make([]float64, b.Size), make([]float64, b.Size), make([]float64, b.Size*b.D)
	}
	for i := range b.Size {
		a, sigma := draw(rng)
		b.Signal[i], b.Noise[i] = a, sigma
		for j := i * b.D; j < (i+1)*b.D; j++ {
			b.Epsilon[j] = b.Mask[j] * rng.NormFloat64()
			b.X[j] = a*b.X[j] + sigma*b.Epsilon[j]
		}
	}
}

// Holds reports whether the last Fill took these rows with this weight and no noise was added
// since.
func (b *Batch) Holds(t *Table, rows []int, weight float64) bool {
	return b.Signal == nil && b.table == t && b.weight == weight && slices.Equal(b.Rows, rows)
}

// Fill loads the given rows with one weight; the rest becomes padding. It panics with mat.ErrShape
// if there are more than Size rows or the number of columns differs.
func (b *Batch) Fill(t *Table, rows []int, weight float64) {
	if len(rows) > b.Size || t.D != b.D {
		panic(mat.ErrShape)
	}
	clear(b.X[len(rows)*b.D:])
	clear(b.Mask[len(rows)*b.D:])
	clear(b.Weight)
	b.Rows, b.table, b.weight = append(b.Rows[:0], rows...), t, weight
	for i, row := range rows {
		b.Weight[i] = weight
		simd.Seen(b.X[i*b.D:(i+1)*b.D], b.Mask[i*b.D:(i+1)*b.D], t.Values[row*t.D:(row+1)*t.D], t.Observed[row*t.D:(row+1)*t.D])
	}
}
