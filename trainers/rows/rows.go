// Package rows gives a fit by mini-batches the rows that it learns from, pass after pass: those of a
// table that is held, or of a file that does not fit into memory.
//
//	Rows    what a fit asks for
//	Held    the rows of a table
//	File    those of a file, some blocks of it at a time
package rows

import (
	"context"
	"iter"

	"missingscore/data"
	"missingscore/internal/stream"
)

// Rows are those that a fit learns from. A pass has each of them once; what it has depends on the
// seed and the pass alone.
type Rows interface {
	// Count is how many there are.
	Count() int
	// Pass gives them a window at a time, from 0 on. A window is good until the next one is asked
	// for. All but the last of a pass have a whole number of batches.
	Pass(ctx context.Context, pass int) iter.Seq2[Window, error]
}

// Window is a part of the rows that is held.
type Window struct {
	Table *data.Table
	Order []int // rows of Table as steps take them
	Whole bool  // it is all of the rows, and the table the same in every pass
}

// held are rows of a table.
type held struct {
	table *data.Table
	rows  []int
	order []int // of the pass
	seed  uint64
}

// NewHeld is for these rows, which must not change.
func NewHeld(t *data.Table, rows []int, seed uint64) Rows {
	return &held{table: t, rows: rows, order: make([]int, len(rows)), seed: seed}
}

// Count implements Rows.
func (h *held) Count() int { return len(h.rows) }

// Pass implements Rows: one window, its rows in random order.
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
