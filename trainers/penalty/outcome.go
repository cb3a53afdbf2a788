package penalty

import "fmt"

// Outcome is what the penalty of a fit has come to.
type Outcome struct {
	Kind     string   `json:"kind"`
	Lambda   float64  `json:"lambda"`          // that the fit is at, in the units that it was made in
	Coupled  int      `json:"coupled"`         // couplings that are not 0
	Pairs    int      `json:"pairs"`           // couplings
	Folds    int      `json:"folds,omitempty"` // of the cross-validation; 0: λ was given
	Curve    []Point  `json:"curve,omitempty"` // held-out loss by λ, the largest first, where it is finite
	Warnings []string `json:"-"`
}

// Point is one of a cross-validation's curve.
type Point struct {
	Lambda float64 `json:"lambda"`
	Loss   float64 `json:"loss"` // of rows held out, mean over all
	SE     float64 `json:"se"`   // standard error of Loss, from the folds' means
}

// String says it in a sentence, as "penalty l1 with λ 0.02 by 5-fold cross-validation (held-out loss -5.1): 9 of 45 couplings are not 0".
func (o *Outcome) String() string {
	how := ""
	if o.Folds > 0 {
		how = fmt.Sprintf(" by %d-fold cross-validation over %d values", o.Folds, len(o.Curve))
	}
	return fmt.Sprintf("penalty %s, λ %.4g%s: %d of %d couplings are not 0", o.Kind, o.Lambda, how, o.Coupled, o.Pairs)
}
