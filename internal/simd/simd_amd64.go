package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	fast   = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasPOPCNT
	faster = fast && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW
)

// Instructions names what is in use.
func Instructions() string {
	switch {
	case faster:
		return "AVX2 and AVX-512"
	case fast:
		return "AVX2"
	}
	return "no vectors"
}

// whole is the part of n numbers that vectors take; what is left is for the plain loop.
func whole[T Float](n int) int {
	if !fast {
		return 0
	}
	if double[T]() {
		return n &^ 3
	}
	return n &^ 7
}

func p64[T Float](x []T) *float64 { return (*float64)(unsafe.Pointer(unsafe.SliceData(x))) }
func p32[T Float](x []T) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }

// Add is out = x + y.
func Add[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			addF64(p64(out), p64(x), p64(y), n)
		} else {
			addF32(p32(out), p32(x), p32(y), n)
		}
	}
	add(out[n:], x[n:], y[n:])
}

// Sub is out = x − y.
func Sub[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			subF64(p64(out), p64(x), p64(y), n)
		} else {
			subF32(p32(out), p32(x), p32(y), n)
		}
	}
	sub(out[n:], x[n:], y[n:])
}

// Mul is out = x ∘ y.
func Mul[T Float](out, x, y []T) {
	x, y = x[:len(out)], y[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			mulF64(p64(out), p64(x), p64(y), n)
		} else {
			mulF32(p32(out), p32(x), p32(y), n)
		}
	}
	mul(out[n:], x[n:], y[n:])
}

// Scale is out = k x.
func Scale[T Float](out []T, k T, x []T) {
	x = x[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			scaleF64(p64(out), p64(x), float64(k), n)
		} else {
			scaleF32(p32(out), p32(x), float32(k), n)
		}
	}
	scale(out[n:], k, x[n:])
}

// Axpy is out = out + k x.
func Axpy[T Float](out []T, k T, x []T) {
	x = x[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			axpyF64(p64(out), p64(x), float64(k), n)
		} else {
			axpyF32(p32(out), p32(x), float32(k), n)
		}
	}
	axpy(out[n:], k, x[n:])
}

// Rectify is row = max(row + bias, 0).
func Rectify[T Float](row, bias []T) {
	bias = bias[:len(row)]
	n := whole[T](len(row))
	if n > 0 {
		if double[T]() {
			rectifyF64(p64(row), p64(bias), n)
		} else {
			rectifyF32(p32(row), p32(bias), n)
		}
	}
	rectify(row[n:], bias[n:])
}

// Gate is out = g where y > 0, else 0.
func Gate[T Float](out, y, g []T) {
	y, g = y[:len(out)], g[:len(out)]
	n := whole[T](len(out))
	if n > 0 {
		if double[T]() {
			gateF64(p64(out), p64(y), p64(g), n)
		} else {
			gateF32(p32(out), p32(y), p32(g), n)
		}
	}
	gate(out[n:], y[n:], g[n:])
}

// Dot is Σ x y.
func Dot[T Float](x, y []T) (s T) {
	y = y[:len(x)]
	n := whole[T](len(x))
	if n > 0 {
		if double[T]() {
			s = T(dotF64(p64(x), p64(y), n))
		} else {
			s = T(dotF32(p32(x), p32(y), n))
		}
	}
	return s + dot(x[n:], y[n:])
}

// Adam makes one step; the results are those of the plain loop to the bit.
func Adam[T Float](w, m, v, g []T, c *AdamConstants) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	n, k := whole[T](len(w)), constants[T](c)
	if n > 0 {
		if double[T]() {
			adamF64(p64(w), p64(m), p64(v), p64(g), (*[6]float64)(unsafe.Pointer(&k)), n)
		} else {
			adamF32(p32(w), p32(m), p32(v), p32(g), (*[6]float32)(unsafe.Pointer(&k)), n)
		}
	}
	adam(w[n:], m[n:], v[n:], g[n:], &k)
}

// NormalBlocks fills dst, whole blocks of NormalBlock, with standard normals.
func NormalBlocks(dst []float32, s *Lanes) {
	if n := len(dst) / NormalBlock; n > 0 && fast {
		normalsF32(&dst[0], &s[0][0], &normalConstants[0][0], n)
		return
	}
	normalBlocks(dst, s)
}

