package star

import (
	"cmp"
	_ "embed"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/simulate"
)

// Methods that need no path, the one that has the complete table, and, beside the peer, what
// the default is where there is no support.
const (
	byMarginal    = "marginal"
	byPartial     = "partial"
	completeData  = "em-exact"
	completeRidge = "em-exact, ridge" // with pairs in the order of the sizes in its ridge pilot
)

// references are what the methods of the paper are compared with. They take the support for all
// of R^d, so they are the same in every treatment of it.
var references = []string{byMarginal, byPartial, completeData, completeRidge}

// pairwise is the ROC curve of the correlations or partial correlations of each two columns.
func pairwise(table *data.Table, truth simulate.Gaussian, method string) ([]network.Rate, error) {
	c := correlations(table)
	if method == byMarginal {
		return ratesBy(c, truth)
	}
	var p mat.Dense
	if err := p.Inverse(c); err != nil {
		return nil, err
	}
	return ratesBy(partialCorrelations(mat.NewSymDense(table.D, p.RawMatrix().Data)), truth)
}

// correlations are those of each two columns over the rows that have both.
func correlations(t *data.Table) *mat.SymDense {
	c := mat.NewSymDense(t.D, nil)
	for j := range t.D {
		for k := j; k < t.D; k++ {
			var x, y []float64
			for i := 0; i < len(t.Values); i += t.D {
				if t.Observed[i+j] && t.Observed[i+k] {
					x, y = append(x, t.Values[i+j]), append(y, t.Values[i+k])
				}
			}
			c.SetSym(j, k, stat.Correlation(x, y, nil))
		}
	}
	return c
}

// partialCorrelations are −P_jk/√|P_jj P_kk| of a precision matrix, which the inverse of
// pairwise correlations may leave indefinite.
func partialCorrelations(p mat.Symmetric) *mat.SymDense {
	d := p.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			out.SetSym(j, k, -p.At(j, k)/math.Sqrt(math.Abs(p.At(j, j)*p.At(k, k))))
		}
	}
	return out
}

// ratesBy is the ROC curve of the pairs in the order of their absolute values.
func ratesBy(m *mat.SymDense, truth simulate.Gaussian) ([]network.Rate, error) {
	d := m.SymmetricDim()
	edges := network.Threshold(truth.Precision, 1e-12)
	var rates []network.Rate
	for j := range d {
		for k := j + 1; k < d; k++ {
			rate, err := network.Compare(edges, network.Threshold(m, math.Abs(m.At(j, k))))
			if err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
	}
	slices.SortFunc(rates, func(a, b network.Rate) int { return cmp.Or(cmp.Compare(a.FPR, b.FPR), cmp.Compare(a.TPR, b.TPR)) })
	return rates, nil
}
