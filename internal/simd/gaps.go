package simd

// Gaps are the places of a row's missing cells.
type Gaps struct{ at []int }

// Set takes the places where mask is 0.
func (g *Gaps) Set(mask []float64) {
	if cap(g.at) <= len(mask) {
		g.at = make([]int, len(mask)+1)
	}
	at, n := g.at[:len(mask)+1], 0
	for j, m := range mask { // no branch on random gaps
		at[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
	}
	g.at = at[:n]
}

// At lists the places in ascending order.
func (g *Gaps) At() []int { return g.at }

// Scatter is out = row with z in its gaps, for each of the rows of out (r, d); it takes z's numbers in turn.
func Scatter[T Float](out, row, z []T, g *Gaps) {
	d := len(row)
	for ; len(out) > 0; out, z = out[d:], z[len(g.at):] {
		copy(out, row)
		x, z := out[:d], z[:len(g.at)]
		for k, j := range g.at {
			x[j] = z[k]
		}
	}
}
