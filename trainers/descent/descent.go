package descent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

// FitConfig is parameter estimation by Adam on mini-batches (paper, appendix
// "Normal Distribution estimation"). Zero values mean the defaults named here.
type FitConfig struct {
	Config
	Epochs int     `json:"epochs"` // passes over the table; 200
	Rate   float64 `json:"rate"`   // Adam's rate for the model; 0.01
	Truth  *Truth  `json:"-"`      // to compare with after each epoch, in the table's units; may be nil
}

// Record is one epoch of a fit.
type Record struct {
	Epoch         int
	Iteration     int     // parameter steps made
	Loss          float64 // reported loss (M), mean over rows
	EffectiveSize float64
	Errors        []Error // against FitConfig.Truth
}

// FitResult tells how a fit ended; the parameters are in the model.
type FitResult struct {
	Config    FitConfig
	Estimator Estimator
	History   []Record
	Imputer   *nets.Imputer // what the method trained along, nil if nothing
	Converged bool
	Verdict   string
	Warnings  []string // what the user should know
}

// Fit estimates the parameters of m, in place, from the table as it stands
// (standardise it first if the columns' units differ). State, checkpoint and
// cancelling are as in EstimateNetwork.
func Fit(ctx context.Context, t *data.Table, m model.Model, o losses.Objective, c FitConfig, s *State, checkpoint func(*State) error) (*FitResult, error) {
	if c.Epochs == 0 {
		c.Epochs = 200
	}
	if c.Rate == 0 {
		c.Rate = 0.01
	}
	if c.Epochs < 0 || c.Rate < 0 {
		return nil, fmt.Errorf("epochs %d, rate %v: both must be positive", c.Epochs, c.Rate)
	}
	e, err := newEngine(t, m, o, c.Config)
	if err != nil {
		return nil, err
	}
	c.Config = e.config
	options, err := modelOptions(m)
	if err != nil {
		return nil, err
	}
	identified, err := fingerprint(t, []any{c, fmt.Sprintf("%T %T", m, o), o, options, startOf(m)})
	if err != nil {
		return nil, err
	}
	if s.Version == 0 {
		*s = State{Version: stateVersion, Fingerprint: identified, ModelAdam: Adam{Rate: c.Rate}}
		e.capture(s)
	} else if s.Fingerprint != identified {
		return nil, ErrOtherRun
	} else {
		e.restore(s)
	}
	save := func() error {
		e.capture(s)
		if checkpoint == nil {
			return nil
		}
		return checkpoint(s)
	}

	var known *comparison
	if c.Truth != nil {
		if known, err = c.Truth.follow(m); err != nil {
			return nil, err
		}
	}
	size := c.Batch
	perEpoch := (t.N + size - 1) / size
	rows := make([]int, t.N)
	for epoch := s.Iteration / perEpoch; epoch < c.Epochs; epoch++ {
		for i := range rows {
			rows[i] = i
		}
		stream.New(c.Seed, stream.Shuffle, uint64(epoch), 1).Shuffle(t.N, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for s.Iteration < (epoch+1)*perEpoch {
			from := s.Iteration % perEpoch * size
			batch := rows[from:min(from+size, t.N)]
			step, err := e.step(ctx, s.Iteration, batch, 1/float64(len(batch)))
			if err != nil {
				if ctx.Err() != nil {
					return nil, interrupted(ctx, save)
				}
				return nil, err
			}
			s.ModelAdam.Step(m.Params(), step.Grads)
			s.Iteration++
			s.Block.Size += step.EffectiveSize
			s.Block.Loss += step.Loss * float64(len(batch)) / float64(t.N)
			s.Block.Count++
			e.observe(Progress{Stage: "fit", Unit: "iteration", Iteration: s.Iteration, Total: c.Epochs * perEpoch, Loss: step.Loss, EffectiveSize: step.EffectiveSize})
		}
		record := Record{Epoch: epoch + 1, Iteration: s.Iteration, Loss: s.Block.Loss, EffectiveSize: s.Block.Size / float64(s.Block.Count)}
		if known != nil {
			if record.Errors, err = known.errors(); err != nil {
				return nil, err
			}
		}
		s.History = append(s.History, record)
		s.Block = Block{}
		if err := save(); err != nil {
			return nil, err
		}
	}
	r := &FitResult{Config: c, Estimator: e.method, History: s.History, Imputer: e.imputer}
	r.Converged, r.Verdict = trend(s.History)
	r.Warnings = append(e.degenerate(s.History[len(s.History)-1].EffectiveSize), e.leftOut()...)
	r.Warnings = append(r.Warnings, apart(t, m)...)
	return r, nil
}

// startOf are the shapes of a model's parameters: with its type and the seed they
// tell where a fit starts.
func startOf(m model.Model) (shapes []string) {
	for _, p := range m.Params() {
		shapes = append(shapes, fmt.Sprintf("%s %d %d", p.Name, p.Rows, p.Cols))
	}
	return shapes
}

// trend compares the epochs' losses in the last fifth of a fit with those in
// the fifth before. A loss that still falls or rises by more than three standard
// errors and a thousandth of itself is not converged; rising means running away.
func trend(h []Record) (converged bool, verdict string) {
	n := len(h) / 5
	if n < 3 {
		return false, fmt.Sprintf("NOT converged: too few epochs (%d) to tell", len(h))
	}
	var before, last []float64
	for i := range n {
		before = append(before, h[len(h)-2*n+i].Loss)
		last = append(last, h[len(h)-n+i].Loss)
	}
	mb, sb := stat.MeanStdDev(before, nil)
	ml, sl := stat.MeanStdDev(last, nil)
	se := math.Sqrt((sb*sb + sl*sl) / float64(n))
	if ml-mb > max(3*se, 1e-3*math.Abs(ml)) {
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss rose by %.3g, the fit is running away; stop earlier, or use another method", n, ml-mb)
	}
	if mb-ml > max(3*se, 1e-3*math.Abs(ml)) {
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss still fell by %.3g", n, mb-ml)
	}
	return true, fmt.Sprintf("converged: over the last %d epochs the loss changed by %.3g ± %.2g", n, ml-mb, se)
}

// Gradient is one parameter gradient of m on all rows of t, as the given
// iteration of a fit would see it: draws, loss and weights of c.Method, rows
// counting 1/n. An imputer is at its start. One slice per parameter of m.
func Gradient(t *data.Table, m model.Model, o losses.Objective, c Config, iteration int) (loss float64, grads [][]float64, err error) {
	e, err := newEngine(t, m, o, c)
	if err != nil {
		return 0, nil, err
	}
	rows := make([]int, t.N)
	for i := range rows {
		rows[i] = i
	}
	s, err := e.gradient(iteration, rows, 1/float64(t.N))
	return s.Loss, s.Grads, err
}
