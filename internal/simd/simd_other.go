//go:build !amd64

package simd

// Instructions names what is in use.
func Instructions() string { return "no vectors" }

// Add is out = x + y.
func Add[T Float](out, x, y []T) { add(out, x, y) }

// Sub is out = x − y.
func Sub[T Float](out, x, y []T) { sub(out, x, y) }

// Mul is out = x ∘ y.
func Mul[T Float](out, x, y []T) { mul(out, x, y) }

// Scale is out = k x.
func Scale[T Float](out []T, k T, x []T) { scale(out, k, x) }

// Axpy is out = out + k x.
func Axpy[T Float](out []T, k T, x []T) { axpy(out, k, x) }

// Rectify is row = max(row + bias, 0).
func Rectify[T Float](row, bias []T) { rectify(row, bias) }

// Gate is out = g where y > 0, else 0.
func Gate[T Float](out, y, g []T) { gate(out, y, g) }

// Dot is Σ x y.
func Dot[T Float](x, y []T) T { return dot(x, y) }

// Adam makes one step.
func Adam[T Float](w, m, v, g []T, c *AdamConstants) {
	k := constants[T](c)
	adam(w, m, v, g, &k)
}

// NormalBlocks fills dst, whole blocks of NormalBlock, with standard normals.
func NormalBlocks(dst []float32, s *Lanes) { normalBlocks(dst, s) }

// Scatter is out = row with mean + sd z in its gaps, for each of the rows of out (r, d), and z's
// numbers in turn.
func Scatter[T Float](out, row, mean, sd, z []T, g *Gaps) { scatter(out, row, mean, sd, z, g) }

// GroupOuter is out_ik = w_ik c_i.
func GroupOuter[T Float](out, c, w []T, m, r int) { groupOuter(out, c, w, m, r) }

// GroupAdd is out_ik = x_ik + c_i.
func GroupAdd[T Float](out, c, x []T, m, r int) { groupAdd(out, c, x, m, r) }

// GroupSquaresSlope is out_ik = (2 w_ik c_i) ∘ x_ik.
func GroupSquaresSlope[T Float](out, c, x, w []T, m, r int) { groupSquaresSlope(out, c, x, w, m, r) }

// GroupDot is out_ik = c_iᵀ x_ik.
func GroupDot[T Float](out, c, x []T, m, r int) { groupDot(out, c, x, m, r) }

// GroupSquares is out_ik = c_iᵀ (x_ik ∘ x_ik).
func GroupSquares[T Float](out, c, x []T, m, r int) { groupSquares(out, c, x, m, r) }

// GroupMean is out_i = Σ_k w_ik x_ik.
func GroupMean[T Float](out, w, x []T, m, r int) { groupMean(out, w, x, m, r) }

// GroupSlope is out = Σ_ik g_ik c_i, each product and each sum rounded.
func GroupSlope[T Float](out, c, g []T, m, r int) { groupSlope(out, c, g, m, r) }

func groupSoftmaxSingle(out, x []float32, r int) {
	groupSoftmax(out, x, r, leastSoftmax32, Exp32)
}

func listGaps(at []int, bits []uint8, mask []float64) int { return setGaps(at, bits, mask) }

// Seen is x = values where observed, else 0, whatever the value, and mask = 1 or 0.
func Seen(x, mask, values []float64, observed []bool) { seen(x, mask, values, observed) }

// Narrow is float64 to float32.
func Narrow(dst []float32, src []float64) { convert(dst, src) }

// Widen is float32 to float64.
func Widen(dst []float64, src []float32) { convert(dst, src) }

// InvertsTogether tells whether Inverses has instructions for eight matrices at once.
func InvertsTogether() bool { return false }

func tiles(a, w, u []float64, n int)      { plainTiles(a, w, u, n) }
func turnTiles(to, from []float64, n int) { plainTurnTiles(to, from, n) }
func pivotTile(a, pivots []float64)       { plainPivotTile(a, pivots) }
func applyTiles(to, a, from, own, ownFrom []float64, n int) {
	plainApplyTiles(to, a, from, own, ownFrom, n)
}

// Product is for machines with AVX2; here the library's is always used.
type Product[T Float] struct{ Dense bool }

// Multiply declines.
func (*Product[T]) Multiply(ta, tb bool, m, n, k int, a, b, c []T) bool { return false }
