package cmd

import (
	"fmt"
	"math"

	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/trainers"
)

// inferenceJSON is what --json says of the uncertainty of pairs.
type inferenceJSON struct {
	Kind  string     `json:"kind"`
	Level float64    `json:"level"`
	Rests string     `json:"rests_on"`
	Pairs []pairJSON `json:"pairs"`
}

// pairJSON is one pair: null for what is not known.
type pairJSON struct {
	From      string   `json:"from"`
	To        string   `json:"to"`
	Estimate  *float64 `json:"estimate"`
	SE        *float64 `json:"se"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	P         *float64 `json:"p"`
	Q         *float64 `json:"q"`
	Inclusion *float64 `json:"inclusion"`
	SameSign  *float64 `json:"same_sign"`
	Rows      int      `json:"pairs"`
}

// uncertainty is inferenceJSON of a result, nil without inference.
func uncertainty(r *trainers.Result) *inferenceJSON {
	found := r.Network.Inference
	if found == nil {
		return nil
	}
	out := &inferenceJSON{Kind: r.Spec.Inference.Kind, Level: r.Spec.Inference.Level, Rests: found.Rests, Pairs: []pairJSON{}}
	for _, e := range r.Network.Network.Pairs {
		out.Pairs = append(out.Pairs, newPairJSON(e))
	}
	return out
}

// known is x, nil where there is no number.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func newPairJSON(e network.Edge) pairJSON {
	u := e.Uncertainty
	return pairJSON{
		From: e.From, To: e.To, Estimate: known(u.Estimate), SE: known(u.SE), Low: known(u.Low), High: known(u.High),
		P: known(u.P), Q: known(u.Q), Inclusion: known(u.Inclusion), SameSign: known(u.SameSign), Rows: u.Rows,
	}
}

// sizeText is an edge's partial correlation on the screen; with an interval, the estimate that this
// belongs to.
func sizeText(e network.Edge) string {
	u := e.Uncertainty
	if u == nil || math.IsNaN(u.Low) || math.IsNaN(u.High) {
		return fmt.Sprintf("%+.3f", e.PartialCorrelation)
	}
	text := fmt.Sprintf("%+.3f  [%+.3f, %+.3f]", u.Estimate, u.Low, u.High)
	if !math.IsNaN(u.Q) {
		text += "  q " + mcar.FormatP(u.Q)
	}
	if !math.IsNaN(u.Inclusion) {
		text += fmt.Sprintf("  in %.0f %% of resamples", 100*u.Inclusion)
	}
	return text
}
