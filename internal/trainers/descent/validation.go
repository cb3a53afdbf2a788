package descent

import (
	"math"
	"slices"

	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/rows"
)

// Best is the least held-out loss.
type Best struct {
	Epoch  int // of the least loss
	Loss   float64
	Rows   int // number of held-out rows
	Engine engine.State
}

const (
	mostValidation    = 0.5 // share of the rows
	defaultValidation = 0.1
	validatedRows     = 100 // minimum for held-out rows by default
	defaultPatience   = 30
	mostHeldOut       = 20_000 // default maximum for a file; they stay in memory
)

func (c Config) resolveValidation(t model.Training, p Problem) (Config, error) {
	rows := p.Rows
	if c.Validation == nil {
		c.Validation = new(0.0)
		if t.Overfits && !p.Penalised && rows >= validatedRows {
			*c.Validation = defaultValidation
			if p.Streamed {
				*c.Validation = min(defaultValidation, mostHeldOut/float64(rows))
			}
		}
	}
	if *c.Validation == 0 {
		return c, setting.Unread("a fit without validation", false, map[string]bool{"patience": c.Patience != 0})
	}
	learned := rows - heldOutRows(*c.Validation, rows)
	perEpoch := batches(learned, max(1, min(p.Batch, learned)))
	setting.Default(&c.Patience, max(defaultPatience, model.EpochsOf(t.PatientSteps, perEpoch)))
	if heldOutRows(*c.Validation, rows) < 2 {
		return c, setting.Errorf("validation", *c.Validation, "of %d rows it holds out fewer than 2; use a larger share", rows)
	}
	return c, nil
}

func heldOutRows(share float64, n int) int { return int(math.Round(share * float64(n))) }

func (f *Fit) divide() (from rows.Rows, heldOut *engine.HeldOut, err error) {
	if f.File != nil {
		if out := f.File.HeldOut(); out != nil {
			heldOut, err = f.HoldOut(out, out.AllRows())
		}
		return f.File, heldOut, err
	}
	n, seed := f.Table.N, f.Engine.Config.Seed
	all, out := stream.New(seed, stream.Validate).Perm(n), heldOutRows(*f.Config.Validation, n)
	held, learned := all[:out], all[out:]
	slices.Sort(learned)
	if from = rows.NewHeld(f.Table, learned, seed); out == 0 {
		return from, nil, nil
	}
	slices.Sort(held)
	f.Whole.Gaps = slices.DeleteFunc(f.Whole.Gaps, func(i int) bool { _, found := slices.BinarySearch(held, i); return found })
	heldOut, err = f.HoldOut(f.Table, held)
	return from, heldOut, err
}

func (f *Fit) validate(r *Record, heldOut *engine.HeldOut) (err error) {
	if r.HeldOut, err = heldOut.Loss(); err != nil {
		return err
	}
	if b := f.State.Best; b == nil || r.HeldOut < b.Loss || math.IsNaN(b.Loss) {
		f.State.Best = &Best{Epoch: r.Epoch, Loss: r.HeldOut, Rows: heldOut.Rows, Engine: f.Capture()}
	}
	return nil
}
