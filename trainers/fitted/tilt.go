package fitted

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/nets"
)

// Importance samples of a mixture m for integrals over a density q, with weights ω = q/m.
const (
	pooledDraws = 4000 // of whole rows
	gapDraws    = 20   // of a row's missing cells
	tiltTurns   = 500  // EM iterations, at most
)

// weighted is log ω = log q(x) − log m(x), −Inf outside the domain, in the units after Transform.
type weighted struct {
	density *model.Evaluator
	domain  *domain.Domain
	given   *model.Given // of complete rows
	d, size int
}

// proposedRows are the rows per evaluation.
const proposedRows = 500

func newWeighted(q model.Model, s *domain.Domain, m *model.Mixed) (*weighted, error) {
	density, err := model.NewEvaluator(q, proposedRows, false)
	return &weighted{density, s, m.Given(slices.Repeat([]bool{true}, q.Dim())), q.Dim(), proposedRows}, err
}

// at returns log ω (n), and the components' shares of m (n, K).
func (w *weighted) at(ctx context.Context, x []float64) (log, parts []float64, err error) {
	block, joint := make([]float64, w.size*w.d), make([]float64, w.given.Components())
	for part := range slices.Chunk(x, len(block)) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for at := copy(block, part); at < len(block); at += w.d {
			copy(block[at:], part[:w.d])
		}
		values, _, err := w.density.At(block)
		if err != nil {
			return nil, nil, err
		}
		for i := range len(part) / w.d {
			row := part[i*w.d : (i+1)*w.d]
			v := values[i] - w.given.Posterior(row, joint)
			if math.IsNaN(v) || !w.domain.Contains(row) {
				v = math.Inf(-1)
			}
			log, parts = append(log, v), append(parts, joint...)
		}
	}
	return log, parts, nil
}

// truncation truncates ω at √n times its local mean, which bounds the variance of averages (Ionides
// 2008, "Truncated importance sampling"): 1/Σ_k r_k/c_k, c_k the mean in component k and r_k its
// share at x.
func truncation(w, pool, pooledParts []float64) (truncate func(log, parts []float64), err error) {
	k, n := len(w), len(pool)
	means, terms, around := make([]float64, k), make([]float64, n), make([]float64, k)
	for c := range k {
		for s, v := range pool {
			terms[s] = v + math.Log(pooledParts[s*k+c])
		}
		means[c] = floats.LogSumExp(terms) - math.Log(float64(n)*w[c])
	}
	unit := floats.Max(means)
	if math.IsInf(unit, 0) || math.IsNaN(unit) {
		return nil, errors.New("no row of a mixture fitted to the table is possible under the model")
	}
	return func(log, parts []float64) {
		for i, v := range log {
			for c, mean := range means {
				around[c] = math.Log(parts[i*k+c]) - max(mean, unit-mostApart)
			}
			log[i] = math.Exp(min(v, math.Log(float64(n))/2-floats.LogSumExp(around)) - unit)
		}
	}, nil
}

// mostApart is the largest accepted difference of the components' log means of ω.
const mostApart = 500

// CompleteBy returns the rows (n, d) with missing cells drawn from a mixture, valid under MAR.
func CompleteBy(m *model.Mixed, t *data.Table, seed uint64) []float64 {
	done, rng, given := slices.Clone(t.Values), stream.New(seed, stream.Sample, 2), m.ByPattern()
	for i := range t.N {
		given(t.Observed[i*t.D:(i+1)*t.D]).Complete(done[i*t.D:(i+1)*t.D], rng)
	}
	return done
}

