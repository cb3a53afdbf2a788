// Package engine makes imputer steps and parameter gradients.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/gaussian"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// Engine makes imputer steps and gradients. Random streams are named by (purpose, iteration, part),
// so results do not depend on the number of workers or on interruptions. It is not safe for
// concurrent use.
type Engine struct {
	Problem
	Config    Config
	Estimator estimator.Estimator
	Imputer   nets.Imputer // trained by the estimator; nil for none
	Counts    []float64    // count or sampling weight by row, set before the first step; nil: all 1
	Whole     Window       // window of Table; callers may remove gaps before the first step

	params    []*graph.Param // of the model
	weighting losses.Weighting
	noising   losses.Noising // the objective if it adds noise; else nil
	drawn     *domain.Domain // domain of imputations
	memory    source.Memory  // state of the source; nil for none
	workers   []*worker
	parts     []part
	condenses bool      // the loss depends on the rows through moments
	expected  condensed // rows whose patterns the parts hold
	imputer   imputerSteps
}

// Window is a table for steps: the problem's, or part of a file.
type Window struct {
	Table *data.Table
	Gaps  []int // rows with missing cells, for the imputer and for checks of chains
	First int   // number of its first step; 0 for the problem's table
}

func NewWindow(t *data.Table, first int) Window {
	w := Window{Table: t, First: first}
	for i := range t.N {
		if slices.Contains(t.Observed[i*t.D:(i+1)*t.D], false) {
			w.Gaps = append(w.Gaps, i)
		}
	}
	return w
}

type imputerSteps struct {
	adam    optim.Adam
	program *graph.Program // nil without steps
	grads   [][]float64
	singles [][]float32 // replaces values in float32
	batch   *data.Batch
	over    *data.Table // of the last step
	first   int         // first step of over
	epoch   int
	shuffle []int // rows with missing cells in the order of this epoch
	stream  stream.Stream
}

type worker struct {
	loss      losses.Loss
	batch     *data.Batch
	source    source.Source
	single    source.SingleSource // the source if it writes float32 to the program
	program   *graph.Program      // nil: not compiled yet
	compile   func() error
	stream    stream.Stream
	objective stream.Stream // of the objective's draws
	sizes     []float64     // effective sample sizes of a batch

	expectation *gaussian.Expectation // created on first use
}

// part holds the sums of a batch.
type part struct {
	Step
	sized    int // rows whose sizes Step.EffectiveSize adds up
	patterns *gaussian.RowPatterns
	err      error
}

// batchStep sets a part to the sums of batch i.
type batchStep func(e *Engine, w *worker, p *part, iteration, i int, in condensed, weight float64) error

type Step struct {
	Loss          float64
	EffectiveSize float64
	Grads         [][]float64 // by parameter of the model

	// Of Engine.Moments, summed over the rows: Σ_i a_i E[(1, x−μ)(1, x−μ)ᵀ | x_o] (d+1, d+1) and
	// Σ_i a_i log p(x_o).
	Moments       []float64
	LogLikelihood float64
}

// New prepares a fit. It returns an error if method, model, objective and table do not go together,
// and a *data.RowError for a row outside the domain.
func New(p Problem, c Config) (*Engine, error) {
	c, method, err := c.Resolve(p)
	if err != nil {
		return nil, err
	}
	if p.Model.Dim() != p.Table.D {
		return nil, fmt.Errorf("the model has %d columns, but the table has %d", p.Model.Dim(), p.Table.D)
	}
	p.Model = p.joint()
	if p.Condensed == nil {
		p.Condensed = NewCondensed()
	}
	e := &Engine{Problem: p, Config: c, Estimator: method, params: p.Model.Params(), Whole: Window{Table: p.Table}, drawn: p.Domain}
	if method.Draws() || method.Trains() {
		e.Whole = NewWindow(p.Table, 0)
	}
	if c.FreeDraws {
		e.drawn = domain.All(p.Table.D)
	}
	e.Counts = counts(p.Table)
	if e.weighting = method.Weighting; c.Weighting != method.Weighting.Name() {
		if e.weighting, err = losses.WeightingByName(c.Weighting); err != nil {
			return nil, err
		}
	}
	e.noising, _ = p.Objective.(losses.Noising)
	if err := cmp.Or(e.Estimator.Check(e.Model, e.Objective, e.Domain), e.Table.Inside(e.Domain), e.Estimator.CheckTable(e.Table)); err != nil {
		return nil, err
	}
	if e.noising != nil && e.Domain.Bounded() {
		return nil, errors.New("an objective that adds noise cannot have a domain; leave the domain out")
	}
	e.condenses = byMoments(p, method)
	if err := e.prepareImputer(); err != nil {
		return nil, err
	}
	if e.Estimator.Source.Memory != nil {
		if e.memory, err = e.Estimator.Source.Memory(e.setting(c.Batch, c.Draws)); err != nil {
			return nil, err
		}
	}
	if e.Estimator.OfMatrix() { // makes no steps over rows
		return e, nil
	}
	for range min(c.Workers, (p.Table.N+c.Batch-1)/c.Batch) { // a part has one worker
		w, err := e.newWorker(e.Estimator.Loss, e.Estimator.Source, e.weighting, c.Batch, c.Draws)
		if err != nil {
			return nil, err
		}
		e.workers = append(e.workers, w)
	}
	return e, nil
}

