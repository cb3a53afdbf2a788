package regpath

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/panics"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/optim"
)

// Pilot is the ridge estimate that a penalty goes by, and how its α was found.
type Pilot struct {
	Held   [][]float64 // a fold each, an α each as far as they were tried: log density of the rows held out; of rows known by their moments a score each; nil: not done
	Chosen bool        // α was chosen by these, not given
	Alpha  float64
	Packed []float64 // P, packed; nil: not fitted
	Mean   []float64
}

// pilotAlphas are tried, from the strongest shrinkage down, each from the estimate before.
var pilotAlphas = []float64{0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02}

const (
	pilotFolds     = 5
	pilotTurns     = 200  // of an α
	pilotTolerance = 1e-3 // of a turn's largest movement, in units of √(P_jj P_kk)

	adaptiveFloor = 0.1 // bounds the weights of pairs that the pilot nearly leaves out
)

// fitPilot fits the ridge pilot to the rows, unless that is done: by turns of the expectation step of
// complete data and em.Ridge. α is the given one or that with the greatest likelihood of rows held
// out, in five folds.
func fitPilot(ctx context.Context, p *problem) error {
	s := &p.State.Pilot
	if s.Packed != nil {
		return nil
	}
	if s.Alpha = p.Config.Penalty.Alpha; s.Alpha == 0 {
		choose := holdOut
		if p.Table.Counted != nil {
			choose = informed
		}
		if err := choose(ctx, p); err != nil {
			return err
		}
		s.Alpha, s.Chosen = s.best(), true
	}
	f, err := newPilotFit(p, p.rows, p.Engine.Config.Workers)
	if err != nil {
		return err
	}
	for _, alpha := range pilotAlphas { // from strong shrinkage down, for the turns' sake
		if alpha > s.Alpha {
			if err := f.fit(ctx, alpha); err != nil {
				return err
			}
		}
	}
	if err := f.fit(ctx, s.Alpha); err != nil {
		return err
	}
	s.Packed, s.Mean = slices.Clone(f.Model.Packed.Value), f.Model.Mean()
	return p.save()
}

// holdOut scores each α by the log density of rows held out, in five folds, as many at a time as
// there are workers.
func holdOut(ctx context.Context, p *problem) error {
	rows := slices.Sorted(slices.Values(p.rows))
	folds := folds(min(pilotFolds, len(rows)), len(rows), p.Engine.Config.Seed)
	for _, fold := range folds {
		for i, place := range fold.heldOut {
			fold.heldOut[i] = rows[place]
		}
	}
	each := func(do func(ctx context.Context, k int) error) error {
		pool, ctx := panics.WithContext(ctx)
		pool.SetLimit(p.Engine.Config.Workers)
		for k := range folds {
			pool.Go(func() error { return do(ctx, k) })
		}
		return pool.Wait()
	}
	condensing, err := newPilotFit(p, nil, 1)
	if err != nil {
		return err
	}
	if err := each(func(_ context.Context, k int) error {
		condensing.Engine.Condense(folds[k].heldOut)
		return nil
	}); err != nil {
		return err
	}
	fits := make([]pilotFit, len(folds))
	defer func() {
		for k, fold := range folds {
			condensing.Engine.Condensed.Forget(fold.heldOut)
			condensing.Engine.Condensed.Forget(fits[k].Rows)
		}
	}()
	if err := each(func(_ context.Context, k int) (err error) {
		var others [][]int
		for l, other := range folds {
			if l != k {
				others = append(others, other.heldOut)
			}
		}
		fits[k], err = newPilotFit(p, folds[k].fitted(rows), 1, others...)
		return err
	}); err != nil {
		return err
	}
	p.State.Pilot.Held = make([][]float64, len(folds))
	return p.State.Pilot.score(func(alpha float64) error {
		return each(func(ctx context.Context, k int) error {
			likelihood, err := fits[k].likelihood(ctx, alpha, folds[k].heldOut)
			p.State.Pilot.Held[k] = append(p.State.Pilot.Held[k], likelihood)
			return err
		})
	})
}

