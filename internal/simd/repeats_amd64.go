package simd

import (
	"slices"
	"unsafe"
)

// Rows that agree with the row before them in many columns, as the imputations of a table
// row do in all that was observed: what a group of them shares is multiplied once, and the
// other columns, which are the same for all of the group, row by row. It is a dense
// product with fewer columns, so each number of b that is read serves several rows.

const (
	similar   = 0.75 // share of columns in which a row may differ from the first of its group
	worth     = 0.7  // share of the multiplications above which a BLAS is as fast
	shortest  = 256  // bytes of a row of b below which it is
	undecided = 32   // rows that are looked at before the answer may be no
)

// group are the rows from, …, to−1, with where in places their columns begin, those that
// vary and those that they share, and how many vary.
type group struct{ from, to, first, shared, varying int }

// place is a column's offset in a row, and that of its row in the other matrix, in bytes.
type place = [2]uint32

// repeats is Multiply for such a matrix and an untransposed b, of 32 rows and columns at least.
func (p *Product[T]) repeats(ta bool, m, n, k int, a, b, c []T) bool {
	rows, columns := m, k
	if ta {
		rows, columns = k, m
	}
	if !faster || n*sizeOf[T]() < shortest || !p.find(a[:rows*columns], columns, n) {
		return false
	}
	const zmm = 64
	lanes := zmm / sizeOf[T]()
	p.zeros, p.base = grown(p.zeros, 2*lanes), grown(p.base, 2*lanes)
	if ta {
		clear(c)
		p.sums = grown(p.sums, len(p.groups)*n)
		for g, q := range p.groups {
			sum := p.sums[g*n : g*n+n]
			copy(sum, b[q.from*n:])
			for i := q.from + 1; i < q.to; i++ {
				Add(sum, sum, b[i*n:i*n+n])
			}
		}
	}
	for g, q := range p.groups {
		varying, shared := p.places[q.first:q.first+q.varying], p.places[q.shared:q.shared+columns-q.varying]
		first := a[q.from*columns:]
		for j := 0; j < n; j += 2 * lanes {
			vectors, last := masked(min(2*lanes, n-j), lanes)
			if ta {
				down(vectors-1, c[j:], p.sums[g*n+j:], first, shared, n, columns, last)
			} else {
				across(vectors-1, p.base, p.zeros, b[j:], first, shared, n, columns, last)
			}
			for i := q.from; i < q.to; {
				h := tallest(q.to - i)
				if kernel, x := 2*h+vectors-1, a[i*columns:]; ta {
					down(kernel, c[j:], b[i*n+j:], x, varying, n, columns, last)
				} else {
					across(kernel, c[i*n+j:], p.base, b[j:], x, varying, n, columns, last)
				}
				i += heights[h]
			}
		}
	}
	return true
}

// heights are the numbers of rows that there are kernels for.
var heights = [...]int{1, 2, 5, 10}

// tallest is the largest that rows take.
func tallest(rows int) (h int) {
	for h = len(heights) - 1; heights[h] > rows; h-- {
	}
	return h
}

// masked is how many vectors n numbers take, and which of the last one's they are.
func masked(n, lanes int) (vectors int, last uint16) {
	vectors = (n + lanes - 1) / lanes
	return vectors, uint16(1<<(n-(vectors-1)*lanes) - 1)
}

// find makes groups of x's rows, or says that they are not worth it. The other matrix
// has rows of n numbers.
func (p *Product[T]) find(x []T, columns, n int) bool {
	size := sizeOf[T]()
	lanes := 64 / size
	vectors, last := masked(columns, lanes)
	eights := (columns + 7) / 8
	p.marks, p.row = grown(p.marks, eights), grown(p.row, eights+1)
	p.groups, p.places = p.groups[:0], p.places[:0]
	var first [9]place
	for c := range first {
		first[c] = place{uint32(c * size), uint32(c * n * size)}
	}
	rows, cost := len(x)/columns, 0
	for from, to := 0, 0; from < rows; from = to {
		clear(p.marks)
		for to = from + 1; to < rows; to++ {
			if float64(differing(p.row, x[from*columns:], x[to*columns:], vectors, last)) > similar*float64(columns) {
				break
			}
			for e := range p.marks {
				p.marks[e] |= p.row[e]
			}
		}
		at := len(p.places)
		room := 8*eights + 8 // split writes whole vectors
		p.places = slices.Grow(p.places, 2*room)[:at+2*room]
		varying := split(&p.places[at], &p.places[at+room], &p.marks[0], &first, eights)
		cost += (to-from)*varying + columns - varying
		if to >= undecided && float64(cost) > worth*float64(to*columns) {
			return false
		}
		p.groups = append(p.groups, group{from, to, at, at + room, varying})
	}
	return true
}

var (
	acrossDouble = [...]func(out, start, b, x *float64, places *place, count, outStride, xStride int, last uint16){
		across1x1F64, across1x2F64, across2x1F64, across2x2F64, across5x1F64, across5x2F64, across10x1F64, across10x2F64}
	acrossSingle = [...]func(out, start, b, x *float32, places *place, count, outStride, xStride int, last uint16){
		across1x1F32, across1x2F32, across2x1F32, across2x2F32, across5x1F32, across5x2F32, across10x1F32, across10x2F32}
	downDouble = [...]func(out, y, x *float64, places *place, count, yStride, xStride int, last uint16){
		down1x1F64, down1x2F64, down2x1F64, down2x2F64, down5x1F64, down5x2F64, down10x1F64, down10x2F64}
	downSingle = [...]func(out, y, x *float32, places *place, count, yStride, xStride int, last uint16){
		down1x1F32, down1x2F32, down2x1F32, down2x2F32, down5x1F32, down5x2F32, down10x1F32, down10x2F32}
)

// across is out_i = start + Σ_p x_i[p] b[p] for as many rows as the kernel takes.
func across[T Float](kernel int, out, start, b, x []T, places []place, n, columns int, last uint16) {
	at := unsafe.SliceData(places)
	if double[T]() {
		acrossDouble[kernel](p64(out), p64(start), p64(b), p64(x), at, len(places), 8*n, 8*columns, last)
	} else {
		acrossSingle[kernel](p32(out), p32(start), p32(b), p32(x), at, len(places), 4*n, 4*columns, last)
	}
}

// down is out[p] = out[p] + Σ_i x_i[p] y_i.
func down[T Float](kernel int, out, y, x []T, places []place, n, columns int, last uint16) {
	at := unsafe.SliceData(places)
	if double[T]() {
		downDouble[kernel](p64(out), p64(y), p64(x), at, len(places), 8*n, 8*columns, last)
	} else {
		downSingle[kernel](p32(out), p32(y), p32(x), at, len(places), 4*n, 4*columns, last)
	}
}

func differing[T Float](marks []uint8, first, x []T, vectors int, last uint16) int {
	if double[T]() {
		return differsF64(&marks[0], p64(first), p64(x), vectors, last)
	}
	return differsF32(&marks[0], p32(first), p32(x), vectors, last)
}

func sizeOf[T Float]() int { var x T; return int(unsafe.Sizeof(x)) }
