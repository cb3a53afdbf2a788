package graph

import "fmt"

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
	return fmt.Errorf("there is no number type %q; they are float64, float32", text)
}
