package simd

// Gaps are the indices of a row's missing cells.
type Gaps []int

func (g *Gaps) Set(mask []float64) {
	at, n := grown(*g, len(mask)+1), 0
	for j, m := range mask { // branch-free for random gaps
		at[n] = j
		one := 0
		if m == 0 {
			one = 1
		}
		n += one
	}
	*g = at[:n]
}

// Scatter sets each row of out (r, d) to row, with missing cells from z in turn.
func Scatter[T Float](out, row, z []T, at Gaps) {
	d := len(row)
	for ; len(out) > 0; out, z = out[d:], z[len(at):] {
		copy(out, row)
		x, z := out[:d], z[:len(at)]
		for k, j := range at {
			x[j] = z[k]
		}
	}
}