func counts(t *data.Table) []float64 {
	if t.Counted != nil {
		return t.Counted.Counts
	}
	return t.Weights
}

func (e *Engine) prepareImputer() (err error) {
	if !e.Estimator.Trains() {
		return nil
	}
	c, t := e.Config, &e.imputer
	if options := c.Imputer.Options; e.noising != nil && !e.noising.Schedule().Single() && c.Imputer.New == nil {
		if e.Config.Imputer.Options, err = nets.ImputerAtLevels(c.Imputer.Kind, options); err != nil {
			return err
		}
	}
	if e.Imputer, err = e.Config.Imputer.Make(e.Table.D, stream.New(c.Seed, stream.Initial)); err != nil {
		return &setting.Error{Field: "imputer", Allowed: err.Error()}
	}
	if at, ok := e.Imputer.(nets.NormalStart); ok && e.Normal != nil {
		if err := at.StartAt(e.Normal.Mean(), e.Normal.Precision()); err != nil {
			return err
		}
	}
	if n, ok := e.Imputer.(nets.NormalConditional); ok && n.NoiseConditional() && (e.noising == nil || e.noising.Schedule().Single()) {
		return &setting.Error{Field: "imputer", Value: c.Imputer.Kind, Allowed: "noise_conditional needs denoising with many noise levels; leave it out"}
	}
	t.adam = optim.Adam{Rate: c.ImputerRate}
	if c.DType == graph.Float32 {
		for _, p := range e.Imputer.Params() {
			p.KeepSingle()
		}
	}
	gaps := len(e.Whole.Gaps)
	if s := e.Table.Sampled; s != nil {
		gaps = s.Gaps
	}
	if gaps == 0 {
		return nil
	}
	size := min(c.Batch, gaps)
	t.batch = data.NewBatch(size, e.Table.D)
	if t.program, err = losses.NewImputer(c.DType, c.ImputerLoss, e.Imputer, e.Model, e.Objective, e.drawn, size); err != nil {
		return err
	}
	for _, p := range e.Imputer.Params() {
		if p.Single != nil {
			t.singles = append(t.singles, t.program.SingleGrad(p))
		} else {
			t.grads = append(t.grads, t.program.Grad(p))
		}
	}
	return nil
}

func (e *Engine) setting(batch, draws int) source.Setting {
	c := e.Config
	return source.Setting{Model: e.Model, Table: e.Table, Imputer: e.Imputer, Batch: batch, Draws: draws, ProposalSD: c.ProposalSD, DType: c.DType, Domain: e.drawn, Memory: e.memory}
}

func (e *Engine) newWorker(loss losses.Loss, from source.Kind, weighting losses.Weighting, batch, draws int) (w *worker, err error) {
	c := e.Config
	w = &worker{loss: loss, batch: data.NewBatch(batch, e.Table.D)}
	if w.source, err = from.New(e.setting(batch, draws)); err != nil {
		return nil, err
	}
	dtype := c.DType
	if loss.Needs().Moments { // computed in float64; rounded parameters would prevent convergence of EM
		dtype = graph.Float64
	}
	w.compile = func() (err error) {
		w.program, err = losses.New(dtype, loss, weighting, e.Model, e.Objective, batch, draws)
		return err
	}
	if loss == losses.GaussianComplete { // Moments needs no program
		return w, nil
	}
	if err = w.compile(); err != nil {
		return nil, err
	}
	if dtype == graph.Float32 && !e.Domain.Bounded() && !e.Estimator.Loss.Needs().CompletedRows {
		w.single, _ = w.source.(source.SingleSource)
	}
	return w, nil
}

