package network

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/integrate"
)

// Rate is a point of a ROC curve of edges.
type Rate struct{ FPR, TPR float64 }

// Compare counts pairs j<k of the estimate against the truth.
//
//	FPR = #(found, not true) / #(not true),  TPR = #(found, true) / #(true)
//
// It fails if the truth has no edges or no non-edges.
func Compare(truth, estimate Adjacency) (Rate, error) {
	edges := truth.Count()
	gaps := len(truth.Edge) - edges
	if edges == 0 {
		return Rate{}, fmt.Errorf("network: the AUC is undefined: the true network of %d nodes has no edges", truth.D)
	}
	if gaps == 0 {
		return Rate{}, fmt.Errorf("network: the AUC is undefined: in the true network all %d nodes are joined", truth.D)
	}
	var hits, alarms float64
	for i, found := range estimate.Edge {
		switch {
		case found && truth.Edge[i]:
			hits++
		case found:
			alarms++
		}
	}
	return Rate{FPR: alarms / float64(gaps), TPR: hits / float64(edges)}, nil
}

// Curve adds (0,0) and (1,1) and sorts by (FPR, TPR): rates along a path need not increase.
func Curve(rates []Rate) []Rate {
	c := append([]Rate{{0, 0}, {1, 1}}, rates...)
	slices.SortFunc(c, func(a, b Rate) int {
		return cmp.Or(cmp.Compare(a.FPR, b.FPR), cmp.Compare(a.TPR, b.TPR))
	})
	return c
}

// AUC is the area under Curve(rates) by the trapezoid rule: 1 perfect, 0.5 chance.
func AUC(rates []Rate) float64 {
	c := Curve(rates)
	x, y := make([]float64, len(c)), make([]float64, len(c))
	for i, r := range c {
		x[i], y[i] = r.FPR, r.TPR
	}
	return integrate.Trapezoidal(x, y)
}
