package domain

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"

	"missingscore/internal/printable"
	"missingscore/internal/spelling"
	"missingscore/internal/strictjson"
)

type file struct {
	Lower map[string]float64 `json:"lower"`
	Upper map[string]float64 `json:"upper"`
	Half  *half              `json:"halfspace,omitempty"`
	Halfs []half             `json:"halfspaces,omitempty"` // several half-spaces
}

type half struct {
	A map[string]float64 `json:"a"`
	B *float64           `json:"b"` // a pointer, because 0 is a valid bound
}

// Read reads a domain.json for a table with these columns:
//
//	{"lower": {"x1": 0.1}, "upper": {}, "halfspace": {"a": {"x1": 0.3, "x2": -0.2}, "b": 1.4}}
//
// The half-space is aᵀx ≤ b; "halfspaces" is a list of half-spaces. Errors name the file and the
// column.
func Read(path string, names []string) (*Domain, error) {
	return strictjson.File(path, func(text []byte) (*Domain, error) { return Parse(text, names) })
}

func Parse(text []byte, names []string) (*Domain, error) {
	var f file
	if err := strictjson.Decode(text, &f, `{"lower":{"x1":0},"upper":{},"halfspace":{"a":{"x1":1,"x2":-1},"b":0.5}}`); err != nil {
		return nil, err
	}
	s := All(len(names))
	if err := fill(s.Lower, f.Lower, names); err != nil {
		return nil, err
	}
	if err := fill(s.Upper, f.Upper, names); err != nil {
		return nil, err
	}
	halfs := f.Halfs
	if f.Half != nil {
		halfs = append([]half{*f.Half}, halfs...)
	}
	for _, h := range halfs {
		if len(h.A) == 0 || h.B == nil {
			return nil, errors.New(`a half-space aᵀx ≤ b needs both "a", coefficients by column, and "b", a number`)
		}
		a := make([]float64, len(names))
		if err := fill(a, h.A, names); err != nil {
			return nil, err
		}
		s.Half = append(s.Half, HalfSpace{A: a, B: *h.B})
	}
	return s, s.Check(names)
}

func fill(dst []float64, by map[string]float64, names []string) error {
	for name, v := range by {
		j := slices.Index(names, name)
		if j < 0 {
			return spelling.Unknown("column", name, names)
		}
		dst[j] = v
	}
	return nil
}

// Write writes the format of Read, without Gaps.
func (s *Domain) Write(w io.Writer, names []string) error {
	f := file{Lower: map[string]float64{}, Upper: map[string]float64{}}
	if s != nil {
		for j, name := range names {
			if !math.IsInf(s.Lower[j], 0) {
				f.Lower[name] = s.Lower[j]
			}
			if !math.IsInf(s.Upper[j], 0) {
				f.Upper[name] = s.Upper[j]
			}
		}
		for _, h := range s.Half {
			a := map[string]float64{}
			for j, v := range h.A {
				if v != 0 {
					a[names[j]] = v
				}
			}
			f.Halfs = append(f.Halfs, half{a, &h.B})
		}
		if len(f.Halfs) == 1 {
			f.Half, f.Halfs = &f.Halfs[0], nil
		}
	}
	return json.NewEncoder(printable.Writer{W: w}).Encode(f)
}

// MarshalJSON writes the numbers in column order, null for an infinite bound; Write needs names.
func (s *Domain) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	finite := func(x []float64) []*float64 {
		out := make([]*float64, len(x))
		for j := range x {
			if !math.IsInf(x[j], 0) {
				out[j] = &x[j]
			}
		}
		return out
	}
	type bounds struct{ Lower, Upper []*float64 }
	var gaps *bounds
	if s.Gaps != nil {
		gaps = &bounds{finite(s.Gaps.Lower), finite(s.Gaps.Upper)}
	}
	return json.Marshal(struct {
		Lower, Upper []*float64
		Half         []HalfSpace
		Gaps         *bounds `json:",omitempty"`
	}{finite(s.Lower), finite(s.Upper), s.Half, gaps})
}