func (e *Engine) trainImputer(iteration int, over Window) error {
	t, gaps := &e.imputer, over.Gaps
	if t.program == nil || len(gaps) == 0 { // the rows may have no missing cells
		return nil
	}
	size := t.batch.Size
	perEpoch := (len(gaps) + size - 1) / size
	steps, before := e.Config.ImputerSteps, *e.Config.WarmUp+iteration*e.Config.ImputerSteps
	if iteration == 0 {
		steps, before = *e.Config.WarmUp+steps, 0
	}
	for l := range steps {
		step := before + l
		if epoch := step / perEpoch; over.Table != t.over || over.First != t.first || epoch != t.epoch {
			t.over, t.first, t.epoch = over.Table, over.First, epoch
			t.shuffle = append(t.shuffle[:0], gaps...)
			place := []uint64{stream.Shuffle, uint64(epoch)}
			if t.first > 0 {
				place = append(place, uint64(t.first), 3, 0)
			}
			t.stream.At(e.Config.Seed, place...).Shuffle(len(t.shuffle), func(i, j int) {
				t.shuffle[i], t.shuffle[j] = t.shuffle[j], t.shuffle[i]
			})
		}
		from := step % perEpoch * size
		if err := e.imputerStep(iteration, l, t.shuffle[from:min(from+size, len(t.shuffle))]); err != nil {
			return fmt.Errorf("training the imputer: %w", err)
		}
	}
	for _, p := range e.Imputer.Params() {
		p.Widen()
	}
	return nil
}

func (e *Engine) imputerStep(iteration, l int, rows []int) error {
	t := &e.imputer
	t.batch.Fill(t.over, rows, 1/float64(len(rows)))
	if e.noising != nil {
		e.noising.AddNoise(t.batch, t.stream.At(e.Config.Seed, stream.Objective, uint64(iteration), uint64(l), 1).Rand)
	}
	losses.BindImputer(t.program, e.drawn, t.batch)
	rng := t.stream.At(e.Config.Seed, stream.Train, uint64(iteration), uint64(l))
	if t.singles != nil {
		rng.Singles(t.program.SingleInput(losses.InputNoise))
	} else {
		rng.Normals(t.program.Input(losses.InputNoise))
	}
	run := t.program.RunAgain // the model is constant over these steps
	if l == 0 {
		run = t.program.Run
	}
	if err := run(); err != nil {
		return err
	}
	if t.singles != nil {
		t.adam.StepSingle(e.Imputer.Params(), t.singles)
	} else {
		t.adam.Step(e.Imputer.Params(), t.grads)
	}
	return nil
}

func (e *Engine) Gradient(iteration int, rows []int, weight float64) (Step, error) {
	return e.run(e.instead(rows), iteration, weight, (*Engine).one)
}

// run returns the sums over batches, in their order.
func (e *Engine) run(in condensed, iteration int, weight float64, batch batchStep) (Step, error) {
	if len(e.workers) == 0 {
		return Step{}, fmt.Errorf("method %s makes no steps over rows", e.Estimator.Name)
	}
	n := (len(in.rows) + e.Config.Batch - 1) / e.Config.Batch
	e.parts = append(e.parts, make([]part, max(0, n-len(e.parts)))...)
	var err error
	if workers := min(n, len(e.workers)); workers > 1 {
		pool := panics.NewGroup()
		for k := range workers {
			pool.Go(func() error { return e.share(k, in, iteration, weight, batch) })
		}
		err = pool.Wait()
	} else {
		err = panics.Caught(func() error { return e.share(0, in, iteration, weight, batch) })
	}
	if err != nil {
		return Step{}, err
	}
	total := &e.parts[0]
	for i := range n {
		p := &e.parts[i]
		if p.err != nil {
			return Step{}, p.err
		}
		if i == 0 {
			continue
		}
		total.Loss += p.Loss
		total.LogLikelihood += p.LogLikelihood
		total.EffectiveSize += p.EffectiveSize
		total.sized += p.sized
		for q, g := range p.Grads {
			floats.Add(total.Grads[q], g)
		}
		floats.Add(total.Moments, p.Moments)
	}
	s := total.Step
	s.EffectiveSize /= float64(total.sized)
	return s, nil
}

// fill sets the worker's batch to all rows of in.
func (w *worker) fill(in condensed, weight float64) {
	if w.batch.Holds(in.table, in.rows, weight) {
		return
	}
	w.batch.Fill(in.table, in.rows, weight)
	if in.counts != nil {
		for i, row := range in.rows {
			w.batch.Weight[i] *= in.counts[row]
		}
	}
}

// share runs every batch of worker k; errors stay in the parts.
func (e *Engine) share(k int, in condensed, iteration int, weight float64, batch batchStep) error {
	all, size := in.rows, e.Config.Batch
	for i := k; i*size < len(all); i += len(e.workers) {
		in.rows = all[i*size : min((i+1)*size, len(all))]
		e.parts[i].err = batch(e, e.workers[k], &e.parts[i], iteration, i, in, weight)
	}
	return nil
}

