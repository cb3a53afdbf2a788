package power

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Found is how near an estimated network is to the true one.
type Found struct {
	Measures  [measures]float64 // in the order of Names; NaN for what is not defined
	Edges     int
	Converged bool
	Failure   string // why there is no network; empty
}

// The measures of a network.
const (
	Sensitivity = iota
	Specificity
	Precision
	FDR
	F1
	Correlation
	measures
)

// Names are those of the measures.
var Names = [measures]string{"sensitivity", "specificity", "precision", "fdr", "f1", "correlation"}

// measure compares the weights of an estimated network with the true ones: of true edges
// found (TP) and missed (FN), and pairs without an edge left out (TN) and taken for one (FP),
//
//	sensitivity = TP/(TP + FN)    specificity = TN/(TN + FP)
//	precision   = TP/(TP + FP)    FDR = FP/max(1, TP + FP)
//	F1          = 2 TP/(2 TP + FP + FN)
//
// and Pearson's correlation of all weights, 0 where an estimate has no edge. Precision is
// NaN without an edge found, specificity where the truth has all edges.
func measure(truth, found []float64) (out Found) {
	var tp, fp, fn, tn float64
	for i, w := range truth {
		switch edge, seen := w != 0, found[i] != 0; {
		case edge && seen:
			tp++
		case edge:
			fn++
		case seen:
			fp++
		default:
			tn++
		}
	}
	out.Edges = int(tp + fp)
	m := &out.Measures
	m[Sensitivity], m[Specificity], m[Precision] = tp/(tp+fn), tn/(tn+fp), tp/(tp+fp)
	m[FDR], m[F1] = fp/max(1, tp+fp), 2*tp/(2*tp+fp+fn)
	if m[Correlation] = stat.Correlation(truth, found, nil); math.IsNaN(m[Correlation]) {
		m[Correlation] = 0
	}
	return out
}