// Complete completes a table, in the units of Saved.InUnits, by a fitted mixture; draws have
// weights q/m if the model has a density. An energy with one noise level is tilted first
// (docs/theory/models.md#eq-tilt).
func Complete(ctx context.Context, s *Saved, t *data.Table, m *model.Mixed, seed uint64) ([]float64, error) {
	done, rng, d := slices.Clone(t.Values), stream.New(seed, stream.Sample, 3), t.D
	e, tilted := s.Model.(nets.Tilted)
	if tilted {
		s.Model, _, _ = e.Split() // an earlier tilt is replaced
	}
	evaluator, err := model.NewEvaluator(s.InUnits(), 1, false)
	if err != nil {
		return nil, err
	}
	if evaluator.ScoreOnly() {
		return CompleteBy(m, t, seed), nil
	}
	given := m.ByPattern()
	var x []float64
	first := []int{0} // first draw of each row
	for i := range t.N {
		observed, n := t.Observed[i*d:(i+1)*d], gapDraws
		if !slices.Contains(observed, false) {
			n = 1
		}
		for range n {
			x = append(x, t.Values[i*d:(i+1)*d]...)
			given(observed).Complete(x[len(x)-d:], rng)
		}
		first = append(first, len(x)/d)
	}
	pool, err := m.SampleRows(pooledDraws, nil, rng)
	if err != nil {
		return nil, err
	}
	w, err := newWeighted(s.InUnits(), s.Domain, m)
	if err != nil {
		return nil, err
	}
	omega, parts, err := w.at(ctx, x)
	if err != nil {
		return nil, err
	}
	pooled, pooledParts, err := w.at(ctx, pool)
	if err != nil {
		return nil, err
	}
	truncate, err := truncation(m.Weights, pooled, pooledParts)
	if err != nil {
		return nil, err
	}
	truncate(omega, parts)
	truncate(pooled, pooledParts)
	if tilted {
		s.Model = tiltBy(e, m, x, omega, parts, first, pool, pooled, pooledParts)
	}
	for i := range t.N {
		k := pickOne(omega[first[i]:first[i+1]], rng)
		copy(done[i*d:(i+1)*d], x[(first[i]+k)*d:])
	}
	return done, nil
}

// tiltBy returns an energy tilted by m and multiplies omega by the tilt's factor; parts and
// pooledParts are overwritten by shares.
func tiltBy(e nets.Tilted, m *model.Mixed, x, omega, parts []float64, first []int, pool, pooled, pooledParts []float64) nets.Tilted {
	d := m.Dim()
	sharp := *m
	sharp.Covariances = nil
	for _, v := range m.Covariances {
		sharp.Covariances = append(sharp.Covariances, floats.ScaleTo(make([]float64, len(v)), 1./nets.Sharpness, v))
	}
	all, k := sharp.Given(slices.Repeat([]bool{true}, d)), len(m.Weights)
	for i := range omega {
		all.Posterior(x[i*d:(i+1)*d], parts[i*k:(i+1)*k])
	}
	for i := range pooled {
		all.Posterior(pool[i*d:(i+1)*d], pooledParts[i*k:(i+1)*k])
	}
	a := tiltOf(m.Weights, omega, parts, first, pooled, pooledParts)
	for i := range omega {
		factor := 0.0
		for k, v := range parts[i*len(a) : (i+1)*len(a)] {
			factor += v * a[k] / m.Weights[k]
		}
		omega[i] *= factor
	}
	return e.WithTilt(m, a)
}