// one sets p to the sums of a batch of a gradient.
func (e *Engine) one(w *worker, p *part, iteration, index int, of condensed, weight float64) error {
	w.fill(of, weight)
	if w.program == nil {
		if err := w.compile(); err != nil {
			return err
		}
	}
	in := w.program
	own := w.objective.At(e.Config.Seed, stream.Objective, uint64(iteration), uint64(index)).Rand
	if e.noising != nil {
		e.noising.AddNoise(w.batch, own)
	}
	rng := w.stream.At(e.Config.Seed, stream.Impute, uint64(iteration), uint64(index))
	var err error
	if w.single != nil {
		err = w.single.CompleteSingle(w.batch, in.SingleInput(losses.InputX), in.SingleInput(losses.InputLogProposal), rng)
	} else {
		err = w.source.Complete(w.batch, in.Input(losses.InputX), in.Input(losses.InputLogProposal), rng)
	}
	if err != nil {
		return err
	}
	losses.Bind(in, w.loss, e.Objective, w.batch, own)
	if err := in.Run(); err != nil {
		return err
	}
	if p.Grads == nil {
		for _, q := range e.params {
			p.Grads = append(p.Grads, make([]float64, len(q.Value)))
		}
	}
	for q, param := range e.params {
		copy(p.Grads[q], in.Grad(param))
	}
	p.Loss, p.EffectiveSize, p.sized, p.Moments = in.Output(losses.OutputReported)[0], 0, 0, nil
	if !in.HasOutput(losses.OutputWeights) || !e.Estimator.Draws() {
		return nil
	}
	r := e.Config.Draws
	w.sizes = losses.EffectiveSize(w.sizes, in.Output(losses.OutputWeights)[:len(of.rows)*r], r)
	for i, size := range w.sizes {
		if slices.Contains(w.batch.Mask[i*e.Table.D:(i+1)*e.Table.D], 0) {
			p.EffectiveSize += size
			p.sized++
		}
	}
	return nil
}

// Step trains the imputer on the window's rows with missing cells, then returns the gradient over
// rows. It returns a *DivergedError if a number is not finite.
func (e *Engine) Step(ctx context.Context, iteration int, over Window, rows []int, weight float64) (Step, error) {
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	if err := e.trainImputer(iteration, over); err != nil {
		return Step{}, err
	}
	in := condensed{table: over.Table, rows: rows, counts: e.Counts}
	if over.Table == e.Table {
		in = e.instead(rows)
	}
	s, err := e.run(in, iteration, weight, (*Engine).one)
	if err != nil {
		return s, err
	}
	if !Finite(s.Loss) {
		return s, &DivergedError{iteration, "loss"}
	}
	for _, g := range s.Grads {
		if !Finite(g...) {
			return s, &DivergedError{iteration, "gradient"}
		}
	}
	return s, nil
}

func Finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func (e *Engine) Report(p Progress) {
	if e.Config.Observe != nil {
		e.Config.Observe(p)
	}
}

// Gradient returns one parameter gradient over all rows, each with weight 1/n, with an untrained
// imputer; one slice per parameter.
func Gradient(p Problem, c Config, iteration int) (loss float64, grads [][]float64, err error) {
	e, err := New(p, c)
	if err != nil {
		return 0, nil, err
	}
	s, err := e.Gradient(iteration, p.Table.AllRows(), 1/float64(p.Table.RowCount()))
	return s.Loss, s.Grads, err
}

const smallSize = 2.0 // effective draws below which averages are unreliable

func (e *Engine) Degenerate(size float64) []string {
	if !e.Estimator.Draws() || math.IsNaN(size) || size >= smallSize || e.Config.Draws == 1 {
		return nil
	}
	return []string{fmt.Sprintf("the importance weights are degenerate: the effective sample size is %.1f of %d draws per row; use var or exact, or another proposal", size, e.Config.Draws)}
}

func (p Problem) LeftOut() []string {
	lost, cells := p.Weight.LeftOut(p.Table.Observed, p.Domain)
	if lost == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d observed cells are left out of the objective: a half-space ties them to missing cells that have bounds of their own", lost, cells)}
}

// DivergedError means that a number was not finite. The parameters are those before the step.
type DivergedError struct {
	Iteration int
	What      string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the fit diverged: the %s was not finite at iteration %d", e.What, e.Iteration+1)
}

// Diverged reports whether a step failed because a number is not finite or there is no
// distribution.
func Diverged(err error) bool {
	var diverged *DivergedError
	return errors.As(err, &diverged) || errors.Is(err, losses.ErrNotPositiveDefinite)
}
