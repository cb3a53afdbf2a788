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

// Best is the least held-out loss. Every fall counts (docs/how-to/when-a-fit-stops.md).
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
		const reason = "no rows are held out; leave the setting out, or set validation"
		return c, foreign(reason, setting.Field{Name: "patience", Value: float64(c.Patience)})
	}
	learned := rows - heldOut(*c.Validation, rows)
	batch := max(1, min(p.Batch, learned))
	setting.Default(&c.Patience, max(defaultPatience, model.EpochsOf(t.PatientSteps, (learned+batch-1)/batch)))
	if heldOut(*c.Validation, rows) < 2 {
		return c, setting.Errorf("validation", *c.Validation, "of %d rows it holds out fewer than 2; use a larger share", rows)
	}
	return c, nil
}

func heldOut(share float64, n int) int { return int(math.Round(share * float64(n))) }

func (a *adam) divide() (err error) {
	if a.File != nil {
		a.rows = a.File
		if out := a.File.HeldOut(); out != nil {
			a.heldOut, err = a.HoldOut(out, out.AllRows())
		}
		return err
	}
	n, seed := a.Table.N, a.Engine.Config.Seed
	all := stream.New(seed, stream.Validate).Perm(n)
	out := heldOut(*a.Fit.Config.Validation, n)
	learned := all[out:]
	slices.Sort(learned)
	a.rows = rows.NewHeld(a.Table, learned, seed)
	if out == 0 {
		return nil
	}
	held := all[:out]
	slices.Sort(held)
	a.Whole.Gaps = slices.DeleteFunc(a.Whole.Gaps, func(i int) bool { _, found := slices.BinarySearch(held, i); return found })
	a.heldOut, err = a.HoldOut(a.Table, held)
	return err
}

func (a *adam) validate(r *Record) (err error) {
	if a.heldOut == nil || r.Epoch%a.every != 0 && r.Epoch != a.Fit.Config.Epochs {
		return nil
	}
	if r.HeldOut, err = a.heldOut.Loss(); err != nil {
		return err
	}
	if b := a.State.Best; b == nil || r.HeldOut < b.Loss || math.IsNaN(b.Loss) {
		a.State.Best = &Best{Epoch: r.Epoch, Loss: r.HeldOut, Rows: a.heldOut.Rows(), Engine: a.Capture()}
	}
	return nil
}

// lookBefore computes the held-out loss before the first step. A fit that never falls below it has
// diverged.
func (a *adam) lookBefore() error {
	if a.heldOut == nil || a.State.Iteration > 0 {
		return nil
	}
	loss, err := a.heldOut.Loss()
	a.State.Before = &loss
	return err
}
