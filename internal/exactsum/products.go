// Package exactsum sums products of numbers without rounding: what comes out does not depend
// on the order of the terms, nor on how they were divided among sums that are merged.
//
// Each sum is a long fixed-point number (a Kulisch accumulator; U. Kulisch and W. Miranker,
// The arithmetic of the digital computer, SIAM Review 28, 1986), of as many words of 64 bits
// as the products need. R. Neal (Fast exact summation using small and large superaccumulators,
// arXiv 1505.05571) has words that overlap, so that carries wait; here a product of 106 bits
// goes into three words with its carries at once, for it is one multiplication of integers and
// not two terms of float64, and products below the smallest float64 are summed as well.
package exactsum

import (
	"math/big"
	"math/bits"
)

// Products are the sums Σ_i x_ij x_ik of d columns, j ≤ k, over rows i. They hold up to 2⁶³
// rows. The zero value is of no columns; see New.
type Products struct {
	d     int
	low   int      // the first word of a sum counts 2^(64 low)
	width int      // words of a sum
	words []uint64 // (pairs, 2, width): the sum of the positive products and that of the negative
}

// New are sums of d columns, all 0.
func New(d int) *Products { return &Products{d: d} }

// Dim is d.
func (p *Products) Dim() int { return p.d }

// Pairs is the number of sums of d columns, d(d+1)/2.
func Pairs(d int) int { return d * (d + 1) / 2 }

// Bytes is the memory of the sums of d columns of numbers that are multiples of 2^lowest and
// below 2^highest.
func Bytes(d, lowest, highest int) float64 {
	return 16 * float64(Pairs(d)) * float64(floorDiv(highest, wordBits)+3-floorDiv(lowest, wordBits))
}

// Bytes is the memory that the sums take.
func (p *Products) Bytes() float64 { return 8 * float64(len(p.words)) }

// index is the place of the pair j ≤ k.
func (p *Products) index(j, k int) int { return j*p.d - j*(j-1)/2 + k - j }

// wordBits are the bits of a word; sums have so many to spare above the largest term.
const wordBits = 64

// reach makes room for terms that are multiples of 2^lowest and below 2^highest.
func (p *Products) reach(lowest, highest int) {
	low, end := floorDiv(lowest, wordBits), floorDiv(highest, wordBits)+3 // a term has three words
	if p.words != nil {
		low, end = min(low, p.low), max(end, p.low+p.width)
		if low == p.low && end == p.low+p.width {
			return
		}
	}
	width := end - low
	words := make([]uint64, 2*Pairs(p.d)*width)
	for i := range 2 * Pairs(p.d) * min(1, p.width) {
		copy(words[i*width+p.low-low:], p.words[i*p.width:(i+1)*p.width])
	}
	p.low, p.width, p.words = low, width, words
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Add adds the products of rows, a column each; all columns have the same rows.
func (p *Products) Add(columns []*Column) {
	lowest, highest, some := 0, 0, false
	for _, c := range columns {
		if c.some {
			if !some {
				lowest, highest, some = c.lowest, c.highest, true
			}
			lowest, highest = min(lowest, c.lowest), max(highest, c.highest)
		}
	}
	if !some {
		return
	}
	p.reach(2*lowest, 2*highest)
	for j, a := range columns {
		if !a.some {
			continue
		}
		for k := j; k < len(columns); k++ {
			if b := columns[k]; b.some {
				at := 2 * p.width * p.index(j, k)
				add(p.words[at:at+2*p.width], p.width, wordBits*p.low, a, b)
			}
		}
	}
}

// add adds the products of two columns to the two sums of a pair, whose first word counts
// 2^base.
func add(sums []uint64, width, base int, a, b *Column) {
	n := len(a.whole)
	whole, place, others := a.whole[:n], a.place[:n], b.whole[:n]
	places, from := b.place[:n], int32(base*placeUnit)
	for i, x := range whole {
		high, low := bits.Mul64(x, others[i])
		if high|low == 0 {
			continue
		}
		at := uint32(place[i] + places[i] - from)
		shift, to := uint(at/placeUnit)%wordBits, int(at/(placeUnit*wordBits))
		to += width & -int(at&1)
		s := sums[to : to+3]
		back := (wordBits - 1 - shift) % wordBits
		var carry uint64
		s[0], carry = bits.Add64(s[0], low<<shift, 0)
		s[1], carry = bits.Add64(s[1], high<<shift|low>>1>>back, carry)
		s[2], carry = bits.Add64(s[2], high>>1>>back, carry)
		for to += 3; carry != 0; to++ {
			sums[to], carry = bits.Add64(sums[to], 0, carry)
		}
	}
}

// Merge adds the sums of other, which has the same columns.
func (p *Products) Merge(other *Products) {
	if other.words == nil {
		return
	}
	p.reach(wordBits*other.low, wordBits*(other.low+other.width-3))
	for i := range 2 * Pairs(p.d) {
		p.addWords(i, other.low, other.words[i*other.width:(i+1)*other.width])
	}
}

// addWords adds words, the first of which counts 2^(64 low), to half i/2 of the sums: of the
// positive products where i is even.
func (p *Products) addWords(i, low int, words []uint64) {
	sum, carry := p.words[i*p.width:(i+1)*p.width], uint64(0)
	at := low - p.low
	for _, w := range words {
		sum[at], carry = bits.Add64(sum[at], w, carry)
		at++
	}
	for ; carry != 0; at++ {
		sum[at], carry = bits.Add64(sum[at], 0, carry)
	}
}

// At is the sum of the pair j, k, exactly.
func (p *Products) At(j, k int) Number {
	if p.words == nil {
		return Number{}
	}
	at := 2 * p.width * p.index(min(j, k), max(j, k))
	n := Number{Exponent: wordBits * p.low}
	var negative big.Int
	setWords(&n.Whole, p.words[at:at+p.width])
	setWords(&negative, p.words[at+p.width:at+2*p.width])
	n.Whole.Sub(&n.Whole, &negative)
	return n.Reduced()
}

// setWords makes z of words of 64 bits, the least first.
func setWords(z *big.Int, words []uint64) {
	whole := make([]big.Word, 0, 2*len(words))
	for _, w := range words {
		whole = append(whole, big.Word(w))
		if bits.UintSize < wordBits {
			whole = append(whole, big.Word(w>>(wordBits/2)))
		}
	}
	z.SetBits(whole)
}

// Put adds a number to the sum of the pair j ≤ k.
func (p *Products) Put(j, k int, n Number) {
	if n.Whole.Sign() == 0 {
		return
	}
	p.reach(n.Exponent, n.Exponent+n.Whole.BitLen())
	i, low := 2*p.index(j, k), floorDiv(n.Exponent, wordBits)
	if n.Whole.Sign() < 0 {
		i++
	}
	var shifted big.Int
	shifted.Lsh(shifted.Abs(&n.Whole), uint(n.Exponent-wordBits*low))
	words := make([]uint64, (shifted.BitLen()+wordBits-1)/wordBits)
	for b, w := range shifted.Bits() {
		words[b*bits.UintSize/wordBits] |= uint64(w) << (b * bits.UintSize % wordBits)
	}
	p.addWords(i, low, words)
}
