package path

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/internal/panics"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
	"missingscore/trainers/gaussian/pairwise"
)

// likelihoodColumns is for how many columns networks are judged by the likelihood itself.
const likelihoodColumns = 300

// likelihoods sets those of the networks of points that are not done, in parallel, by the
// moments as they came, n the mean number of rows of a pair
// (docs/theory/pairwise.md#eq-pairwise-ebic): with P̂ that of covariance selection
//
//	log L = n (log det P̂ − d) / 2
//
// and above likelihoodColumns the pseudo-likelihood, half the sum over columns, each given its
// neighbours with the residual variance σ_j², whose time grows with the network only
//
//	log L = −n Σ_j log σ_j² / 4
//
// each column by the moments shrunk as little as leaves a σ_j² of 1/n or more of its own
// moment (pairwise.Moments.Levels). NaN where there is no maximum.
func (m *matrix) likelihoods(ctx context.Context, points []int) error {
	state, by := &m.State.Refitted, m.pseudoLikelihood
	if m.Table.D <= likelihoodColumns {
		by = m.likelihood
	}
	var mu sync.Mutex
	pool, ctx := panics.WithContext(ctx)
	pool.SetLimit(m.Engine.Config.Workers)
	for _, i := range points {
		if state.Done[i] {
			continue
		}
		pool.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			likelihood := by(m.joined(m.State.Points[i]))
			mu.Lock()
			defer mu.Unlock()
			state.Done[i], state.Likelihood[i] = true, likelihood
			m.Report(engine.Progress{Stage: "ebic", Unit: "network", Iteration: count(state.Done), Total: len(state.Done), Loss: math.NaN(), EffectiveSize: math.NaN()})
			return nil
		})
	}
	return pool.Wait()
}

func (m *matrix) likelihood(a network.Adjacency) float64 {
	d := m.Table.D
	packed, raw := make([]float64, d*(d+1)/2), make([]float64, d*d)
	for j := range d {
		for k := range d {
			if raw[j*d+k] = m.of.At(0, j, k); j == k || j < k && a.Has(j, k) {
				packed[graph.PackedIndex(d, j, k)] = 1
			}
		}
	}
	var c mat.Cholesky
	if !em.NewSupport(packed, d).Minimise(packed, raw) || !c.Factorize(graph.Unpack(d, packed)) {
		return math.NaN()
	}
	return m.of.Pairs / 2 * (c.LogDet() - float64(d))
}

func (m *matrix) pseudoLikelihood(a network.Adjacency) float64 {
	sum := 0.0
	for j, at := range a.Neighbours() {
		v, ok := m.residual(j, at)
		if !ok {
			return math.NaN()
		}
		sum += math.Log(v)
	}
	return -m.of.Pairs / 4 * sum
}

// residual is σ_j² given some columns.
func (m *matrix) residual(j int, others []int) (v float64, ok bool) {
	for _, alpha := range m.of.Levels() {
		v, ok = pairwise.Residual(func(j, k int) float64 { return m.of.At(alpha, j, k) }, j, others)
		if ok = ok && v*m.of.Pairs >= m.of.At(0, j, j); ok {
			return v, true
		}
	}
	return 0, false
}
