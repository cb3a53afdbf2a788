package path

import (
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/panics"
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

// ebic is the extended Bayesian information criterion of each point of a path
// (Foygel & Drton 2010), on the observed cells:
//
//	−2 log L(P) + |E| log n + 4 γ |E| log d
//
// with n the mean number of rows in which a pair of columns is observed, as
// bootnet counts for pairwise data: only those rows tell of an edge directly. On
// a domain or with missingness, where the likelihood has a normaliser that nobody knows, the reported
// loss (M) summed over rows stands for −2 log L, as in Lin, Drton & Shojaie 2016.
func (r *Run) ebic(gamma float64) ([]float64, error) {
	t := r.Table
	scores := make([]float64, len(r.State.Points))
	logN := math.Log(meanPairCount(t))
	if r.Domain.Bounded() || r.Missingness != nil {
		for i, p := range r.State.Points {
			scores[i] = p.Loss*float64(t.N*t.D) + float64(p.Edges)*(logN+4*gamma*math.Log(float64(t.D)))
		}
		return scores, nil
	}
	var pool errgroup.Group
	for k := range r.Workers() {
		pool.Go(func() error {
			return panics.Caught(func() error {
				for i := k; i < len(scores); i += r.Workers() {
					q := r.State.Points[i]
					e := float64(q.Edges)
					scores[i] = -2*LogLikelihood(t, r.rows, q.mean(t.D), graph.Unpack(t.D, q.Packed)) +
						e*logN + 4*gamma*e*math.Log(float64(t.D))
				}
				return nil
			})
		})
	}
	return scores, pool.Wait()
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
