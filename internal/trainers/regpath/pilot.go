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
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
)

// Pilot is the ridge estimate of a penalty.
type Pilot struct {
	Scores []float64 // by pilotAlphas tried: log likelihood minus degrees of freedom
	Alpha  float64
	Packed []float64 // P, packed; nil: not fitted
	Mean   []float64
}

// pilotAlphas are in descending order, with warm starts.
var pilotAlphas = []float64{0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02}

const (
	pilotTurns     = 200  // per α
	pilotTolerance = 1e-3 // largest movement by an iteration, in units of √(P_jj P_kk)

	adaptiveFloor = 0.1 // bounds the weights of weak pairs
)

// fitPilot fits the ridge pilot by em.Ridge. α maximises the log likelihood of the observed cells
// minus the degrees of freedom (AIC), times 1 + (d + 1)/n̄, n̄ the mean number of common rows of a
// pair (docs/theory/penalties.md#eq-ridge-freedom), until the first decrease.
func fitPilot(ctx context.Context, p *problem) error {
	s := &p.State.Pilot
	if s.Packed != nil {
		return nil
	}
	f, err := newPilotFit(p, p.rows, p.Engine.Config.Workers)
	if err != nil {
		return err
	}
	t, given := p.Table, p.Config.Penalty.Alpha
	left, both := t.EffectiveRows()/float64(t.RowCount()), meanPairCount(p.Problem)/float64(t.RowCount())
	few := 1.0
	if !p.Domain.Bounded() { // with a support, whose result is the pilot itself, more shrinkage ranks pairs worse
		few += float64(t.D+1) / (both * left * float64(t.RowCount()))
	}
	best, most := Pilot{}, math.Inf(-1)
	for _, alpha := range append(slices.DeleteFunc(slices.Clone(pilotAlphas), func(a float64) bool { return a <= given }), given) {
		if alpha == 0 {
			break
		}
		err := f.fit(ctx, alpha)
		if err != nil && (given != 0 || !engine.Diverged(err)) {
			return err
		}
		score := math.Inf(-1)
		if err == nil && given == 0 {
			step, _, err := em.Expect(f.Engine, f.Rows, f.At(), nil)
			if err != nil {
				return err
			}
			score = left*step.LogLikelihood - freedom(f.Model.Precision(), alpha, both)*few
			best.Scores = append(best.Scores, score)
		}
		if given == 0 && !(score > most) {
			break
		}
		most, best.Alpha, best.Packed, best.Mean = score, alpha, slices.Clone(f.Model.Packed.Value), f.Model.Mean()
	}
	*s = best
	return p.save()
}

func (s *Pilot) describe() string {
	how := "as given"
	if s.Scores != nil {
		how = "by likelihood and degrees of freedom"
	}
	return fmt.Sprintf("with shrinkage α = %g (%s)", s.Alpha, how)
}

type pilotFit struct{ em.Turns }

func newPilotFit(p *problem, rows []int, workers int) (f pilotFit, err error) {
	q, d := p.Problem, p.Table.D
	q.Domain, q.Weight = nil, domain.Weight{}
	m := model.NewGaussian(d, model.Natural)
	q.Model, q.Objective = m, losses.Classical
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
	e.Condense(f.Rows)
	return f, nil
}

// fit iterates. The error is numerical without a pilot.
func (f pilotFit) fit(ctx context.Context, alpha float64) error {
	s := em.State{Anderson: optim.Anderson{Memory: em.Memory}}
	for s.Count < pilotTurns && (s.Count == 0 || s.Relative > pilotTolerance) {
		switch err := f.Turn(ctx, &s, em.Ridge{Alpha: alpha}.Minimise); {
		case engine.Diverged(err):
			return fmt.Errorf("the ridge pilot at α = %g: %w", alpha, err)
		case err != nil:
			return err
		}
	}
	f.Settle(&s)
	return nil
}

