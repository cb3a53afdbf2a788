package fitted

// Uncertainty holds a fit's standard errors and intervals (docs/theory/inference.md#parameters).
type Uncertainty struct {
	Kind       string      `json:"kind"`     // kind of standard errors: robust
	Level      float64     `json:"level"`    // of the intervals
	Rests      string      `json:"rests_on"` // a sentence: method and assumptions
	Parameters []Parameter `json:"parameters"`
	Covariance [][]float64 `json:"covariance,omitempty"` // of the estimates, in their order; nil if there are many
}

// Parameter is a parameter with its standard error and interval in the table's units; nil if
// unknown.
type Parameter struct {
	Name     string   `json:"name"` // for example precision[Ozone, Wind]
	Estimate float64  `json:"estimate"`
	SE       *float64 `json:"se"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
}
