package path

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/internal/setting"
	"missingscore/trainers/engine"
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

// ebic chooses by the extended Bayesian information criterion of points of a path (Foygel &
// Drton 2010), on the observed cells:
//
//	−2 log L + |E| log n + 4 γ |E| log d
//
// with n the mean number of rows in which a pair of columns is observed, as bootnet
// counts for pairwise data: only those rows tell of an edge directly. With sampling weights n
// and log L are those of the effective number of rows (docs/theory/weights.md#eq-kish). L is the largest
// likelihood of a network with the point's edges (Run.refit), whatever the method and
// however much λ shrank the point; NaN where the search did not come by. On a domain,
// where the likelihood has a normaliser that nobody knows, the loss of a completion of the
// rows stands for −2 log L (Run.judge). With missingness it is the point's reported loss
// (M) summed over rows, as in Lin, Drton & Shojaie 2016.
type ebic struct{ plain }

// DefaultGamma is below the 0.5 of bootnet, because the criterion judges the
// path's shrunken estimates, whose likelihood understates what an edge brings:
// with 0.5 and half of the cells missing it left simulated stars empty
// (benchmarks/README.md).
const DefaultGamma = 0.25

func (ebic) name() string { return "ebic" }

func (ebic) form() string { return "ebic" }

func (ebic) parse(value string) (Selection, error) { return Selection{Kind: "ebic"}, noValue(value) }

func (ebic) resolve(s Selection, _ int) (Selection, error) {
	if s.Gamma == nil {
		s.Gamma = new(DefaultGamma)
	}
	return s, setting.NotNegative(setting.Field{Name: "gamma", Value: *s.Gamma})
}

func (ebic) usesGamma() bool { return true }

func (ebic) searches() bool { return true }

// refit is so by default where refits chose.
func (ebic) refit(c Config, law bool) (bool, error) {
	if c.Refit != nil {
		return *c.Refit, nil
	}
	return !law, nil
}

func (ebic) describe(s Selection, bounded, law bool) string {
	switch {
	case law:
		return fmt.Sprintf("extended BIC with the score-matching loss in place of the likelihood, whose normaliser is not known with this missingness, γ = %g", *s.Gamma)
	case bounded:
		return fmt.Sprintf("extended BIC, each network at its least score-matching loss on completed rows, in place of the likelihood, whose normaliser is not known on this support; an edge costs what a superfluous one gains; γ = %g", *s.Gamma)
	}
	return fmt.Sprintf("extended BIC on the observed cells, each network at its greatest likelihood, γ = %g", *s.Gamma)
}

func (ebic) choose(ctx context.Context, r *Run) (choice, error) {
	t := r.Table
	left := t.EffectiveRows() / float64(t.RowCount())
	edge := math.Log(left*r.meanPairs()) + 4**r.Config.Select.Gamma*math.Log(float64(len(r.Nodes())))
	score := func(i int, likelihood float64) float64 {
		return -2*left*likelihood + float64(r.State.Points[i].Edges)*edge
	}
	var scores []float64
	var err error
	switch {
	case r.Missingness != nil:
		for _, p := range r.State.Points {
			scores = append(scores, p.Loss*float64(t.N*t.D)+float64(p.Edges)*edge)
		}
	case r.Domain.Bounded():
		scores, err = r.judge(ctx, edge)
	default:
		scores, err = r.searchLikelihoods(ctx, score)
		for i, likelihood := range scores {
			scores[i] = score(i, likelihood)
		}
	}
	if err != nil {
		return choice{}, err
	}
	return r.least(scores), nil
}

// meanPairs is how many rows have both columns of a pair, on average.
func (r *Run) meanPairs() float64 {
	if m := r.ofMatrix(); m != nil {
		return m.of.Pairs
	}
	return meanPairCount(r.Problem)
}

// meanPairCount is the mean over pairs of columns of the rows that have both.
func meanPairCount(p engine.Problem) float64 {
	_, count, _ := secondMoments(p)
	sum, d := 0.0, p.Table.D
	for j := range d {
		for k := j + 1; k < d; k++ {
			sum += count.At(j, k)
		}
	}
	return sum / float64(d*(d-1)/2)
}
