// Package descent fits a model by Adam on mini-batches of rows.
package descent

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers/engine"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/optim"
)

// Config is parameter estimation by Adam on mini-batches (paper, appendix
// "Normal Distribution estimation"). Zero values mean the defaults named here, or the
// model's own (model.TrainingOf).
type Config struct {
	Epochs int     `json:"epochs"` // passes over the table; 200
	Rate   float64 `json:"rate"`   // Adam's rate for the model; 0.01
}

// Resolve fills zero values and checks the rest.
func (c Config) Resolve() (Config, error) {
	setting.Default(&c.Epochs, model.DefaultEpochs)
	setting.Default(&c.Rate, model.DefaultRate)
	return c, setting.Positive(setting.Field{Name: "epochs", Value: float64(c.Epochs)}, setting.Field{Name: "rate", Value: c.Rate})
}

// Record is one epoch of a fit.
type Record struct {
	Epoch         int
	Iteration     int     // parameter steps made
	Loss          float64 // reported loss, mean over rows
	EffectiveSize float64
	Errors        []evaluate.Error // against the truth, if one is known
}

// State is everything that changes during a fit beside the engine's part.
type State struct {
	Iteration int // parameter steps made
	Adam      optim.Adam
	History   []Record
	Epoch     sums // of the epoch under way
}

// sums are those of an epoch's steps.
type sums struct {
	Loss, Size float64
	Count      int
}

// fit is one being made.
type fit struct {
	*engine.Engine
	config   Config
	params   []*graph.Param
	state    *State
	perEpoch int // steps
	rows     []int
	truth    *evaluate.Comparison // nil if none is known
}

// Run makes what is left of a fit: a zero State is a fresh one. The parameters are in
// the engine's model. save is called after each epoch. When ctx is cancelled Run returns
// its error with the state as it is between two steps.
func Run(ctx context.Context, e *engine.Engine, c Config, truth *evaluate.Comparison, s *State, save func() error) error {
	if s.Adam.Rate == 0 {
		s.Adam.Rate = c.Rate
	}
	n, size := e.Table.N, e.Config.Batch
	f := &fit{Engine: e, config: c, params: e.Model.Params(), state: s, perEpoch: (n + size - 1) / size, rows: make([]int, n), truth: truth}
	for epoch := s.Iteration / f.perEpoch; epoch < c.Epochs; epoch++ {
		if err := f.epoch(ctx, epoch); err != nil {
			return err
		}
		if err := save(); err != nil {
			return err
		}
	}
	return nil
}

// epoch makes what is left of one pass over the table and records it.
func (f *fit) epoch(ctx context.Context, epoch int) error {
	s, n, size := f.state, f.Table.N, f.Config.Batch
	for i := range f.rows {
		f.rows[i] = i
	}
	stream.New(f.Config.Seed, stream.Shuffle, uint64(epoch), 1).Shuffle(n, func(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] })
	for s.Iteration < (epoch+1)*f.perEpoch {
		from := s.Iteration % f.perEpoch * size
		batch := f.rows[from:min(from+size, n)]
		step, err := f.Step(ctx, s.Iteration, batch, 1/float64(len(batch)))
		if err != nil {
			return err
		}
		s.Adam.Step(f.params, step.Grads)
		s.Iteration++
		s.Epoch.Size += step.EffectiveSize
		s.Epoch.Loss += step.Loss * float64(len(batch)) / float64(n)
		s.Epoch.Count++
		f.Report(engine.Progress{Stage: "fit", Unit: "iteration", Iteration: s.Iteration, Total: f.config.Epochs * f.perEpoch, Loss: step.Loss, EffectiveSize: step.EffectiveSize})
	}
	record := Record{Epoch: epoch + 1, Iteration: s.Iteration, Loss: s.Epoch.Loss, EffectiveSize: s.Epoch.Size / float64(s.Epoch.Count)}
	if f.truth != nil {
		var err error
		if record.Errors, err = f.truth.Errors(); err != nil {
			return err
		}
	}
	s.History, s.Epoch = append(s.History, record), sums{}
	return nil
}

// Trend compares the epochs' losses in the last fifth of a fit with those in
// the fifth before. A loss that still falls or rises by more than three standard
// errors and a thousandth of itself is not converged; rising means diverging.
func Trend(h []Record) (converged bool, verdict string) {
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
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss rose by %.3g, the fit is diverging; stop earlier, or use another method", n, ml-mb)
	}
	if mb-ml > max(3*se, 1e-3*math.Abs(ml)) {
		return false, fmt.Sprintf("NOT converged: over the last %d epochs the loss still fell by %.3g", n, mb-ml)
	}
	return true, fmt.Sprintf("converged: over the last %d epochs the loss changed by %.3g ± %.2g", n, ml-mb, se)
}
