package simd

// Gaps holds the indices of a row's missing cells.
type Gaps struct{ at []int }

func (g *Gaps) Set(mask []float64) {
	if cap(g.at) <= len(mask) {
		g.at = make([]int, len(mask)+1)
	}
	at, n := g.at[:len(mask)+1], 0
	for j, m := range mask { // branch-free for random gaps
		at[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
	}
	g.at = at[:n]
}

func (g *Gaps) At() []int { return g.at }

// Scatter sets each row of out (r, d) to row, with missing cells from z in turn.
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