// score calls fit with each α, which adds to Held, until the sum over folds falls: over α it has one
// maximum.
func (s *Pilot) score(fit func(alpha float64) error) error {
	for i, alpha := range pilotAlphas {
		if err := fit(alpha); err != nil {
			return err
		}
		if i > 0 && !(s.sum(i) >= s.sum(i-1)) {
			break
		}
	}
	return nil
}

// informed scores each α where the rows are known by their moments, so that none can be held
// out: by the log likelihood of the pilot less its degrees of freedom, as Akaike does
// (docs/theory/penalties.md#eq-ridge-freedom).
func informed(ctx context.Context, p *problem) error {
	s := &p.State.Pilot
	f, err := newPilotFit(p, p.rows, p.Engine.Config.Workers)
	if err != nil {
		return err
	}
	s.Held = make([][]float64, 1)
	return s.score(func(alpha float64) error {
		likelihood, err := f.likelihood(ctx, alpha, f.Rows)
		s.Held[0] = append(s.Held[0], likelihood-freedom(f.Model.Precision(), alpha))
		return err
	})
}

// sum is the score of α number i, over all folds.
func (s *Pilot) sum(i int) (sum float64) {
	for _, fold := range s.Held {
		sum += fold[i]
	}
	return sum
}

// best is the α with the greatest score, of equal ones the largest.
func (s *Pilot) best() float64 {
	best := 0
	for i := range s.Held[0] {
		if s.sum(i) > s.sum(best) {
			best = i
		}
	}
	return pilotAlphas[best]
}

func (s *Pilot) describe() string {
	how := "as given"
	switch {
	case s.Chosen && len(s.Held) == 1:
		how = "by the likelihood less the degrees of freedom, for moments have no rows to hold out"
	case s.Chosen:
		how = fmt.Sprintf("by the likelihood of rows held out, %d folds", pilotFolds)
	}
	return fmt.Sprintf("of shrinkage α = %g (%s)", s.Alpha, how)
}

// pilotFit are the turns of a ridge pilot.
type pilotFit struct{ em.Turns }

// newPilotFit starts at no correlation, with the columns' observed second moments. The rows are
// those of some parts together, which are condensed; or of none.
func newPilotFit(p *problem, rows []int, workers int, parts ...[]int) (f pilotFit, err error) {
	q, d := p.Problem, p.Table.D
	q.Domain, q.Weight = nil, domain.Weight{}
	m := model.NewGaussian(d, model.Natural)
	q.Model, q.Objective = m, losses.Classical{}
	_, _, v := secondMoments(p.Problem)
	for j := range d {
		m.Packed.Value[graph.PackedIndex(d, j, j)] = 1 / v[j]
	}
	e, err := engine.New(q, engine.Config{Method: "em-exact", Batch: 250, Seed: p.Engine.Config.Seed, Workers: workers})
	if err != nil {
		return f, err
	}
	e.Counts = p.Counts
	f.Turns = em.Turns{Engine: e, Model: m, Rows: byPattern(p.Table, rows), Bounds: &optim.PositiveDefinite{}}
	e.Condense(f.Rows, parts...)
	return f, nil
}

// likelihood fits at α and gives the log density of some rows, −∞ where there is no pilot.
func (f pilotFit) likelihood(ctx context.Context, alpha float64, rows []int) (float64, error) {
	err := f.fit(ctx, alpha)
	if engine.Diverged(err) {
		return math.Inf(-1), nil
	}
	if err != nil {
		return 0, err
	}
	p := mat.DenseCopyOf(f.Model.Precision())
	step, err := f.Engine.Moments(rows, f.Model.Location.Value, p.RawMatrix().Data)
	return step.LogLikelihood, err
}

