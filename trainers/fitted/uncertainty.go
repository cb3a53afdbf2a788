package fitted

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Uncertainty is how far the parameters of a fit may be from those that it estimates
// (docs/theory/inference.md#parameters).
type Uncertainty struct {
	Kind       string  // by which errors are found: robust
	Level      float64 // of the intervals
	Rests      string  // a sentence: what the numbers rest on
	Parameters []Parameter
	Covariance *mat.SymDense // of the estimates, in their order; nil where they are many
}

// Parameter is one number of a model with its standard error and interval, in the table's
// units. What there is no number of is NaN.
type Parameter struct {
	Name                    string // as the model names it, with its columns: precision[Ozone, Wind]
	Estimate, SE, Low, High float64
}

// uncertaintyFile is an Uncertainty as a model's file has it.
type uncertaintyFile struct {
	Kind       string          `json:"kind"`
	Level      float64         `json:"level"`
	Rests      string          `json:"rests_on"`
	Parameters []parameterFile `json:"parameters"`
	Covariance [][]float64     `json:"covariance,omitempty"`
}

// parameterFile is a Parameter: null for what there is no number of.
type parameterFile struct {
	Name     string   `json:"name"`
	Estimate float64  `json:"estimate"`
	SE       *float64 `json:"se"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

// JSON is u as files and --json have it, nil of nil.
func (u *Uncertainty) JSON() any {
	if f := u.file(); f != nil {
		return f
	}
	return nil
}

func (u *Uncertainty) file() *uncertaintyFile {
	if u == nil {
		return nil
	}
	f := &uncertaintyFile{Kind: u.Kind, Level: u.Level, Rests: u.Rests, Parameters: []parameterFile{}}
	number := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	for _, p := range u.Parameters {
		f.Parameters = append(f.Parameters, parameterFile{p.Name, p.Estimate, number(p.SE), number(p.Low), number(p.High)})
	}
	if u.Covariance != nil {
		for j := range u.Covariance.SymmetricDim() {
			f.Covariance = append(f.Covariance, mat.Row(nil, j, u.Covariance))
		}
	}
	return f
}

// uncertainty is what a file says, checked.
func (f *uncertaintyFile) uncertainty() (*Uncertainty, error) {
	if f == nil {
		return nil, nil
	}
	if !(f.Level > 0 && f.Level < 1) {
		return nil, fmt.Errorf("inference: the level is %v, and must be between 0 and 1", f.Level)
	}
	u := &Uncertainty{Kind: f.Kind, Level: f.Level, Rests: f.Rests}
	number := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	for _, p := range f.Parameters {
		if p.Name == "" || p.SE != nil && !(*p.SE >= 0) {
			return nil, errors.New("inference: a parameter has no name, or a negative standard error")
		}
		u.Parameters = append(u.Parameters, Parameter{p.Name, p.Estimate, number(p.SE), number(p.Low), number(p.High)})
	}
	n := len(u.Parameters)
	if f.Covariance == nil {
		return u, nil
	}
	if len(f.Covariance) != n || n == 0 {
		return nil, fmt.Errorf("inference: the covariance has %d rows for %d parameters", len(f.Covariance), n)
	}
	u.Covariance = mat.NewSymDense(n, nil)
	for j, row := range f.Covariance {
		if len(row) != n {
			return nil, fmt.Errorf("inference: row %d of the covariance has %d numbers, %d are needed", j+1, len(row), n)
		}
		for k, v := range row {
			if f.Covariance[k] != nil && len(f.Covariance[k]) == n && f.Covariance[k][j] != v {
				return nil, fmt.Errorf("inference: the covariance is not symmetric at (%d, %d)", j+1, k+1)
			}
			u.Covariance.SetSym(j, k, v)
		}
	}
	return u, nil
}
