package exactsum

import (
	"math"
	"math/bits"
)

// Column is a column of some rows as integers: x = ± whole · 2^exponent, whole odd.
type Column struct {
	whole []uint64
	place []int32 // placeUnit · exponent, + 1 where x < 0: of a product the last bit of the sum is the sign

	lowest, highest int  // exponents: of the last bit, and of the place before the first
	some            bool // not all are 0
}

const (
	placeUnit    = 4 // above the sum of two signs
	mantissaBits = 52
	exponentBits = 11
	exponentBias = 1023 + mantissaBits
)

// Reset makes the column empty.
func (c *Column) Reset() {
	c.whole, c.place, c.some = c.whole[:0], c.place[:0], false
}

// Append adds finite numbers to the column.
func (c *Column) Append(xs ...float64) {
	for _, x := range xs {
		b := math.Float64bits(x)
		whole, exponent := b&(1<<mantissaBits-1), int(b>>mantissaBits&(1<<exponentBits-1))
		if exponent > 0 {
			whole |= 1 << mantissaBits
			exponent--
		}
		if whole == 0 {
			c.whole, c.place = append(c.whole, 0), append(c.place, 0)
			continue
		}
		zeros := bits.TrailingZeros64(whole)
		whole >>= zeros
		exponent += zeros + 1 - exponentBias
		c.whole, c.place = append(c.whole, whole), append(c.place, int32(exponent*placeUnit)+int32(b>>63))
		top := exponent + bits.Len64(whole)
		if !c.some {
			c.lowest, c.highest, c.some = exponent, top, true
		}
		c.lowest, c.highest = min(c.lowest, exponent), max(c.highest, top)
	}
}