// freedom returns the degrees of freedom of a ridge estimate P = ((1 − α) S + α diag S)⁻¹, by which
// its likelihood is greater on the fitted rows than on others:
//
//	½ Σ_jk a_jk (M_jk M_kj + M_jj M_kk),   M = PS,   a_jk = (1 − α) π / (π + α (1 − π)),   a_jj = 1
//
// with π the share of rows with both columns of a pair.
func freedom(p *mat.SymDense, alpha, both float64) (sum float64) {
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
			a := (1 - alpha) * both / (both + alpha*(1-both))
			if j == k {
				a = 1
			}
			sum += a * (m.At(j, k)*m.At(k, j) + m.At(j, j)*m.At(k, k)) / 2
		}
	}
	return sum
}

// adaptiveWeights returns the packed weights of the penalty λ Σ_{j<k} w_jk |P_jk| (Zou 2006; for
// networks Zhou, Rütimann, Xu & Bühlmann 2011) from absolute partial correlations r with median m
// (docs/theory/penalties.md#eq-adaptive):
//
//	w_jk = 1 / (r_jk / m + 1/10)
//
// and 0 on the diagonal.
func adaptiveWeights(r []float64, d int) []float64 {
	m, weights := median(r), make([]float64, d*(d+1)/2)
	eachPair(d, func(i, j, k int) {
		w := 1.0 // pilot without correlations
		if m > 0 {
			w = 1 / (r[i]/m + adaptiveFloor)
		}
		weights[graph.PackedIndex(d, j, k)] = w
	})
	return weights
}

// thresholds is the schedule of the penalty "ridge": the pilot with pairs below λ set to 0
// (docs/theory/penalties.md#ridge).
type thresholds struct {
	*problem
	schedule           // computes the result
	sizes    []float64 // strengths of pairs
}

func (t *thresholds) iterate(ctx context.Context, k int) (Point, error) {
	if ctx.Err() != nil {
		return Point{}, ctx.Err()
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
	return t.closeBlock(t.lambdas[k]), nil
}

// chiMedian is the median of χ² with one degree of freedom.
const chiMedian = 0.4549364231195724

// strengths returns the absolute partial correlations r_jk of a pilot of d columns, in the order of
// network.Adjacency, shrunk by the average strength of their columns' pairs (empirical Bayes):
//
//	|r_jk| v_jk / (v_jk + σ²),   v_jk = max(m − σ² + B (a_j + a_k), σ²/10)
//
// m + a_j + a_k with Σ a_j = 0 is the least-squares fit to r_jk², B = max(0, 1 − 1/F) with F its F
// statistic, and σ² the smaller of 1/rows and the median of r_jk² over that of χ²₁; rows is the
// mean number of common rows of a pair. If B = 0 or d < 5 they are |r_jk|
// (docs/theory/penalties.md#eq-strengths).
func strengths(pilot []float64, d int, rows float64) []float64 {
	r := sizes(pilot, d)
	if d < 5 {
		return r
	}
	m, a := 0.0, make([]float64, d)
	eachPair(d, func(i, j, k int) {
		m += r[i] * r[i] / float64(len(r))
		a[j] += r[i] * r[i]
		a[k] += r[i] * r[i]
	})
	between, within := 0.0, 0.0
	for j := range a {
		a[j] = (a[j] - float64(d-1)*m) / float64(d-2)
		between += a[j] * a[j] * float64(d-2) / float64(d-1)
	}
	eachPair(d, func(i, j, k int) {
		within += math.Pow(r[i]*r[i]-m-a[j]-a[k], 2) / float64(len(r)-d)
	})
	b, noise := 1-within/between, min(1/rows, math.Pow(median(r), 2)/chiMedian)
	if !(b > 0 && noise > 0) {
		return r
	}
	eachPair(d, func(i, j, k int) {
		v := max(m-noise+b*(a[j]+a[k]), noise/10)
		r[i] *= v / (v + noise)
	})
	return r
}

func eachPair(d int, visit func(i, j, k int)) {
	for j, i := 0, 0; j < d; j++ {
		for k := j + 1; k < d; k, i = k+1, i+1 {
			visit(i, j, k)
		}
	}
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
