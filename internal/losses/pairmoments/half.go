package pairmoments

import (
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/memory"
)

// HalfTile is the number of rows and columns of a tile of a Half.
const HalfTile = 256

// Half is a symmetric matrix (D, D) stored as its upper triangle in tiles of HalfTile rows and
// columns: about half the memory of a full matrix.
type Half struct {
	D     int
	wide  int         // tiles per row
	tiles [][]float64 // tile a, b ≥ a at index a·wide + b, row by row; nil below the diagonal
}

// newHalf returns a zero matrix.
func newHalf(d int) *Half {
	h := &Half{D: d, wide: (d + HalfTile - 1) / HalfTile}
	h.tiles = make([][]float64, h.wide*h.wide)
	for a := range h.wide {
		for b := a; b < h.wide; b++ {
			h.tiles[a*h.wide+b] = make([]float64, HalfTile*HalfTile)
		}
	}
	return h
}

// at returns the address of element (j, k).
func (h *Half) at(j, k int) *float64 {
	a, b := j/HalfTile, k/HalfTile
	if a > b {
		a, b, j, k = b, a, k, j
	}
	return &h.tiles[a*h.wide+b][j%HalfTile*HalfTile+k%HalfTile]
}

// Element returns the element (j, k).
func (h *Half) Element(j, k int) float64 { return *h.at(j, k) }

// Part returns row j from column k0, a multiple of HalfTile, for len(space) ≤ HalfTile columns: a
// view, or space.
func (h *Half) Part(j, k0 int, space []float64) []float64 {
	a, b := j/HalfTile, k0/HalfTile
	if a <= b {
		return h.tiles[a*h.wide+b][j%HalfTile*HalfTile:][:len(space)]
	}
	tile := h.tiles[b*h.wide+a][j%HalfTile:]
	for i := range space {
		space[i] = tile[i*HalfTile]
	}
	return space
}

// set sets the elements (j, k) and (k, j).
func (h *Half) set(j, k int, v float64) {
	*h.at(j, k) = v
	if j/HalfTile == k/HalfTile {
		*h.at(k, j) = v
	}
}

// scale multiplies all off-diagonal elements by a factor.
func (h *Half) scale(factor float64) {
	own := make([]float64, h.D)
	for j := range own {
		own[j] = h.Element(j, j)
	}
	for _, tile := range h.tiles {
		floats.Scale(factor, tile)
	}
	for j, v := range own {
		h.set(j, j, v)
	}
}

// together is the number of rows assembled at once: one cache line of numbers.
const together = 8

// rows assembles consecutive rows from first into to.
func (h *Half) rows(first int, to []float64) {
	number := len(to) / h.D
	for k0 := 0; k0 < h.D; k0 += HalfTile {
		wide := min(HalfTile, h.D-k0)
		if first/HalfTile > k0/HalfTile { // below the diagonal: transpose the tile
			tile := h.tiles[k0/HalfTile*h.wide+first/HalfTile][first%HalfTile:]
			for k := range wide {
				for i, v := range tile[k*HalfTile:][:number] {
					to[i*h.D+k0+k] = v
				}
			}
			continue
		}
		for i := range number {
			row := to[i*h.D+k0:][:wide]
			copy(row, h.Part(first+i, k0, row))
		}
	}
}

// Measured memory of a network by moments: numbers of 8 bytes per cell of the matrix, for whole and
// half moments, and per cell of the table; bytes of the program.
const (
	wholeNumbers = 1.2
	halfNumbers  = 0.75
	cellNumbers  = 4
	program      = 60e6
)

// Needed returns the memory in bytes of a network by moments of n rows and d columns, and whether
// it stores the moments as a Half: if the whole matrix exceeds memory.Limit.
func Needed(n, d int) (bytes float64, half bool) {
	rest, pairs := program+8*cellNumbers*float64(n)*float64(d), 8*float64(d)*float64(d)
	limit, err := memory.Limit()
	if whole := rest + wholeNumbers*pairs; err != nil || whole <= limit {
		return whole, false
	}
	return rest + halfNumbers*pairs, true
}
