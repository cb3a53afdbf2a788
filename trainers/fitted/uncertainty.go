package fitted

import (
	"encoding/json"
	"math"

	"missingscore/internal/strictjson"
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
	Name     string            `json:"name"`
	Estimate float64           `json:"estimate"`
	SE       strictjson.Number `json:"se"`
	Low      strictjson.Number `json:"low"`
	High     strictjson.Number `json:"high"`
}

func (p Parameter) MarshalJSON() ([]byte, error) {
	return json.Marshal(parameterFile{p.Name, p.Estimate, strictjson.Number(p.SE), strictjson.Number(p.Low), strictjson.Number(p.High)})
}

func (p *Parameter) UnmarshalJSON(text []byte) error {
	none := strictjson.Number(math.NaN()) // stays if the file has null
	f := parameterFile{SE: none, Low: none, High: none}
	err := json.Unmarshal(text, &f)
	*p = Parameter{f.Name, f.Estimate, float64(f.SE), float64(f.Low), float64(f.High)}
	return err
}
