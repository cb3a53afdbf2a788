package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

// engine does the two kinds of step that every fit alternates: steps of the
// imputer towards the model's conditional, and gradients of the model's loss.
// Every draw comes from a stream named by (purpose, iteration, part), so
// nothing depends on which worker makes it or on where a run was cut.
type engine struct {
	config    Config
	method    Estimator
	loss      losses.Loss
	objective losses.Objective
	noising   losses.Noising // the objective, if it adds noise; else nil
	table     *data.Table
	model     model.Model
	workers   []*worker

	imputer *nets.Imputer
	adam    Adam
	train   *graph.Program
	grads   [][]float64 // of the imputer
	singles [][]float32 // instead, in float32
	batch   *data.Batch // of the imputer's step
	gaps    []int       // rows with missing cells
	shuffle []int
	epoch   int
	stream  stream.Stream  // of the imputer's steps
	noise   stream.Singles // from it, in float32

	parts []part
}

// worker owns what one goroutine needs.
type worker struct {
	batch   *data.Batch
	source  Source
	single  SingleSource // the source, if it writes float32 where the program has its numbers
	program *graph.Program
	stream  stream.Stream
	own     stream.Stream // of what the objective draws
	sizes   []float64     // effective, of a batch
}

// part is the contribution of one batch to a step.
type part struct {
	loss, size float64
	sized      int
	grads      [][]float64
	err        error
}

// stepResult is a gradient with what was seen on the way.
type stepResult struct {
	Loss          float64
	EffectiveSize float64
	Grads         [][]float64 // one slice per parameter of the model
}

func newEngine(t *data.Table, m model.Model, o losses.Objective, c Config) (*engine, error) {
	c, method, err := c.withDefaults(t.N, o)
	if err != nil {
		return nil, err
	}
	if m.Dim() != t.D {
		return nil, fmt.Errorf("a model of %d columns does not fit a table of %d", m.Dim(), t.D)
	}
	if c.Missingness != nil {
		m = &model.Joint{Model: m, Missingness: c.Missingness}
	}
	if method.Gaussian {
		if _, err := asGaussian(m, "method "+method.Name); err != nil {
			return nil, err
		}
	}
	if err := inside(t, c.Domain); err != nil {
		return nil, err
	}
	if method.Complete && t.Missing() > 0 {
		return nil, fmt.Errorf("method %s is for tables without missing cells; this one has %d: use var, exact or another method", method.Name, t.Missing())
	}
	if full, ok := method.Loss(c.correction()).(losses.Complete); ok && full.AllCoordinates && c.Domain.Censored() {
		return nil, fmt.Errorf("method %s takes imputed cells for observed ones, but censored cells lie beyond the bounds of those: use em", method.Name)
	}
	noising, _ := o.(losses.Noising)
	if noising != nil && c.Domain.Bounded() {
		return nil, errors.New("noise takes rows out of the domain: an objective that adds noise is for data on all of R^d")
	}
	e := &engine{config: c, noising: noising, method: method, loss: method.Loss(c.correction()), objective: o, table: t, model: m, epoch: -1}
	for i := range t.N {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			e.gaps = append(e.gaps, i)
		}
	}
	if method.Trains {
		e.imputer = nets.NewImputer(t.D, c.Imputer, stream.New(c.Seed, stream.Initial))
		e.adam = Adam{Rate: c.ImputerRate}
		if c.DType == graph.Float32 {
			for _, p := range e.imputer.Params() {
				p.KeepSingle()
			}
		}
		if len(e.gaps) > 0 {
			size := min(c.Batch, len(e.gaps))
			e.batch = data.NewBatch(size, t.D)
			if e.train, err = losses.NewImputer(c.DType, c.ImputerLoss, e.imputer, m, o, c.Domain, size); err != nil {
				return nil, err
			}
			losses.Share(e.train, e.batch)
			e.batch.X = e.train.Input(losses.InputX)
			for _, p := range e.imputer.Params() {
				if p.Single != nil {
					e.singles = append(e.singles, e.train.SingleGrad(p))
				} else {
					e.grads = append(e.grads, e.train.Grad(p))
				}
			}
		}
	}
	for range min(c.Workers, (t.N+c.Batch-1)/c.Batch) { // a part is one worker's
		w := &worker{batch: data.NewBatch(c.Batch, t.D)}
		if w.source, err = method.Source(Setting{Model: m, Imputer: e.imputer, Batch: c.Batch, Draws: c.Draws, ProposalSD: c.ProposalSD, DType: c.DType, Domain: c.Domain}); err != nil {
			return nil, err
		}
		if w.program, err = losses.New(c.DType, e.loss, m, o, c.Batch, c.Draws); err != nil {
			return nil, err
		}
		losses.Share(w.program, w.batch)
		if full, ok := e.loss.(losses.Complete); c.DType == graph.Float32 && !c.Domain.Bounded() && !(ok && full.AllCoordinates) {
			w.single, _ = w.source.(SingleSource)
		}
		e.workers = append(e.workers, w)
	}
	return e, nil
}

