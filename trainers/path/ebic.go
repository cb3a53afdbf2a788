package path

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/trainers/source"
)

// LogLikelihood is the log density of a table's observed cells under a normal
// distribution, rows independent; −Inf if P is not positive definite.
func LogLikelihood(t *data.Table, rows []int, mean []float64, p *mat.SymDense) float64 {
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		return math.Inf(-1)
	}
	c := source.Conditional{Mean: mean, Precision: p}
	total := 0.0
	b := data.NewBatch(1, t.D)
	for _, i := range rows {
		b.Fill(t, []int{i}, 1)
		if err := c.Condition(b.Mask); err != nil {
			return math.Inf(-1)
		}
		total += c.LogLikelihood(b.X, chol.LogDet())
	}
	return total
}

// ebic is the extended Bayesian information criterion of points of a path (Foygel &
// Drton 2010), on the observed cells:
//
//	−2 log L + |E| log n + 4 γ |E| log d
//
// with n the mean number of rows in which a pair of columns is observed, as bootnet
// counts for pairwise data: only those rows tell of an edge directly. L is the largest
// likelihood of a network with the point's edges (Run.refit), whatever the method and
// however much λ shrank the point; NaN where the search did not come by. On a domain,
// where the likelihood has a normaliser that nobody knows, the loss of a completion of the
// rows stands for −2 log L (Run.judge). With missingness it is the point's reported loss
// (M) summed over rows, as in Lin, Drton & Shojaie 2016.
func (r *Run) ebic(ctx context.Context, gamma float64) ([]float64, error) {
	t := r.Table
	edge := math.Log(meanPairCount(t)) + 4*gamma*math.Log(float64(t.D))
	if r.Missingness != nil {
		scores := make([]float64, len(r.State.Points))
		for i, p := range r.State.Points {
			scores[i] = p.Loss*float64(t.N*t.D) + float64(p.Edges)*edge
		}
		return scores, nil
	}
	if r.Domain.Bounded() {
		return r.judge(ctx, edge)
	}
	likelihoods, err := r.searchLikelihoods(ctx, func(i int, likelihood float64) float64 {
		return -2*likelihood + float64(r.State.Points[i].Edges)*edge
	})
	if err != nil {
		return nil, err
	}
	for i, p := range r.State.Points {
		likelihoods[i] = -2*likelihoods[i] + float64(p.Edges)*edge
	}
	return likelihoods, nil
}

// meanPairCount is the mean over pairs of columns of the rows that have both.
func meanPairCount(t *data.Table) float64 {
	_, count, _ := secondMoments(t)
	sum := 0.0
	for j := range t.D {
		for k := j + 1; k < t.D; k++ {
			sum += count.At(j, k)
		}
	}
	return sum / float64(t.D*(t.D-1)/2)
}
