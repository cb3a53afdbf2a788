package engine

import (
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/losses"
	"missingscore/trainers/source"
)

// HeldOut is the loss of held-out rows with the same draws at each call: the estimator's if
// deterministic, else the marginal loss (M).
type HeldOut struct {
	engine *Engine
	table  *data.Table
	worker *worker
	rows   []int
	counts []float64 // count by row of the table; nil: all 1
	part   part
	draws  int // noise draws per row
}

const heldOutIteration = -1 // of its random streams; not a parameter step

func (e *Engine) HoldOut(t *data.Table, rows []int) (*HeldOut, error) {
	h := &HeldOut{engine: e, table: t, rows: rows, counts: e.Counts, draws: max(1, model.TrainingOf(e.Model).HeldOutDraws)}
	if t != e.Table {
		h.counts = counts(t)
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
	draws := e.Config.Draws
	if e.Estimator.Draws() { // fewer would be noisier and biased
		draws = max(draws, DefaultDraws)
	}
	h.worker, err = e.newWorker(loss, from, weighting, min(e.Config.Batch, len(rows)), draws)
	return h, err
}

func (h *HeldOut) Rows() int { return len(h.rows) }

func (h *HeldOut) Loss() (mean float64, err error) {
	size, n := h.worker.batch.Size, len(h.rows)
	parts := (n + size - 1) / size
	for k := range parts * h.draws {
		from := k % parts * size
		if err := panics.Caught(func() error {
			return h.engine.one(h.worker, &h.part, heldOutIteration, k, condensed{table: h.table, rows: h.rows[from:min(from+size, n)], counts: h.counts}, 1/float64(n*h.draws))
		}); err != nil {
			return 0, err
		}
		mean += h.part.Loss
	}
	return mean, nil
}
