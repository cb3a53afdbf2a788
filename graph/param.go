package graph

import (
	"fmt"

	"missingscore/internal/simd"
)

// Param is a matrix of numbers that is learned. Value (Rows × Cols, row-major)
// is the only copy: programs read it, optimisers change it in place.
type Param struct {
	Name       string
	Rows, Cols int
	Value      []float64
	Fixed      bool // set before a program is built: it computes no gradient for it

	// Single, if not nil, is what float32 programs read, and what they give a
	// gradient in float32 for (Program.SingleGrad): a parameter that is trained often
	// is then not copied at every run. See KeepSingle and Widen.
	Single []float32
}

// NewParam is a zero matrix.
func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, Value: make([]float64, rows*cols)}
}

// KeepSingle takes Value over into Single, before a program is built or after Value changed.
func (p *Param) KeepSingle() {
	if p.Single == nil {
		p.Single = make([]float32, len(p.Value))
	}
	simd.Narrow(p.Single, p.Value)
}

// Widen takes Single over into Value, if there is one.
func (p *Param) Widen() {
	if p.Single != nil {
		simd.Widen(p.Value, p.Single)
	}
}

// DType is the type of a program's numbers.
type DType int

const (
	Float64 DType = iota
	Float32
)

func (t DType) String() string { return [...]string{"float64", "float32"}[t] }

// MarshalText writes the name, for settings in files.
func (t DType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads "float64" or "float32".
func (t *DType) UnmarshalText(text []byte) error {
	for _, k := range []DType{Float64, Float32} {
		if k.String() == string(text) {
			*t = k
			return nil
		}
	}
	return fmt.Errorf("unknown number type %q: use float64 or float32", text)
}
