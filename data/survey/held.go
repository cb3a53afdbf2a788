package survey

import (
	"math"

	"missingscore/internal/stream"
)

// Held chooses rows that are held out, each by itself: by the seed and its number among the rows
// that have a value, so that the choice is the same whatever the blocks. A share of the rows is so
// only on average.
type Held struct {
	seed   uint64
	below  uint64 // of the numbers that are drawn for rows, those of rows that are held out
	stream stream.Stream
}

// NewHeld holds out a share of the rows, from 0 to 1/2.
func NewHeld(seed uint64, share float64) *Held {
	return &Held{seed: seed, below: uint64(math.Ldexp(share, 64))}
}

// Out tells whether a row is held out.
func (h *Held) Out(row int) bool {
	return h.below > 0 && h.stream.At(h.seed, stream.Validate, uint64(row)).Uint64() < h.below
}
