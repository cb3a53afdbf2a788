package path

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

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
	Held   [][]float64 // a fold each, an α each: log density of the rows held out; of rows known by their moments a score each; nil: not done
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
)

// pilot fits the ridge pilot to the run's rows, unless that is done: by turns of the
// expectation step of complete data and em.Ridge. α is the given one or that with the
// greatest likelihood of rows held out, in five folds.
func (r *Run) pilot(ctx context.Context) error {
	s := &r.State.Pilot
	if s.Packed != nil {
		return nil
	}
	if s.Alpha = r.Config.Penalty.Alpha; s.Alpha == 0 {
		choose := r.holdOut
		if r.Table.Counted != nil {
			choose = r.informed
		}
		if err := choose(ctx); err != nil {
			return err
		}
		s.Alpha, s.Chosen = s.best(), true
	}
	f, err := r.newPilotFit(r.rows, r.Engine.Config.Workers)
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
	return r.save()
}

// holdOut makes what is left of the folds.
func (r *Run) holdOut(ctx context.Context) error {
	s := &r.State.Pilot
	if s.Held == nil {
		s.Held = make([][]float64, pilotFolds)
	}
	folds := r.folds()
	condensing, err := r.newPilotFit(nil, 1)
	if err != nil {
		return err
	}
	err = r.eachFold(ctx, folds, func(_ context.Context, k int) error {
		condensing.Engine.Condense(folds[k].heldOut)
		return nil
	})
	if err != nil {
		return err
	}
	defer func() {
		for _, fold := range folds {
			condensing.Engine.Forget(fold.heldOut)
		}
	}()
	var mu sync.Mutex
	return r.eachFold(ctx, folds, func(ctx context.Context, k int) error {
		held, err := r.heldOut(ctx, folds, k)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		s.Held[k] = held
		return r.save()
	})
}

// eachFold does something for each fold that is not done, as many at a time as there are workers.
func (r *Run) eachFold(ctx context.Context, folds []rowPart, do func(ctx context.Context, k int) error) error {
	pool, ctx := panics.WithContext(ctx)
	pool.SetLimit(r.Engine.Config.Workers)
	for k := range folds {
		if r.State.Pilot.Held[k] == nil {
			pool.Go(func() error { return do(ctx, k) })
		}
	}
	return pool.Wait()
}

// folds are those of the run's rows.
func (r *Run) folds() []rowPart {
	rows := slices.Sorted(slices.Values(r.rows))
	folds := crossValidation{}.parts(Selection{Folds: min(pilotFolds, len(rows))}, len(rows), r.Engine.Config.Seed)
	for _, fold := range folds {
		for i, place := range fold.heldOut {
			fold.heldOut[i] = rows[place]
		}
	}
	return folds
}

// heldOut is the log density of the k-th fold's rows at each α; −Inf from where no pilot exists.
// What is held out by the folds is condensed.
func (r *Run) heldOut(ctx context.Context, folds []rowPart, k int) ([]float64, error) {
	fold := folds[k]
	var others [][]int
	for l, other := range folds {
		if l != k {
			others = append(others, other.heldOut)
		}
	}
	f, err := r.newPilotFit(fold.fitted(slices.Sorted(slices.Values(r.rows))), 1, others...)
	if err != nil {
		return nil, err
	}
	defer f.Engine.Forget(f.Rows)
	held := slices.Repeat([]float64{math.Inf(-1)}, len(pilotAlphas))
	for i, alpha := range pilotAlphas {
		err := f.fit(ctx, alpha)
		if engine.Diverged(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		step, err := f.Engine.Gradient(0, fold.heldOut, 1)
		if err != nil {
			return nil, err
		}
		held[i] = step.LogLikelihood
	}
	return held, nil
}

// best is the α with the greatest likelihood of all folds together, of equal ones the largest.
func (s *Pilot) best() float64 {
	best, most := 0, math.Inf(-1)
	for i := range pilotAlphas {
		sum := 0.0
		for _, fold := range s.Held {
			if fold != nil {
				sum += fold[i]
			}
		}
		if sum > most {
			best, most = i, sum
		}
	}
	return pilotAlphas[best]
}

func (s *Pilot) describe() string {
	how := "as given"
	if s.Chosen {
		how = fmt.Sprintf("by the likelihood of rows held out, %d folds", pilotFolds)
	}
	if s.Chosen && len(s.Held) == 1 {
		how = "by the likelihood less the degrees of freedom, for moments have no rows to hold out"
	}
	return fmt.Sprintf("of shrinkage α = %g (%s)", s.Alpha, how)
}

// pilotFit are the turns of a ridge pilot.
type pilotFit struct{ em.Turns }

// newPilotFit starts at no correlation, with the columns' observed second moments. The rows are
// those of some parts together, which are condensed; or of none.
func (r *Run) newPilotFit(rows []int, workers int, parts ...[]int) (f pilotFit, err error) {
	p, d := r.Problem, r.Table.D
	m := model.NewGaussian(d, model.Natural)
	p.Model, p.Objective = m, losses.Classical{}
	_, _, v := secondMoments(r.Problem)
	for j := range d {
		m.Packed.Value[graph.PackedIndex(d, j, j)] = 1 / v[j]
	}
	e, err := engine.New(p, engine.Config{Method: "em-exact", Batch: 250, Seed: r.Engine.Config.Seed, Workers: workers})
	if err != nil {
		return f, err
	}
	e.Counts = r.Counts
	f.Turns = em.Turns{Engine: e, Model: m, Rows: byPattern(r.Table, rows), Bounds: &optim.PositiveDefinite{}}
	if parts == nil {
		e.Condense(f.Rows)
	} else {
		e.CondenseUnion(f.Rows, parts)
	}
	return f, nil
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

// belowThreshold says which elements of packed P are a pair's whose size is not above a threshold.
func belowThreshold(sizes []float64, d int, threshold float64) []bool {
	var held []bool
	for j, i := 0, 0; j < d; j++ {
		held = append(held, false)
		for k := j + 1; k < d; k, i = k+1, i+1 {
			held = append(held, !(sizes[i] > threshold))
		}
	}
	return held
}