// tiltOf returns the mixture weights a whose density times ω maximises the likelihood of the
// observed cells: a mixture of f_k = ω N_k/c_k, c_k = E_{N_k} ω, with shares b_k ∝ a_k c_k. EM
// finds b, with f_k(x_obs) ∝ the mean over a row's draws of ω r_k/(w_k c_k), r_k the share of
// component k with covariances divided by nets.Sharpness.
func tiltOf(w, omega, parts []float64, first []int, pooled, pooledParts []float64) (a []float64) {
	n, k := len(first)-1, len(w)
	c := make([]float64, k)
	for s, v := range pooled {
		floats.AddScaled(c, v/float64(len(pooled)), pooledParts[s*k:(s+1)*k])
	}
	for j := range c {
		c[j] = max(c[j]/w[j], 1e-250)
	}
	f := make([]float64, n*k)
	for i := range n {
		for s := first[i]; s < first[i+1]; s++ {
			floats.AddScaled(f[i*k:(i+1)*k], omega[s], parts[s*k:(s+1)*k])
		}
		for j := range k {
			f[i*k+j] /= w[j] * c[j]
		}
	}
	b, next, r := slices.Clone(w), make([]float64, k), make([]float64, k)
	for range tiltTurns {
		copy(next, w) // the prior counts as one row
		for i := range n {
			floats.MulTo(r, b, f[i*k:(i+1)*k])
			if total := floats.Sum(r); total > 0 {
				floats.AddScaled(next, 1/total, r)
			}
		}
		floats.Scale(1/floats.Sum(next), next)
		moved := floats.Distance(b, next, math.Inf(1))
		copy(b, next)
		if moved < 1e-6 {
			break
		}
	}
	a = floats.DivTo(b, b, c)
	floats.Scale(1/floats.Sum(a), a)
	return a
}

// MatchMoments returns an energy times exp(λᵀx − ½ Σ_j δ_j x_j²) with which its rows drawn (m, d),
// weighted by this factor, have the means and variances of rows (n, d): the exponential tilt of least
// Kullback-Leibler divergence, with a small ridge. It returns the energy itself if there is none.
func MatchMoments(e nets.Tilted, rows, drawn []float64) nets.Tilted {
	d, m := e.Dim(), len(drawn)/e.Dim()
	mean, sd, f, target := make([]float64, d), make([]float64, d), mat.NewDense(m, 2*d, nil), make([]float64, 2*d)
	for j := range d {
		mean[j], sd[j] = stat.PopMeanStdDev(columnOf(rows, j, d), nil)
		for i, x := range columnOf(drawn, j, d) {
			z := (x - mean[j]) / sd[j]
			f.Set(i, j, z)
			f.Set(i, d+j, z*z/2)
		}
		target[d+j] = 0.5
	}
	weights := mat.NewVecDense(m, nil)
	weigh := func(at []float64) (log float64) {
		weights.MulVec(f, mat.NewVecDense(2*d, at))
		log = floats.LogSumExp(weights.RawVector().Data)
		for i, v := range weights.RawVector().Data {
			weights.SetVec(i, math.Exp(v-log))
		}
		return log
	}
	const ridge = 0.01
	dual := optimize.Problem{
		Func: func(at []float64) float64 {
			return weigh(at) - floats.Dot(at, target) + ridge/2*floats.Dot(at, at)
		},
		Grad: func(grad, at []float64) {
			weigh(at)
			mat.NewVecDense(2*d, grad).MulVec(f.T(), weights)
			floats.Sub(grad, target)
			floats.AddScaled(grad, ridge, at)
		},
		Hess: func(hess *mat.SymDense, at []float64) {
			weigh(at)
			weights.ScaleVec(float64(m), weights)
			stat.CovarianceMatrix(hess, f, weights.RawVector().Data)
			for j := range 2 * d {
				hess.SetSym(j, j, hess.At(j, j)+ridge)
			}
		},
	}
	found, err := optimize.Minimize(dual, make([]float64, 2*d), &optimize.Settings{GradientThreshold: 1e-6}, &optimize.Newton{})
	if err != nil || !engine.Finite(found.X...) {
		return e
	}
	linear, quadratic := make([]float64, d), make([]float64, d)
	for j, s := range sd {
		quadratic[j] = -found.X[d+j] / (s * s)
		linear[j] = found.X[j]/s + quadratic[j]*mean[j]
	}
	return e.Bent(linear, quadratic)
}

// pickOne is uniform if all are 0.
func pickOne(p []float64, rng *rand.Rand) int {
	u := rng.Float64() * floats.Sum(p)
	for k, v := range p {
		if u -= v; u < 0 {
			return k
		}
	}
	return floats.MaxIdx(p)
}