// fit makes turns at α from where the model is until they move no more: accelerated, and
// where that leads astray, as it may on few rows, once more without. Where there is no pilot
// the error is numerical.
func (f pilotFit) fit(ctx context.Context, alpha float64) error {
	start := [2][]float64{slices.Clone(f.Model.Location.Value), slices.Clone(f.Model.Packed.Value)}
	err := f.turns(ctx, alpha, em.Memory)
	if engine.Diverged(err) {
		copy(f.Model.Location.Value, start[0])
		copy(f.Model.Packed.Value, start[1])
		err = f.turns(ctx, alpha, 0)
	}
	if engine.Diverged(err) {
		return fmt.Errorf("the ridge pilot at α = %g: %w", alpha, err)
	}
	return err
}

func (f pilotFit) turns(ctx context.Context, alpha float64, memory int) error {
	s := em.State{Anderson: optim.Anderson{Memory: memory}}
	for s.Count < pilotTurns && (s.Count == 0 || s.Relative > pilotTolerance) {
		if err := f.Turn(ctx, &s, em.Ridge{Alpha: alpha}.Minimise); err != nil {
			return err
		}
	}
	f.Settle(&s)
	return nil
}

// freedom is how many parameters a ridge estimate P = ((1 − α) S + α diag S)⁻¹ counts for: by
// how much its likelihood is greater in the rows that it was fitted to than in others,
//
//	½ Σ_jk a_jk (M_jk M_kj + M_jj M_kk),   M = PS,   a_jk = 1 − α, a_jj = 1
//
// which is d(d+1)/2 without shrinkage.
func freedom(p *mat.SymDense, alpha float64) (sum float64) {
	var factor mat.Cholesky
	var s mat.SymDense
	if !factor.Factorize(p) || factor.InverseTo(&s) != nil {
		return 0
	}
	d := p.SymmetricDim()
	for j := range d {
		for k := j + 1; k < d; k++ {
			s.SetSym(j, k, s.At(j, k)/(1-alpha))
		}
	}
	var m mat.Dense
	m.Mul(p, &s)
	for j := range d {
		for k := range d {
			a := 1 - alpha
			if j == k {
				a = 1
			}
			sum += a * (m.At(j, k)*m.At(k, j) + m.At(j, j)*m.At(k, k)) / 2
		}
	}
	return sum
}

// adaptiveWeights are those of the penalty λ Σ_{j<k} w_jk |P_jk| (Zou 2006; for networks Zhou,
// Rütimann, Xu & Bühlmann 2011), packed, from the sizes r of a pilot's partial correlations and their
// median m,
//
//	w_jk = 1 / (r_jk / m + 1/10)
//
// (docs/theory/penalties.md#eq-adaptive); 0 on the diagonal.
func adaptiveWeights(r []float64, d int) []float64 {
	m, weights := median(r), make([]float64, d*(d+1)/2)
	eachPair(d, func(i, j, k int) {
		w := 1.0 // of a pilot without correlations
		if m > 0 {
			w = 1 / (r[i]/m + adaptiveFloor)
		}
		weights[graph.PackedIndex(d, j, k)] = w
	})
	return weights
}

// thresholds is the schedule of the penalty "ridge": a path without fits, after which another
// settles. Its points are the pilot with the pairs below λ at 0 (docs/theory/penalties.md#ridge).
type thresholds struct {
	*problem
	schedule           // that settles
	sizes    []float64 // of pairs
}

// iterate leaves the pilot's pairs above λ_k, shrunk by one factor where P would not be
// positive definite.
func (t *thresholds) iterate(ctx context.Context, k int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pilot, above := t.State.Pilot, make([]bool, len(t.sizes))
	t.State.Block.Start = slices.Clone(t.packed())
	for i, size := range t.sizes {
		above[i] = size > t.lambdas[k]
	}
	copy(t.packed(), pilot.Packed)
	for i, held := range without(above, t.Table.D) {
		if held {
			t.packed()[i] = 0
		}
	}
	t.posdef.Project(t.model)
	if t.fitsMean() {
		t.model.SetMean(pilot.Mean)
	}
	t.report("path", "λ", k+1, len(t.lambdas), t.lambdas[k], math.NaN(), math.NaN())
	return nil
}

func (t *thresholds) point(lambda float64) Point { return t.closeBlock(lambda) }
