package graph

// Param is a matrix of numbers that is learned. Value (Rows × Cols, row-major)
// is the only copy: programs read it, optimisers change it in place.
type Param struct {
	Name       string
	Rows, Cols int
	Value      []float64
	Fixed      bool // set before a program is built: it computes no gradient for it
}

// NewParam is a zero matrix.
func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, Value: make([]float64, rows*cols)}
}