// Scatter is out = row with mean + sd z in its gaps, for each of the rows of out (r, d), and z's
// numbers in turn; row, mean and sd have a number for each column. Behind those that it uses z has
// Spare more.
func Scatter[T Float](out, row, mean, sd, z []T, g *Gaps) {
	d := len(row)
	if len(out) == 0 || !faster {
		scatter(out, row, mean, sd, z, g)
		return
	}
	rows := len(out) / d
	out, mean, sd, z = out[:rows*d], mean[:d], sd[:d], z[:rows*len(g.at)+Spare]
	lanes := 64 / sizeOf[T]()
	n, last := masked(d, lanes)
	ahead := (d - (n-1)*lanes) * sizeOf[T]()
	if double[T]() {
		scatterF64(p64(out), p64(row), p64(mean), p64(sd), p64(z), &g.bits[0], rows, n, ahead, last)
	} else {
		scatterF32(p32(out), p32(row), p32(mean), p32(sd), p32(z), &g.bits[0], rows, n, ahead, last)
	}
}

// places are the first eight, and what a vector adds.
var places = [9]int{0, 1, 2, 3, 4, 5, 6, 7, 8}

// listGaps is setGaps.
func listGaps(at []int, bits []uint8, mask []float64) int {
	if len(mask) == 0 || !faster {
		return setGaps(at, bits, mask)
	}
	n, last := masked(len(mask), 8)
	bits[len(bits)-1] = 0 // they go in pairs
	return gaps(&at[:8*n][0], &bits[:n][0], &mask[0], &places, n, last)
}

// Seen is x = values where observed, else 0, whatever the value, and mask = 1 or 0.
func Seen(x, mask, values []float64, observed []bool) {
	n := whole[float64](len(observed))
	if n > 0 {
		seenF64(&x[:len(observed)][0], &mask[:len(observed)][0], &values[:len(observed)][0], &observed[0], n)
	}
	seen(x[n:], mask[n:], values[n:], observed[n:])
}

// Narrow is float64 to float32.
func Narrow(dst []float32, src []float64) {
	n := whole[float64](len(dst))
	if n > 0 {
		narrow(&dst[0], &src[:len(dst)][0], n)
	}
	convert(dst[n:], src[n:])
}

// Widen is float32 to float64.
func Widen(dst []float64, src []float32) {
	n := whole[float64](len(dst))
	if n > 0 {
		widen(&dst[0], &src[:len(dst)][0], n)
	}
	convert(dst[n:], src[n:])
}

// tiles is a = a − wᵀ uᵀ of n tiles a and u and one tile w.
func tiles(a, w, u []float64, n int) {
	if n == 0 || !faster {
		plainTiles(a, w, u, n)
		return
	}
	tilesF64(&a[:n*tileSize][0], &w[:tileSize][0], &u[:n*tileSize][0], n)
}

// turnTiles is to = fromᵀ of n tiles.
func turnTiles(to, from []float64, n int) {
	if n == 0 || !faster {
		plainTurnTiles(to, from, n)
		return
	}
	turnTilesF64(&to[:n*tileSize][0], &from[:n*tileSize][0], n)
}

// pivotTile is a = −a⁻¹ of a symmetric tile, by its pivots, which it leaves.
func pivotTile(a, pivots []float64) {
	if !faster {
		plainPivotTile(a, pivots)
		return
	}
	one := 1.0
	pivotTileF64(&a[:tileSize][0], &pivots[:tileSide*Together][0], &one)
}

// applyTiles is own = own + Σ a from and to = to + aᵀ ownFrom of n tiles a beside each other.
func applyTiles(to, a, from, own, ownFrom []float64, n int) {
	if n == 0 || !faster {
		plainApplyTiles(to, a, from, own, ownFrom, n)
		return
	}
	applyTilesF64(&to[:n*tileSide*Together][0], &a[:n*tileSize][0], &from[:n*tileSide*Together][0], &own[:tileSide*Together][0], &ownFrom[:tileSide*Together][0], n)
}

// InvertsTogether tells whether Inverses has instructions for eight matrices at once.
func InvertsTogether() bool { return faster }
