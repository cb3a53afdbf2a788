package fitted

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Importance samples of a mixture m for integrals over a density q, with weights ω = q/m.
const (
	pooledDraws  = 4000 // of whole rows
	gapDraws     = 20   // of a row's missing cells
	tiltTurns    = 500  // EM iterations, at most
	proposedRows = 500  // per evaluation
	mostApart    = 500  // largest accepted difference of the components' log means of ω
)

// weigh returns ω at rows x (n, d) up to a constant, 0 outside the domain; nil if q has no density.
// The last pool rows are draws of m. ω is truncated at √pool times its local mean 1/Σ_k r_k/c_k, c_k
// the mean in component k and r_k its share at x, which bounds the variance of averages (Ionides
// 2008, "Truncated importance sampling").
func weigh(ctx context.Context, q model.Model, s *domain.Domain, m *model.Mixed, x []float64, pool int) (omega []float64, err error) {
	d, k := q.Dim(), len(m.Weights)
	density, err := model.NewEvaluator(q, proposedRows, false)
	if err != nil || density.ScoreOnly() {
		return nil, err
	}
	given, block, joint := m.Given(slices.Repeat([]bool{true}, d)), make([]float64, proposedRows*d), make([]float64, k)
	var parts []float64 // shares of the components (n, K)
	for part := range slices.Chunk(x, len(block)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for at := copy(block, part); at < len(block); at += d {
			copy(block[at:], part[:d])
		}
		values, _, err := density.At(block)
		if err != nil {
			return nil, err
		}
		for i := range len(part) / d {
			row := part[i*d : (i+1)*d]
			v := values[i] - given.Posterior(row, joint)
			if math.IsNaN(v) || !s.Contains(row) {
				v = math.Inf(-1)
			}
			omega, parts = append(omega, v), append(parts, joint...)
		}
	}
	first, means := len(omega)-pool, make([]float64, k)
	terms := make([]float64, pool)
	for c := range k {
		for i, v := range omega[first:] {
			terms[i] = v + math.Log(parts[(first+i)*k+c])
		}
		means[c] = floats.LogSumExp(terms) - math.Log(float64(pool)*m.Weights[c])
	}
	unit := floats.Max(means)
	if math.IsInf(unit, 0) || math.IsNaN(unit) {
		return nil, errors.New("no row of a mixture fitted to the table is possible under the model")
	}
	for i, v := range omega {
		for c, mean := range means {
			joint[c] = math.Log(parts[i*k+c]) - max(mean, unit-mostApart)
		}
		omega[i] = math.Exp(min(v, math.Log(float64(pool))/2-floats.LogSumExp(joint)) - unit)
	}
	return omega, nil
}

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
	done, rng, given, d := slices.Clone(t.Values), stream.New(seed, stream.Sample, 3), m.ByPattern(), t.D
	e, tilted := s.Model.(nets.Tilted)
	if tilted {
		s.Model, _, _ = e.Split() // an earlier tilt is replaced
	}
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
	x = append(x, pool...)
	omega, err := weigh(ctx, s.InUnits(), s.Domain, m, x, pooledDraws)
	if err != nil {
		return nil, err
	}
	if omega == nil {
		return CompleteBy(m, t, seed), nil
	}
	if tilted {
		e = e.WithTilt(m, tiltOf(m, x, omega, first))
		_, _, factor := e.Split()
		for i := range first[t.N] {
			by, _ := factor(x[i*d : (i+1)*d])
			omega[i] *= math.Exp(by)
		}
		s.Model = e
	}
	for i := range t.N {
		k := stream.Pick(rng, omega[first[i]:first[i+1]])
		copy(done[i*d:(i+1)*d], x[(first[i]+k)*d:])
	}
	return done, nil
}

// tiltOf returns the mixture weights a whose density times ω maximises the likelihood of the
// observed cells: a mixture of f_k = ω N_k/c_k, c_k = E_{N_k} ω, with shares b_k ∝ a_k c_k. EM
// finds b, with f_k(x_obs) ∝ the mean over a row's draws of ω r_k/(w_k c_k), r_k the share of
// component k with covariances divided by nets.Sharpness. Row i has the draws first[i] to first[i+1]
// of x; the others are of m.
func tiltOf(m *model.Mixed, x, omega []float64, first []int) (a []float64) {
	sharp, w, d := *m, m.Weights, m.Dim()
	n, k := len(first)-1, len(w)
	sharp.Covariances = nil
	for _, v := range m.Covariances {
		sharp.Covariances = append(sharp.Covariances, floats.ScaleTo(make([]float64, len(v)), 1./nets.Sharpness, v))
	}
	all, r := sharp.Given(slices.Repeat([]bool{true}, d)), make([]float64, k)
	sum := func(from, to int, into []float64) { // Σ ω r_k/w_k
		for s := from; s < to; s++ {
			all.Posterior(x[s*d:(s+1)*d], r)
			floats.AddScaled(into, omega[s], floats.DivTo(r, r, w))
		}
	}
	c, f := make([]float64, k), make([]float64, n*k)
	sum(first[n], len(omega), c)
	for j := range c {
		c[j] = max(c[j]/float64(len(omega)-first[n]), 1e-250)
	}
	for i := range n {
		sum(first[i], first[i+1], f[i*k:(i+1)*k])
		floats.Div(f[i*k:(i+1)*k], c)
	}
	b, next := slices.Clone(w), make([]float64, k)
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
