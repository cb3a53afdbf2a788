package simd

import "math"

// InvertsTogether reports whether the CPU has the instructions of Inverses.
func InvertsTogether() bool { return faster }

// Together is the number of matrices that Inverses inverts at once, one per vector lane.
const Together = 8

const (
	tileSide = 4 // rows and columns of a tile
	tileSize = tileSide * tileSide * Together
)

// Inverses inverts eight symmetric positive definite matrices of one size at once, with lower
// triangles in 4 × 4 tiles, by a block sweep (Goodnight 1979) of each diagonal tile,
//
//	A_kk ← −A_kk⁻¹,   A_ik ← A_ik A_kk⁻¹,   A_ij ← A_ij − A_ik A_kk⁻¹ A_kj,
//
// after which A is −A⁻¹. It is not safe for concurrent use.
type Inverses struct {
	n      int // rows, a multiple of tileSide
	a      []float64
	pivots []float64
	u, w   []float64 // a column of tiles, before and after A_kk⁻¹

	own, spare [tileSide * Together]float64
}

// Begin sets all matrices to the identity with at most n rows.
func (m *Inverses) Begin(n int) {
	t := (n + tileSide - 1) / tileSide
	m.n = t * tileSide
	m.a, m.pivots = grown(m.a, t*(t+1)/2*tileSize), grown(m.pivots, m.n*Together)
	m.u, m.w = grown(m.u, t*tileSize), grown(m.w, t*tileSize)
	clear(m.a)
	for i := range m.n {
		for l := range Together {
			m.a[m.at(i, i)+l] = 1
		}
	}
}

func (m *Inverses) at(i, j int) int {
	ti := i / tileSide
	return (ti*(ti+1)/2+j/tileSide)*tileSize + (i%tileSide*tileSide+j%tileSide)*Together
}

// Take sets matrix l to the block of ascending columns at[l] of p (d, d), row by row for the cache.
func (m *Inverses) Take(p []float64, d int, at [][]int) {
	for i := range m.n {
		for l, of := range at {
			if i < len(of) {
				takeRow(m.a[m.at(i, 0)+l:], p[of[i]*d:][:d], of[:i+1])
			}
		}
	}
}

func takeRow(to, from []float64, at []int) {
	for b, k := range at {
		to[b/tileSide*tileSize+b%tileSide*Together] = from[k]
	}
}

// Add adds weight[l] times inverse l to the lower triangle of the block at[l] of sum (d, d).
func (m *Inverses) Add(sum []float64, d int, at [][]int, weight []float64) {
	for i := range m.n {
		for l, of := range at {
			if i < len(of) {
				addRow(sum[of[i]*d:][:d], weight[l], m.a[m.at(i, 0)+l:], of[:i+1])
			}
		}
	}
}

func addRow(to []float64, weight float64, from []float64, at []int) {
	for b, k := range at {
		to[k] -= weight * from[b/tileSide*tileSize+b%tileSide*Together]
	}
}

// Apply sets to to minus the inverses times from: element i of vector l is at Together·i + l.
func (m *Inverses) Apply(from, to []float64) {
	const high = tileSide * Together
	clear(to)
	for i := range m.n / tileSide {
		row, x, y := m.a[i*(i+1)/2*tileSize:], from[i*high:][:high], to[i*high:][:high]
		apply(to, row, from, y, x, i)
		clear(m.own[:])
		apply(m.spare[:], row[i*tileSize:], x, m.own[:], x, 1)
		Add(y, y, m.own[:])
	}
}

// Room is the length of vectors for Apply.
func (m *Inverses) Room() int { return m.n * Together }

func (m *Inverses) Invert() {
	t := m.n / tileSide
	row := func(i int) []float64 { return m.a[i*(i+1)/2*tileSize:] }
	for k := range t {
		own := row(k)[k*tileSize:][:tileSize]
		for i := range k {
			turnTile(m.u[i*tileSize:], row(k)[i*tileSize:])
		}
		for i := k + 1; i < t; i++ {
			copy(m.u[i*tileSize:][:tileSize], row(i)[k*tileSize:])
		}
		one := 1.0
		pivotTileF64(&own[0], &m.pivots[k*tileSide*Together:][:tileSide*Together][0], &one)
		clear(m.w)
		tilesF64(&m.w[0], &own[0], &m.u[0], t)
		for i := range t {
			if i != k {
				tilesF64(&row(i)[0], &m.w[i*tileSize], &m.u[0], i+1)
			}
		}
		copy(row(k)[:k*tileSize], m.w)
		for i := k + 1; i < t; i++ {
			turnTile(row(i)[k*tileSize:], m.w[i*tileSize:])
		}
	}
}

func turnTile(to, from []float64) {
	for i := range tileSide {
		for j := range tileSide {
			*(*[Together]float64)(to[(j*tileSide+i)*Together:]) = *(*[Together]float64)(from[(i*tileSide+j)*Together:])
		}
	}
}

// apply computes own += Σ a from and to += aᵀ ownFrom for n adjacent tiles a.
func apply(to, a, from, own, ownFrom []float64, n int) {
	if n > 0 {
		applyTilesF64(&to[:n*tileSide*Together][0], &a[:n*tileSize][0], &from[:n*tileSide*Together][0], &own[:tileSide*Together][0], &ownFrom[:tileSide*Together][0], n)
	}
}

// LogDet is the log determinant of matrix l before Invert; ok is false if not positive definite.
func (m *Inverses) LogDet(l int) (sum float64, ok bool) {
	product := 1.0
	for i := l; i < len(m.pivots); i += Together {
		if !(m.pivots[i] > 0) {
			return 0, false
		}
		if product *= m.pivots[i]; product < 1e-150 || product > 1e150 {
			sum, product = sum+math.Log(product), 1
		}
	}
	return sum + math.Log(product), true
}
