package pairmoments

import (
	"gonum.org/v1/gonum/floats"

	"missingscore/internal/memory"
)

// HalfTile is how many rows and columns a tile of a Half has.
const HalfTile = 256

// Half is a symmetric matrix (D, D) held by its upper triangle, in tiles of HalfTile rows and
// columns: about half of the memory of the whole, and the same numbers.
type Half struct {
	D     int
	wide  int         // tiles beside each other
	tiles [][]float64 // of rows a and columns b ≥ a: that at a·wide + b, row by row; nil below the diagonal
}

// NewHalf is a matrix of zeros.
func NewHalf(d int) *Half {
	h := &Half{D: d, wide: (d + HalfTile - 1) / HalfTile}
	h.tiles = make([][]float64, h.wide*h.wide)
	for a := range h.wide {
		for b := a; b < h.wide; b++ {
			h.tiles[a*h.wide+b] = make([]float64, HalfTile*HalfTile)
		}
	}
	return h
}

// at is the place of an element: j and k are put into the order of tiles.
func (h *Half) at(j, k int) *float64 {
	a, b := j/HalfTile, k/HalfTile
	if a > b {
		a, b, j, k = b, a, k, j
	}
	return &h.tiles[a*h.wide+b][j%HalfTile*HalfTile+k%HalfTile]
}

// Element is the number at j, k.
func (h *Half) Element(j, k int) float64 { return *h.at(j, k) }

// Part is the numbers of row j in the columns from k0 on, a multiple of HalfTile, as many as
// space has, HalfTile at most: a view, or space.
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

// set sets the numbers at j, k and at k, j.
func (h *Half) set(j, k int, v float64) {
	*h.at(j, k) = v
	if j/HalfTile == k/HalfTile {
		*h.at(k, j) = v
	}
}

// scale takes all but the diagonal times a factor.
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

// together is how many rows are put together at once: so many numbers are in a line of the
// processor's cache.
const together = 8

// rows puts together rows from the first on, as many as to has.
func (h *Half) rows(first int, to []float64) {
	number := len(to) / h.D
	for k0 := 0; k0 < h.D; k0 += HalfTile {
		wide := min(HalfTile, h.D-k0)
		if first/HalfTile > k0/HalfTile { // below the diagonal: across the tile
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

// What a network by moments takes, as measured: numbers of 8 bytes for each cell of the matrix of
// columns, with the moments held whole and by half, and for each cell of the table; bytes of the
// program itself.
const (
	wholeNumbers = 1.2
	halfNumbers  = 0.75
	cellNumbers  = 4
	program      = 60e6
)

// Needed is how many bytes a network by moments of n rows of d columns takes, and whether it is the
// one that holds the moments by half: that is so where the whole is more than may be used
// (memory.Limit).
func Needed(n, d int) (bytes float64, half bool) {
	rest, pairs := program+8*cellNumbers*float64(n)*float64(d), 8*float64(d)*float64(d)
	limit, err := memory.Limit()
	if whole := rest + wholeNumbers*pairs; err != nil || whole <= limit {
		return whole, false
	}
	return rest + halfNumbers*pairs, true
}
