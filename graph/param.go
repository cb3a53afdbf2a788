package graph

import (
	"fmt"

	"missingscore/internal/simd"
)

// Param is a trainable matrix (Rows × Cols, row-major), changed in place by optimisers.
type Param struct {
	Name       string
	Rows, Cols int
	Value      []float64
	Fixed      bool // no gradient; set before a program is built

	// Single, if not nil, is the float32 copy that float32 programs read, with float32 gradients
	// (Program.SingleGrad). See KeepSingle and Widen.
	Single []float32
}

func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, Value: make([]float64, rows*cols)}
}

// KeepSingle copies Value to Single, before a program is built and after changes of Value.
func (p *Param) KeepSingle() {
	if p.Single == nil {
		p.Single = make([]float32, len(p.Value))
	}
	simd.Narrow(p.Single, p.Value)
}

// Widen copies Single to Value, if it is set.
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

func (t DType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

func (t *DType) UnmarshalText(text []byte) error {
	for _, k := range []DType{Float64, Float32} {
		if k.String() == string(text) {
			*t = k
			return nil
		}
	}
	return fmt.Errorf("unknown number type %q: use float64 or float32", text)
}
