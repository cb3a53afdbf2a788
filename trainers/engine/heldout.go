package engine

import (
	"math"

	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/losses"
)

// HeldOut is the loss of rows that a fit does not learn from, where the model stands. Its
// draws are the same each time, so that only the parameters make a difference. It is the
// loss of the estimator where that is a function of the parameters; of estimators that draw
// it is the marginal loss (M), whose value means something where their own does not.
type HeldOut struct {
	engine *Engine
	worker *worker
	rows   []int
	part   part
}

const (
	heldOutBlocks    = 20
	heldOutIteration = -1 // the place of its draws, which is no parameter step's
)

// HeldOutRows is how many of n rows a share of them is: a multiple of 20, or where that
// is none the share itself, rounded.
func HeldOutRows(share float64, n int) int {
	k := int(math.Round(share * float64(n)))
	if k < heldOutBlocks {
		return k
	}
	return k / heldOutBlocks * heldOutBlocks
}

// HoldOut prepares the loss of HeldOutRows rows.
func (e *Engine) HoldOut(rows []int) (*HeldOut, error) {
	blocks := min(heldOutBlocks, len(rows))
	h := &HeldOut{engine: e, rows: rows}
	for _, p := range e.params {
		h.part.grads = append(h.part.grads, make([]float64, len(p.Value)))
	}
	loss, err := e.heldOutLoss()
	if err != nil {
		return nil, err
	}
	h.worker, err = e.newWorker(loss, len(rows)/blocks)
	return h, err
}

// heldOutLoss is the loss whose value tells a better model from a worse one.
func (e *Engine) heldOutLoss() (losses.Loss, error) {
	if !e.Estimator.Minimises() {
		return losses.GaussianMarginal{}, nil // losses that are no functions but for draws are of normal models
	}
	has, err := model.CapabilitiesOf(e.Model)
	if err != nil || !e.Estimator.Draws() || !has.Density {
		return e.Estimator.Loss, err
	}
	return losses.Marginal{}, nil
}

// Losses are the mean losses of 20 blocks of the rows, or of each row if they are fewer.
func (h *HeldOut) Losses() (blocks []float64, err error) {
	size := h.worker.batch.Size
	for i := 0; i+size <= len(h.rows); i += size {
		if err := panics.Caught(func() error {
			return h.engine.one(h.worker, &h.part, heldOutIteration, i/size, h.rows[i:i+size], 1/float64(size))
		}); err != nil {
			return nil, err
		}
		blocks = append(blocks, h.part.loss)
	}
	return blocks, nil
}