// trainImputer makes the L imputer steps before parameter step number iteration,
// and before the first those of the warm-up.
func (e *engine) trainImputer(iteration int) error {
	if e.train == nil || len(e.gaps) == 0 { // a part of the rows may have no gap
		return nil
	}
	size := e.batch.Size
	perEpoch := (len(e.gaps) + size - 1) / size
	steps, before := e.config.ImputerSteps, e.config.WarmUp+iteration*e.config.ImputerSteps
	if iteration == 0 {
		steps, before = e.config.WarmUp+steps, 0
	}
	for l := range steps {
		step := before + l
		if epoch := step / perEpoch; epoch != e.epoch {
			e.epoch = epoch
			e.shuffle = append(e.shuffle[:0], e.gaps...)
			e.stream.At(e.config.Seed, stream.Shuffle, uint64(epoch)).Shuffle(len(e.shuffle), func(i, j int) {
				e.shuffle[i], e.shuffle[j] = e.shuffle[j], e.shuffle[i]
			})
		}
		from := step % perEpoch * size
		rows := e.shuffle[from:min(from+size, len(e.shuffle))]
		e.batch.Fill(e.table, rows, 1/float64(len(rows)))
		if e.noising != nil {
			e.noising.AddNoise(e.batch, e.stream.At(e.config.Seed, stream.Objective, uint64(iteration), uint64(l), 1).Rand)
		}
		losses.BindImputer(e.train, e.config.Domain, e.batch)
		rng := e.stream.At(e.config.Seed, stream.Train, uint64(iteration), uint64(l))
		if e.singles != nil {
			e.noise.From(rng)
			e.noise.Normals(e.train.SingleInput(losses.InputNoise))
		} else {
			rng.Normals(e.train.Input(losses.InputNoise))
		}
		run := e.train.RunAgain // the model stays as it is for all the steps
		if l == 0 {
			run = e.train.Run
		}
		if err := run(); err != nil {
			return fmt.Errorf("training the imputer: %w", err)
		}
		if e.singles != nil {
			e.adam.StepSingle(e.imputer.Params(), e.singles)
		} else {
			e.adam.Step(e.imputer.Params(), e.grads)
		}
	}
	for _, p := range e.imputer.Params() {
		p.Widen()
	}
	return nil
}

// gradient sums the loss over rows, each counting weight, and differentiates it.
func (e *engine) gradient(iteration int, rows []int, weight float64) (stepResult, error) {
	size := e.config.Batch
	n := (len(rows) + size - 1) / size
	for len(e.parts) < n {
		var p part
		for _, q := range e.model.Params() {
			p.grads = append(p.grads, make([]float64, len(q.Value)))
		}
		e.parts = append(e.parts, p)
	}
	if workers := min(n, len(e.workers)); workers > 1 {
		var pool errgroup.Group
		for k := range workers {
			pool.Go(func() error {
				return panics.Caught(func() error { e.share(k, iteration, rows, weight); return nil })
			})
		}
		if err := pool.Wait(); err != nil {
			return stepResult{}, err
		}
	} else {
		e.share(0, iteration, rows, weight)
	}

	total := e.parts[0] // in the order of the parts, whoever computed them
	for i := range n {
		p := e.parts[i]
		if p.err != nil {
			return stepResult{}, p.err
		}
		if i == 0 {
			continue
		}
		total.loss += p.loss
		total.size += p.size
		total.sized += p.sized
		for q, g := range p.grads {
			for j, v := range g {
				total.grads[q][j] += v
			}
		}
	}
	return stepResult{Loss: total.loss, EffectiveSize: total.size / float64(total.sized), Grads: total.grads}, nil
}

