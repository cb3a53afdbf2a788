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
	clear(g.bits)
	at, n := g.at[:d], 0
	for j, m := range mask { // a branch on random gaps costs more than all the rest
		at[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
		g.bits[j/8] |= uint8(one << (j % 8))
	}
	g.at = at[:n]
}

// At are the places in order.
func (g *Gaps) At() []int { return g.at }

// Spare is how many numbers Scatter may look at behind those that it uses.
const Spare = 16

func scatter[T Float](out, row, mean, sd, z []T, g *Gaps) {
	copy(out, row[:len(out)])
	for k, j := range g.at {
		out[j] = mean[j] + T(sd[j]*z[k])
	}
}
