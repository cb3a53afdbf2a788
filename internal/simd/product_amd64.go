package simd

import "unsafe"

// Product multiplies by a matrix with many zeros: activations behind a rectifier,
// gradients behind a gate, zero-filled rows. Half of their products need not be
// made, which a BLAS cannot know; nor that rows repeat each other (repeats). It keeps the memory that it works in, and is for
// one goroutine at a time.
type Product[T Float] struct {
	// Dense says that the BLAS beside it is slower where a has few zeros, too, as gonum's is:
	// two to six times (go test -bench WithoutZeros).
	Dense bool

	values      []T
	offsets     []uint32
	counts      []int
	left        []T // a, transposed
	panel, edge []T

	groups      []group // see repeats
	places      []place
	marks, row  []uint8
	zeros, base []T
	sums        []T
}

const (
	narrowest = 64      // columns of b below which a BLAS is as fast
	dense     = 0.6     // share of numbers in a that are not 0 above which a fast one is
	largest   = 1 << 22 // numbers in a, which are copied, where the share is more
)

// Multiply is c = op(a) op(b), with c (m, n) and inner size k, row-major, where that
// pays: a large product and enough zeros in a, or rows that repeat each other, or Dense. Otherwise
// it says false and c is nothing. What it decides depends on the numbers only.
func (p *Product[T]) Multiply(ta, tb bool, m, n, k int, a, b, c []T) bool {
	if !fast || m < 32 || k < 32 {
		return false
	}
	if n < narrowest || float64(nonzero(a[:m*k])) > dense*float64(m*k) {
		if !tb && p.repeats(ta, m, n, k, a, b, c) {
			return true
		}
		if n < narrowest || !p.Dense || m*k > largest {
			return false
		}
	}
	if ta {
		p.left = grown(p.left, m*k)
		transpose(p.left, a, k, m, k)
		a = p.left
	}
	var t T
	size := int(unsafe.Sizeof(t))
	width := 128 / size // of a panel of b: what the kernel keeps in registers
	space := k + 16     // compress writes whole vectors
	p.values, p.offsets, p.counts = grown(p.values, m*space), grown(p.offsets, m*space), grown(p.counts, m)
	for i := range m {
		p.counts[i] = list(p.values[i*space:(i+1)*space], p.offsets[i*space:(i+1)*space], a[i*k:(i+1)*k], uint32(width*size))
	}
	p.panel, p.edge = grown(p.panel, 2*width*k), grown(p.edge, width*m)
	j := 0
	for ; faster && j+2*width <= n; j += 2 * width {
		p.take(tb, b, j, 2*width, 2*width, k, n)
		wideStrip(c[j:], p, m, space, n)
	}
	for ; j < n; j += width {
		w := min(width, n-j)
		p.take(tb, b, j, w, width, k, n)
		out, stride := c[j:], n
		if w < width { // whole vectors would write over the next row
			out, stride = p.edge, width
		}
		strip(out, p, (w*size+31)/32, m, space, stride)
		if w < width {
			for i := range m {
				copy(c[i*n+j:i*n+j+w], p.edge[i*width:])
			}
		}
	}
	return true
}

// take puts w columns of op(b) (k, n) from column j on into the panel, whose rows have width numbers.
func (p *Product[T]) take(tb bool, b []T, j, w, width, k, n int) {
	if tb {
		transpose(p.panel, b[j*k:(j+w)*k], w, k, width)
		return
	}
	for l := range k {
		copy(p.panel[l*width:], b[l*n+j:l*n+j+w])
	}
}

// wideStrip computes 256 bytes' width of c.
func wideStrip[T Float](c []T, p *Product[T], m, space, stride int) {
	if double[T]() {
		sparseWideF64(p64(c), p64(p.panel), p64(p.values), &p.offsets[0], &p.counts[0], m, space, stride*8)
	} else {
		sparseWideF32(p32(c), p32(p.panel), p32(p.values), &p.offsets[0], &p.counts[0], m, space, stride*4)
	}
}

// strip computes as many vectors' width of c.
func strip[T Float](c []T, p *Product[T], vectors, m, space, stride int) {
	if double[T]() {
		f := [...]func(out, panel, values *float64, offsets *uint32, counts *int, rows, space, stride int){sparse1F64, sparse2F64, sparse3F64, sparse4F64}[vectors-1]
		f(p64(c), p64(p.panel), p64(p.values), &p.offsets[0], &p.counts[0], m, space, stride*8)
	} else {
		f := [...]func(out, panel, values *float32, offsets *uint32, counts *int, rows, space, stride int){sparse1F32, sparse2F32, sparse3F32, sparse4F32}[vectors-1]
		f(p32(c), p32(p.panel), p32(p.values), &p.offsets[0], &p.counts[0], m, space, stride*4)
	}
}

func nonzero[T Float](x []T) int {
	n, count := whole[T](len(x)), 0
	if n > 0 {
		if double[T]() {
			count = nonzeroF64(p64(x), n)
		} else {
			count = nonzeroF32(p32(x), n)
		}
	}
	for _, v := range x[n:] {
		if v != 0 {
			count++
		}
	}
	return count
}

// list writes the numbers of x that are not 0, and their places times step.
func list[T Float](values []T, offsets []uint32, x []T, step uint32) (count int) {
	n := 0
	if faster {
		var t T
		lanes := 64 / int(unsafe.Sizeof(t))
		if n = len(x) &^ (lanes - 1); n > 0 {
			var steps [17]uint32
			for i := range lanes {
				steps[i] = uint32(i) * step
			}
			steps[16] = uint32(lanes) * step
			if double[T]() {
				count = compressF64(p64(values), &offsets[0], p64(x), &steps, n)
			} else {
				count = compressF32(p32(values), &offsets[0], p32(x), &steps, n)
			}
		}
	}
	for i, v := range x[n:] { // no branch on random zeros
		values[count], offsets[count] = v, uint32(n+i)*step
		one := 0
		if v != 0 {
			one = 1
		}
		count += one
	}
	return count
}

// transpose is out of x (rows, cols), with stride numbers from one row of out to the next.
func transpose[T Float](out, x []T, rows, cols, stride int) {
	_, _ = out[(cols-1)*stride+rows-1], x[rows*cols-1]
	fours, inner := 0, 0
	if fast {
		fours, inner = rows&^3, cols&^3
		for i := 0; i < fours && inner > 0; i += 4 {
			if double[T]() {
				transposeF64(p64(out[i:]), p64(x[i*cols:]), stride, cols, inner)
			} else {
				transposeF32(p32(out[i:]), p32(x[i*cols:]), stride, cols, inner)
			}
		}
	}
	for r := range rows {
		from := 0
		if r < fours {
			from = inner
		}
		for c := from; c < cols; c++ {
			out[c*stride+r] = x[r*cols+c]
		}
	}
}
