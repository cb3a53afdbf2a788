package descent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
)

// Best is where the loss of held-out rows was least, and since when it has not fallen: by
// more than the standard error of the difference over blocks of them, as the rows and
// their draws are the same after each epoch.
type Best struct {
	Epoch  int // after which it was least
	Loss   float64
	Engine engine.State

	Since  int       // the epoch after which it last fell
	Blocks []float64 // the blocks' losses there
}

const (
	mostValidation    = 0.5 // share of the rows
	defaultValidation = 0.1
	validatedRows     = 100 // with fewer none are held out unasked
	defaultPatience   = 30
)

// resolveValidation fills in how many rows are held out.
func (c Config) resolveValidation(overfits bool, rows int) (Config, error) {
	if c.Validation == nil {
		c.Validation = new(0.0)
		if overfits && rows >= validatedRows {
			*c.Validation = defaultValidation
		}
	}
	if *c.Validation == 0 {
		const reason = "no rows are held out to stop by; leave it out, or hold out a share of the rows (validation)"
		return c, foreign(reason, setting.Field{Name: "patience", Value: float64(c.Patience)})
	}
	setting.Default(&c.Patience, defaultPatience)
	if n := engine.HeldOutRows(*c.Validation, rows); n < 2 {
		return c, setting.Errorf("validation", *c.Validation, "of %d rows that leaves fewer than 2 to stop by", rows)
	}
	return c, nil
}

// divide holds rows out by the seed, if any.
func (a *adam) divide() (err error) {
	n := a.Table.N
	all := stream.New(a.Engine.Config.Seed, stream.Validate).Perm(n)
	out := engine.HeldOutRows(*a.Fit.Config.Validation, n)
	a.rows = all[out:]
	slices.Sort(a.rows)
	if out == 0 {
		return nil
	}
	held := all[:out]
	slices.Sort(held)
	a.TakesPart(func(i int) bool { _, found := slices.BinarySearch(held, i); return !found })
	a.heldOut, err = a.HoldOut(held)
	return err
}

// validate looks at the held-out rows, if there are any.
func (a *adam) validate(r *Record) error {
	if a.heldOut == nil {
		return nil
	}
	blocks, err := a.heldOut.Losses()
	if err != nil {
		return err
	}
	r.HeldOut = stat.Mean(blocks, nil)
	b := a.State.Best
	if b == nil || r.HeldOut < b.Loss || math.IsNaN(b.Loss) {
		if b == nil {
			b = &Best{Since: r.Epoch, Blocks: blocks}
			a.State.Best = b
		}
		b.Epoch, b.Loss, b.Engine = r.Epoch, r.HeldOut, a.Capture()
	}
	if falls(b.Blocks, blocks) {
		b.Since, b.Blocks = r.Epoch, blocks
	}
	return nil
}

// falls says whether losses of blocks of rows went down by more than the standard error
// of their mean difference.
func falls(from, to []float64) bool {
	difference := make([]float64, len(from))
	for i, v := range from {
		difference[i] = v - to[i]
	}
	mean, sd := stat.MeanStdDev(difference, nil)
	return mean > sd/math.Sqrt(float64(len(from))) || !engine.Finite(from...) && engine.Finite(to...)
}

// patient says whether the held-out loss has not fallen for so long that the fit ends.
func (f *Fit) patient() bool {
	b, h := f.State.Best, f.State.History
	return b != nil && h[len(h)-1].Epoch-b.Since >= f.Config.Patience
}
