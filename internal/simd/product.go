package simd

import "unsafe"

// Product multiplies by matrices with many zeros, which a BLAS does not skip. It is not safe for
// concurrent use.
type Product[T Float] struct {
	// Dense says that the available BLAS, as gonum's, is slower even for dense matrices.
	Dense bool

	values      []T
	offsets     []uint32
	counts      []int
	left        []T // transposed a
	panel, edge []T
}

const (
	narrowest = 64      // minimum columns of b: below, a BLAS is as fast
	dense     = 0.6     // maximum nonzero share of a: above, a fast BLAS is as fast
	largest   = 1 << 22 // maximum size of a, which is copied, for larger shares
)

// Multiply computes c = op(a) op(b), with c (m, n) and inner size k, row-major, if the product is
// large and a has enough zeros, or with Dense. Otherwise it returns false and c is undefined.
func (p *Product[T]) Multiply(ta, tb bool, m, n, k int, a, b, c []T) bool {
	if !fast || m < 32 || k < 32 || n < narrowest {
		return false
	}
	if (!p.Dense || m*k > largest) && float64(nonzero(a[:m*k])) > dense*float64(m*k) {
		return false
	}
	if ta {
		p.left = grown(p.left, m*k)
		transpose(p.left, a, k, m, k)
		a = p.left
	}
	var t T
	size := int(unsafe.Sizeof(t))
	width := 128 / size // of a panel of b: its sums fit in the registers
	p.values, p.offsets, p.counts = grown(p.values, m*k), grown(p.offsets, m*k), grown(p.counts, m)
	for i := range m {
		p.counts[i] = list(p.values[i*k:(i+1)*k], p.offsets[i*k:(i+1)*k], a[i*k:(i+1)*k], uint32(width*size))
	}
	p.panel, p.edge = grown(p.panel, width*k), grown(p.edge, width*m)
	for j := 0; j < n; j += width {
		w := min(width, n-j)
		p.take(tb, b, j, w, width, k, n)
		if w == width {
			p.strip(c[j:], m, k, n)
			continue
		}
		p.strip(p.edge, m, k, width) // whole vectors would overwrite the next row
		for i := range m {
			copy(c[i*n+j:i*n+j+w], p.edge[i*width:])
		}
	}
	return true
}

// take copies w columns of op(b) (k, n) from column j into the panel, with width numbers per row.
func (p *Product[T]) take(tb bool, b []T, j, w, width, k, n int) {
	if tb {
		transpose(p.panel, b[j*k:(j+w)*k], w, k, width)
		return
	}
	for l := range k {
		copy(p.panel[l*width:], b[l*n+j:l*n+j+w])
	}
}

// strip computes the panel's columns of c.
func (p *Product[T]) strip(c []T, m, k, stride int) {
	var t T
	if stride *= int(unsafe.Sizeof(t)); double[T]() {
		sparseF64(p64(c), p64(p.panel), p64(p.values), &p.offsets[0], &p.counts[0], m, k, stride)
	} else {
		sparseF32(p32(c), p32(p.panel), p32(p.values), &p.offsets[0], &p.counts[0], m, k, stride)
	}
}

func nonzero[T Float](x []T) (count int) {
	for _, v := range x {
		count += notZero(v)
	}
	return count
}

func notZero[T Float](v T) (one int) {
	if v != 0 {
		one = 1
	}
	return one
}

// list writes the nonzero numbers of x, and their indices times step.
func list[T Float](values []T, offsets []uint32, x []T, step uint32) (count int) {
	for i, v := range x {
		values[count], offsets[count] = v, uint32(i)*step
		count += notZero(v)
	}
	return count
}

// transpose sets out to the transpose of x (rows, cols), with stride numbers per row of out.
func transpose[T Float](out, x []T, rows, cols, stride int) {
	r := 0
	for ; r+8 <= rows; r += 8 { // eight rows at a time fill cache lines
		row := func(k int) []T { return x[(r+k)*cols:][:cols] }
		b, c, d, e, f, g, h := row(1), row(2), row(3), row(4), row(5), row(6), row(7)
		for j, v := range row(0) {
			o := out[j*stride+r:][:8]
			o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7] = v, b[j], c[j], d[j], e[j], f[j], g[j], h[j]
		}
	}
	for ; r < rows; r++ {
		for j, v := range x[r*cols:][:cols] {
			out[j*stride+r] = v
		}
	}
}

func grown[S any](s []S, n int) []S {
	if cap(s) < n {
		return make([]S, n)
	}
	return s[:n]
}
