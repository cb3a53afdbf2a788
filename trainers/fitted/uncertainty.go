package fitted

import (
	"encoding/json"
	"math"

	"missingscore/internal/trainers/engine"
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
	Name     string  `json:"name"`
	Estimate float64 `json:"estimate"`
	SE       known   `json:"se"`
	Low      known   `json:"low"`
	High     known   `json:"high"`
}

// known is a number; null in JSON if it is not finite.
type known float64

func (k known) MarshalJSON() ([]byte, error) {
	if !engine.Finite(float64(k)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(k))
}

func (p Parameter) MarshalJSON() ([]byte, error) {
	return json.Marshal(parameterFile{p.Name, p.Estimate, known(p.SE), known(p.Low), known(p.High)})
}

func (p *Parameter) UnmarshalJSON(text []byte) error {
	none := known(math.NaN()) // stays if the file has null
	f := parameterFile{SE: none, Low: none, High: none}
	err := json.Unmarshal(text, &f)
	*p = Parameter{f.Name, f.Estimate, float64(f.SE), float64(f.Low), float64(f.High)}
	return err
}
