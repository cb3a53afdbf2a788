// Package latent estimates the moments and thresholds of the latent normals of a table with ordered
// categories, numbers and missing cells, by stochastic EM (docs/theory/ordinal.md#eq-latent-em).
package latent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/internal/losses/pairmoments"
)

const (
	warmUp     = 60  // discarded turns
	leastTurns = 200 // averaged turns, doubled while their halves differ
	mostRounds = 4
	apart      = 0.5 // largest difference of the halves, in standard errors 1/√n of a correlation

	nominalApart = 0.75 // root mean square, for a table with nominal columns
)

// Of estimates the latent normal distribution of a table's rows: cells of ordinal columns
// (data.Table.Cuts) observe intervals, other cells numbers. It returns second moments about the
// mean in the table's units (variance 1 and mean 0 for ordinal columns), the other columns' means,
// and thresholds. counts are multiplicities of rows, nil for ones. A cell of a nominal column (a
// block of width 2 or more in data.Table.Blocks) observes which utility is the largest; S has
// whitened utilities (pairmoments.Moments.Whitening), and Pairs is the effective number of complete
// rows per pair (docs/theory/ordinal.md#eq-nominal).
//
// Each turn draws every latent number given the rest of its row, within its interval, then computes
// mean, covariances and thresholds of the completed rows; the result is the mean over turns.
// Results depend neither on workers nor on a seed. It fails if a column is constant.
func Of(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int) (*pairmoments.Moments, error) {
	m, err := start(ctx, t, rows, counts, workers)
	if err != nil {
		return nil, err
	}
	c := newChain(t, nominal(t), rows, counts, workers, m)
	for range warmUp {
		if _, err := c.turn(ctx); err != nil {
			return nil, err
		}
	}
	limit, differ := apart/math.Sqrt(m.Rows), (*law).apart
	if len(c.law.blocks) > 0 {
		limit, differ = nominalApart/math.Sqrt(m.Rows), (*law).distance
	}
	var mean *law
	for turns, round := leastTurns, 1; ; turns, round = 2*turns, round+1 {
		first := mean // law of the first half of the turns
		if round == 1 || len(c.law.blocks) == 0 {
			if first, err = c.average(ctx, turns/2); err != nil {
				return nil, err
			}
		}
		second, err := c.average(ctx, turns/2)
		if err != nil {
			return nil, err
		}
		mean = newLaw(c.law.cuts, c.law.blocks)
		floats.AddScaled(mean.all, 0.5, first.all)
		floats.AddScaled(mean.all, 0.5, second.all)
		if far := differ(first, second); far <= limit || round == mostRounds {
			fill(m, t, mean, turns, far, far <= limit)
			return m, nil
		}
	}
}

func fill(m *pairmoments.Moments, t *data.Table, l *law, turns int, far float64, settled bool) {
	*m = pairmoments.Moments{D: m.D, S: l.cov, Rows: m.Rows, Own: m.Own, Pairs: m.Pairs, Least: m.Least, Mean: l.mean, Cuts: l.cuts}
	m.Words = fmt.Sprintf("moments of the latent normal variables: mean of %d iterations of stochastic EM, whose halves differ by at most %.2g in a correlation", turns, far)
	m.Turns, m.Unsettled, m.Known = turns, !settled, l.known()
	if len(l.blocks) == 0 {
		return
	}
	m.Words = fmt.Sprintf("moments of the latent normal variables: mean of %d iterations of stochastic EM, whose halves differ by %.2g in correlations (root mean square)", turns, far)
	m.S, m.Whitening = l.whitened(), make([][]float64, len(t.Blocks))
	for at, b := range t.Blocks {
		if l.block[b.First] >= 0 {
			m.Whitening[at] = whitening(b.Width).RawMatrix().Data
		}
	}
}
