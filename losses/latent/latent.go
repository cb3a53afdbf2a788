// Package latent estimates the normal distribution of the numbers behind a table of ordered
// categories, numbers and gaps: its moments and the categories' thresholds, by stochastic EM
// (docs/theory/ordinal.md#eq-latent-em).
//
//	Of      the estimate, as moments that a network's path can go by
//	chain   the completed rows, one Gibbs sweep a turn
//	law     mean, covariances and thresholds given completed rows, and their means over turns
//	spread  how much correlations vary over turns: the rows that a pair is worth
package latent

import (
	"context"
	"fmt"
	"math"

	"missingscore/data"
	"missingscore/losses/pairmoments"
)

const (
	warmUp     = 60  // turns before any counts
	leastTurns = 200 // that are averaged, and twice as many again while their halves differ
	mostRounds = 4
	apart      = 0.5 // standard errors 1/√n of a correlation, by which halves may differ

	nominalApart = 0.75 // root mean square, of a table with nominal columns
)

// Of estimates the normal distribution of a table's rows, of which an ordinal column's cells
// (data.Table.Cuts) tell intervals, other cells numbers, and gaps nothing: its second moments
// about its mean, in the units of the table, with variance 1 for ordinal columns, whose mean is
// 0; the means of other columns; and thresholds. counts say how often each row counts, nil for
// once. It is right if cells are missing at random. Of a nominal column (a block of width 2 or more in
// data.Table.Blocks) a cell tells which of the utilities is the largest; S has the utilities whitened
// (pairmoments.Moments.Whitening), and Pairs are the complete rows that a pair of columns is worth
// (docs/theory/ordinal.md#eq-nominal).
//
// Each turn draws every latent number given the rest of its row, within its interval, and takes
// mean, covariances and thresholds from the completed rows; the result is their mean over the
// turns. All draws come from streams of the rows' own: the bytes depend neither on workers nor
// on a seed. It fails where a column does not vary.
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
		first := mean // of as many turns
		if round == 1 || len(c.law.blocks) == 0 {
			if first, err = c.average(ctx, turns/2); err != nil {
				return nil, err
			}
		}
		second, err := c.average(ctx, turns/2)
		if err != nil {
			return nil, err
		}
		mean = first.with(second)
		if far := differ(first, second); far <= limit || round == mostRounds {
			fill(m, t, mean, turns, far, far <= limit)
			return m, nil
		}
	}
}

// fill makes the law the moments.
func fill(m *pairmoments.Moments, t *data.Table, l *law, turns int, far float64, settled bool) {
	*m = pairmoments.Moments{D: m.D, S: l.cov, Rows: m.Rows, Own: m.Own, Pairs: m.Pairs, Least: m.Least, Mean: l.mean, Cuts: l.cuts}
	m.Words = fmt.Sprintf("moments of the latent normal variables: mean of %d iterations of stochastic EM, whose halves differ by at most %.2g in a correlation", turns, far)
	m.Turns, m.Unsettled, m.Known = turns, !settled, l.known(m.Own, m.Rows)
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
