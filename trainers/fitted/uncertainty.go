package fitted

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Uncertainty holds a fit's standard errors and intervals (docs/theory/inference.md#parameters).
type Uncertainty struct {
	Kind       string      `json:"kind"`     // kind of standard errors: robust
	Level      float64     `json:"level"`    // of the intervals
	Rests      string      `json:"rests_on"` // a sentence: method and assumptions
	Parameters []Parameter `json:"parameters"`
	Covariance [][]float64 `json:"covariance,omitempty"` // of the estimates, in their order; nil if there are many
}

// Parameter is a parameter with its standard error and interval in the table's units; unknown
// values are NaN, null in JSON.
type Parameter struct {
	Name                    string // for example precision[Ozone, Wind]
	Estimate, SE, Low, High float64
}

type parameterFile struct {
	Name     string   `json:"name"`
	Estimate float64  `json:"estimate"`
	SE       *float64 `json:"se"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}

func (p Parameter) MarshalJSON() ([]byte, error) {
	number := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	return json.Marshal(parameterFile{p.Name, p.Estimate, number(p.SE), number(p.Low), number(p.High)})
}

func (p *Parameter) UnmarshalJSON(text []byte) error {
	var f parameterFile
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	number := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	*p = Parameter{f.Name, f.Estimate, number(f.SE), number(f.Low), number(f.High)}
	return nil
}

func (u *Uncertainty) check() error {
	if u == nil {
		return nil
	}
	if !(u.Level > 0 && u.Level < 1) {
		return fmt.Errorf("inference: the level is %v, and must be between 0 and 1", u.Level)
	}
	for _, p := range u.Parameters {
		if p.Name == "" || p.SE < 0 {
			return errors.New("inference: a parameter has no name, or a negative standard error")
		}
	}
	n := len(u.Parameters)
	if u.Covariance != nil && (len(u.Covariance) != n || n == 0) {
		return fmt.Errorf("inference: the covariance has %d rows for %d parameters", len(u.Covariance), n)
	}
	for j, row := range u.Covariance {
		if len(row) != n {
			return fmt.Errorf("inference: row %d of the covariance has %d numbers, %d are needed", j+1, len(row), n)
		}
		for k := range j {
			if row[k] != u.Covariance[k][j] {
				return fmt.Errorf("inference: the covariance is not symmetric at (%d, %d)", j+1, k+1)
			}
		}
	}
	return nil
}
