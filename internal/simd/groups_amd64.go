package simd

// rowShape is how a row of m numbers lies in vectors: see asm/groups.go.
type rowShape struct {
	whole, tail int // bytes
	careful     int
	mask        *uint32
}

// tailMasks, from the place 8 − k on, has all bits in the first k numbers of a vector.
var tailMasks = [16]uint32{on, on, on, on, on, on, on, on}

const on = ^uint32(0)

func shapeOf[T Float](m int) rowShape {
	size := sizeOf[T]()
	bytes := m * size
	tail := bytes % 32
	return rowShape{bytes - tail, tail, max(1, (32/size-1)/m), &tailMasks[8-tail/4]}
}

// groupsOf is the number of groups that a vector kernel takes: all, or none.
func groupsOf(rows, m, r int) int {
	if !fast || m == 0 || r == 0 {
		return 0
	}
	return rows / r
}

// GroupOuter is out_ik = w_ik c_i.
func GroupOuter[T Float](out, c, w []T, m, r int) {
	n := groupsOf(len(w), m, r)
	if n == 0 {
		groupOuter(out, c, w, m, r)
		return
	}
	out, c, w = out[:n*r*m], c[:n*m], w[:n*r]
	s := shapeOf[T](m)
	if double[T]() {
		groupOuterF64(p64(out), p64(c), p64(w), nil, n, r, s.whole, s.tail, s.careful, s.mask)
	} else {
		groupOuterF32(p32(out), p32(c), p32(w), nil, n, r, s.whole, s.tail, s.careful, s.mask)
	}
}

// GroupAdd is out_ik = x_ik + c_i.
func GroupAdd[T Float](out, c, x []T, m, r int) {
	n := groupsOf(len(x)/max(m, 1), m, r)
	if n == 0 {
		groupAdd(out, c, x, m, r)
		return
	}
	out, c, x = out[:n*r*m], c[:n*m], x[:n*r*m]
	s := shapeOf[T](m)
	if double[T]() {
		groupAddF64(p64(out), p64(c), nil, p64(x), n, r, s.whole, s.tail, s.careful, s.mask)
	} else {
		groupAddF32(p32(out), p32(c), nil, p32(x), n, r, s.whole, s.tail, s.careful, s.mask)
	}
}

// GroupSquaresSlope is out_ik = (2 w_ik c_i) ∘ x_ik.
func GroupSquaresSlope[T Float](out, c, x, w []T, m, r int) {
	n := groupsOf(len(w), m, r)
	if n == 0 {
		groupSquaresSlope(out, c, x, w, m, r)
		return
	}
	out, c, x, w = out[:n*r*m], c[:n*m], x[:n*r*m], w[:n*r]
	s := shapeOf[T](m)
	if double[T]() {
		groupSquaresSlopeF64(p64(out), p64(c), p64(w), p64(x), n, r, s.whole, s.tail, s.careful, s.mask)
	} else {
		groupSquaresSlopeF32(p32(out), p32(c), p32(w), p32(x), n, r, s.whole, s.tail, s.careful, s.mask)
	}
}

// GroupDot is out_ik = c_iᵀ x_ik.
func GroupDot[T Float](out, c, x []T, m, r int) {
	n := groupsOf(len(out), m, r)
	if n == 0 {
		groupDot(out, c, x, m, r)
		return
	}
	out, c, x = out[:n*r], c[:n*m], x[:n*r*m]
	s := shapeOf[T](m)
	if double[T]() {
		groupDotF64(p64(out), p64(c), p64(x), n, r, s.whole, s.tail)
	} else {
		groupDotF32(p32(out), p32(c), p32(x), n, r, s.whole, s.tail)
	}
}

// GroupSquares is out_ik = c_iᵀ (x_ik ∘ x_ik).
func GroupSquares[T Float](out, c, x []T, m, r int) {
	n := groupsOf(len(out), m, r)
	if n == 0 {
		groupSquares(out, c, x, m, r)
		return
	}
	out, c, x = out[:n*r], c[:n*m], x[:n*r*m]
	s := shapeOf[T](m)
	if double[T]() {
		groupSquaresF64(p64(out), p64(c), p64(x), n, r, s.whole, s.tail)
	} else {
		groupSquaresF32(p32(out), p32(c), p32(x), n, r, s.whole, s.tail)
	}
}

// GroupMean is out_i = Σ_k w_ik x_ik.
func GroupMean[T Float](out, w, x []T, m, r int) {
	n := groupsOf(len(w), m, r)
	if n == 0 {
		groupMean(out, w, x, m, r)
		return
	}
	out, w, x = out[:n*m], w[:n*r], x[:n*r*m]
	s := shapeOf[T](m)
	if double[T]() {
		groupMeanF64(p64(out), p64(w), p64(x), n, r, s.whole, s.tail, s.careful, s.mask)
	} else {
		groupMeanF32(p32(out), p32(w), p32(x), n, r, s.whole, s.tail, s.careful, s.mask)
	}
}

// GroupSlope is out = Σ_ik g_ik c_i, each product and each sum rounded.
func GroupSlope[T Float](out, c, g []T, m, r int) {
	n := groupsOf(len(g), m, r)
	if n == 0 {
		groupSlope(out, c, g, m, r)
		return
	}
	out, c, g = out[:m], c[:n*m], g[:n*r]
	size := sizeOf[T]()
	for j := 0; j < m; j += 128 / size {
		var masks [32]uint32
		for u := range min(32, (m-j)*size/4) {
			masks[u] = on
		}
		if double[T]() {
			groupSlopeF64(p64(out[j:]), p64(c[j:]), p64(g), n, r, m*size, &masks)
		} else {
			groupSlopeF32(p32(out[j:]), p32(c[j:]), p32(g), n, r, m*size, &masks)
		}
	}
}

// groupSoftmaxSingle is groupSoftmax in float32.
func groupSoftmaxSingle(out, x []float32, r int) {
	n := groupsOf(len(out), 1, r)
	if n == 0 {
		groupSoftmax(out, x, r, leastSoftmax32, Exp32)
		return
	}
	out, x = out[:n*r], x[:n*r]
	s := shapeOf[float32](r)
	groupSoftmaxF32(&out[0], &x[0], &softmaxConstants[0][0], n, s.whole, s.tail, s.careful, s.mask)
}
