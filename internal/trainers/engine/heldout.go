package engine

import (
	"slices"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/losses"
	"missingscore/trainers/source"
)

// HeldOut is the loss of held-out rows with the same draws at each call: the estimator's if
// deterministic, else the marginal loss (M).
type HeldOut struct {
	Rows int
	Loss func() (mean float64, err error)
}

const heldOutIteration = -1 // of its random streams; not a parameter step

func (e *Engine) HoldOut(t *data.Table, rows []int) (*HeldOut, error) {
	of := condensed{table: t, rows: rows, counts: e.Counts}
	if t != e.Table {
		of.counts = counts(t)
	}
	has, err := model.CapabilitiesOf(e.Model)
	if err != nil {
		return nil, err
	}
	loss := e.Estimator.Loss
	if e.Estimator.Draws() && has.Density {
		loss = losses.Marginal
	} else if !e.Estimator.Minimises() { // an equation without a loss: normal models only
		loss = losses.GaussianMarginal
	}
	from, weighting := e.Estimator.Source, e.weighting
	if from.Memory != nil {
		from, weighting = source.Proposal, losses.SelfNormalised
	}
	draws, noises, n := e.Config.Draws, max(1, model.TrainingOf(e.Model).HeldOutDraws), len(rows)
	if e.Estimator.Draws() { // fewer would be noisier and biased
		draws = max(draws, DefaultDraws)
	}
	w, err := e.newWorker(loss, from, weighting, min(e.Config.Batch, n), draws)
	var p part
	return &HeldOut{n, func() (mean float64, err error) {
		batches := slices.Collect(slices.Chunk(rows, w.batch.Size))
		for k := range len(batches) * noises {
			some := of
			some.rows = batches[k%len(batches)]
			if err := panics.Caught(func() error {
				return e.one(w, &p, heldOutIteration, k, some, 1/float64(n*noises))
			}); err != nil {
				return 0, err
			}
			mean += p.Loss
		}
		return mean, nil
	}}, err
}
