package simd

// Gaps are the places of a row's missing cells.
type Gaps struct {
	at   []int
	bits []uint8 // one a column, whole pairs of bytes
}

// Set takes the places where mask is 0.
func (g *Gaps) Set(mask []float64) {
	d := len(mask)
	if n := (d + 15) / 16 * 2; len(g.bits) != n {
		g.at, g.bits = make([]int, 8*n), make([]uint8, n)
	}
	g.at = g.at[:listGaps(g.at[:cap(g.at)], g.bits, mask)]
}

// setGaps lists the places where mask is 0 in at, marks them in bits and counts them.
func setGaps(at []int, bits []uint8, mask []float64) (n int) {
	clear(bits)
	for j, m := range mask { // a branch on random gaps costs more than all the rest
		at[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
		bits[j/8] |= uint8(one << (j % 8))
	}
	return n
}

// At are the places in order.
func (g *Gaps) At() []int { return g.at }

// Spare is how many numbers Scatter may look at behind those that it uses.
const Spare = 16

func scatter[T Float](out, row, mean, sd, z []T, g *Gaps) {
	d := len(row)
	for ; len(out) > 0; out, z = out[d:], z[len(g.at):] {
		copy(out, row)
		for k, j := range g.at {
			out[j] = mean[j] + T(sd[j]*z[k])
		}
	}
}
