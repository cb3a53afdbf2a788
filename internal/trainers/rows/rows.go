// Package rows provides the training rows of a fit by mini-batches, from a table or from a file
// that does not fit into memory.
package rows

import (
	"context"
	"iter"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Rows is a source of training rows. A pass has each row once, in an order that depends only on the
// seed and the pass.
type Rows interface {
	Count() int
	// Pass returns the windows of pass 0, 1, …. A window is valid until the next one; all but the last
	// have whole batches.
	Pass(ctx context.Context, pass int) iter.Seq2[Window, error]
}

type Window struct {
	Table *data.Table
	Order []int // order of the rows of Table
	Whole bool  // all rows; Table is the same in every pass
}

type held struct {
	table *data.Table
	rows  []int
	order []int // of the pass
	seed  uint64
}

// NewHeld provides rows of t; rows must not change.
func NewHeld(t *data.Table, rows []int, seed uint64) Rows {
	return &held{table: t, rows: rows, order: make([]int, len(rows)), seed: seed}
}

func (h *held) Count() int { return len(h.rows) }

func (h *held) Pass(_ context.Context, pass int) iter.Seq2[Window, error] {
	return func(yield func(Window, error) bool) {
		copy(h.order, h.rows)
		shuffle(h.order, h.seed, pass, 0)
		yield(Window{h.table, h.order, true}, nil)
	}
}

func shuffle(rows []int, seed uint64, pass, window int) {
	place := []uint64{stream.Shuffle, uint64(pass), 1}
	if window > 0 {
		place = append(place, uint64(window))
	}
	stream.New(seed, place...).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}
