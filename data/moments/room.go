package moments

import (
	"missingscore/internal/exactsum"
	"missingscore/internal/memory"
)

// Bits of the products of usual columns, from the last that counts to the first: with numbers of
// 53 bits up to 2¹⁶ and down to 2⁻¹⁶, a sum takes 5 words.
const (
	usualLowest  = -2 * (16 + 53)
	usualHighest = 2 * 16
)

const fewerSums = "leave columns out (--columns, --exclude), take --pairs-only where patterns of gaps are many, or fewer --workers"

// checkColumns refuses, by a *memory.Error, columns whose sums alone need more than there is.
func (m *Moments) checkColumns() error {
	columns := len(m.Names) + 1
	if m.OfPairs() {
		columns = 2 * len(m.Names)
	}
	return memory.Check(m.together*exactsum.Bytes(columns, usualLowest, usualHighest), fewerSums, "sums of products of %d columns", len(m.Names))
}

// checkRoom is checkColumns of all patterns that have been seen.
func (m *Moments) checkRoom() error {
	return memory.Check(m.together*m.bytes, fewerSums, "sums of products of %d columns in %d patterns of gaps", len(m.Names), len(m.patterns))
}