// share computes the parts of worker k.
func (e *engine) share(k, iteration int, rows []int, weight float64) {
	size := e.config.Batch
	for i := k; i*size < len(rows); i += len(e.workers) {
		e.parts[i].err = e.one(e.workers[k], &e.parts[i], iteration, i, rows[i*size:min((i+1)*size, len(rows))], weight)
	}
}

func (e *engine) one(w *worker, p *part, iteration, index int, rows []int, weight float64) error {
	w.batch.Fill(e.table, rows, weight)
	in := w.program
	own := w.own.At(e.config.Seed, stream.Objective, uint64(iteration), uint64(index)).Rand
	if e.noising != nil {
		e.noising.AddNoise(w.batch, own)
	}
	rng := w.stream.At(e.config.Seed, stream.Impute, uint64(iteration), uint64(index))
	var err error
	if w.single != nil {
		err = w.single.CompleteSingle(w.batch, in.SingleInput(losses.InputX), in.SingleInput(losses.InputLogProposal), rng)
	} else {
		err = w.source.Complete(w.batch, in.Input(losses.InputX), in.Input(losses.InputLogProposal), rng)
	}
	if err != nil {
		return err
	}
	losses.Bind(in, e.loss, e.objective, w.batch, own)
	if err := in.Run(); err != nil {
		return err
	}
	p.loss, p.size, p.sized = in.Output(losses.OutputReported)[0], 0, 0
	for q, param := range e.model.Params() {
		copy(p.grads[q], in.Grad(param))
	}
	if in.HasOutput(losses.OutputWeights) && e.method.Draws {
		r := e.config.Draws
		w.sizes = losses.EffectiveSize(w.sizes, in.Output(losses.OutputWeights)[:len(rows)*r], r)
		for i, size := range w.sizes {
			if slices.Contains(w.batch.Mask[i*e.table.D:(i+1)*e.table.D], 0) {
				p.size += size
				p.sized++
			}
		}
	}
	return nil
}

// DivergedError says that a fit stopped because a number was no longer finite.
// The parameters are those before that step.
type DivergedError struct {
	Iteration int
	What      string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the fit diverged: the %s was not finite at iteration %d", e.What, e.Iteration+1)
}

// step trains the imputer, then computes the parameter gradient. It fails with
// a DivergedError if anything is not finite.
func (e *engine) step(ctx context.Context, iteration int, rows []int, weight float64) (stepResult, error) {
	if err := ctx.Err(); err != nil {
		return stepResult{}, err
	}
	if err := e.trainImputer(iteration); err != nil {
		return stepResult{}, err
	}
	s, err := e.gradient(iteration, rows, weight)
	if err != nil {
		return s, err
	}
	if !finite(s.Loss) {
		return s, &DivergedError{iteration, "loss"}
	}
	for _, g := range s.Grads {
		if !finite(g...) {
			return s, &DivergedError{iteration, "gradient"}
		}
	}
	return s, nil
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// observe reports progress if somebody listens.
func (e *engine) observe(p Progress) {
	if e.config.Observe != nil {
		e.config.Observe(p)
	}
}

// inside refuses a table with a row that cannot be completed inside the domain.
func inside(t *data.Table, s *domain.Domain) error {
	if !s.Bounded() {
		return nil
	}
	if err := s.Check(t.Names); err != nil {
		return err
	}
	return t.Inside(s)
}
