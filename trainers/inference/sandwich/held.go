package sandwich

import (
	"slices"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// held are the completed rows, drawn once: (n, r, d), and the log density that each was drawn
// from, up to a constant of the row.
type held struct {
	r         int
	x, log    []float64
	weighting losses.Weighting
	filled    bool // gaps hold draws, not zeros
}

// Of draws: so many completed rows in all, but at most so many times those of a step of the
// fit. More draws bring less noise, and less bias of weights that are normalised by their sum.
const (
	enoughRows = 50000
	mostTimes  = 10
)

// number is how many are drawn of each row: an even number, for weighted.
func number(e estimator.Estimator, rows, draws int) int {
	if !e.Draws() {
		return 1
	}
	r := draws * max(1, min(mostTimes, enoughRows/(rows*draws)))
	return r + r%2
}

// So many completed rows are worked on together, about, and so many rows of the table at most.
const (
	completedRows = 1000
	mostTogether  = 100
)

// together is how many rows of a table these are.
func together(rows, r int) int { return max(1, min(rows, mostTogether, completedRows/r)) }

// hold draws. Draws of a normal model's own conditional move with it; held fixed, they are
// weighted by the density where the equation is taken over that of the model as it is: as
// draws of a proposal.
func hold(e *engine.Engine) (*held, error) {
	h := &held{filled: e.Estimator.Draws()}
	h.r = number(e.Estimator, e.Table.N, e.Config.Draws)
	var err error
	if e.Estimator.Source.Normal {
		h.weighting = losses.SelfNormalised{}
	} else if h.weighting, err = e.Estimator.WeightingFor(e.Config.Weighting, h.r); err != nil {
		return nil, err
	}
	n, d := e.Table.N, e.Table.D
	h.x, h.log = make([]float64, n*h.r*d), make([]float64, n*h.r)
	return h, h.draw(e)
}

// draw fills in the rows.
func (h *held) draw(e *engine.Engine) error {
	n, d := e.Table.N, e.Table.D
	size := together(n, h.r)
	from, err := e.Estimator.Source.New(source.Setting{
		Model: e.Model, Table: e.Table, Imputer: e.Imputer, Batch: size, Draws: h.r, ProposalSD: e.Config.ProposalSD, Domain: e.Domain,
	})
	if err != nil {
		return err
	}
	b := data.NewBatch(size, d)
	x, log := make([]float64, size*h.r*d), make([]float64, size*h.r)
	var rng stream.Stream
	all := e.AllRows()
	for first := range slices.Chunk(all, size) {
		b.Fill(e.Table, first, 1)
		rng.At(e.Config.Seed, stream.Hold, uint64(first[0]))
		if err := panics.Caught(func() error { return from.Complete(b, x, log, &rng) }); err != nil {
			return err
		}
		at := first[0] * h.r
		copy(h.x[at*d:], x[:len(first)*h.r*d])
		copy(h.log[at:], log[:len(first)*h.r])
	}
	return nil
}

// inUnits are the same rows with their columns divided by units.
func (h *held) inUnits(unit []float64) *held {
	out := *h
	out.x = make([]float64, len(h.x))
	for i, v := range h.x {
		out.x[i] = v / unit[i%len(unit)]
	}
	return &out
}
