// Package mcmc draws from unnormalised models: Hamiltonian Monte Carlo on a domain,
// many chains at once, with adaptation and convergence diagnostics.
package mcmc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/graph"
)

// Options of HMC. Zero values mean the defaults named here.
type Options struct {
	WarmUp   int     // iterations before any draw counts; 300
	Draws    int     // iterations after it, looked at by the diagnostics; 200
	Leapfrog int     // steps of an iteration; 12. One step is MALA
	Accept   float64 // the acceptance that the step size is adapted to; 0.8, for MALA 0.57
}

// Result is a finished run. Units are the model's.
type Result struct {
	Last   []float64 // (chains, d): the chains' last states, independent draws
	Step   float64   // adapted step size, in deviations
	Accept float64   // mean acceptance after warm-up

	// By column, then for the log density: split R-hat (Gelman et al. 2013), near 1
	// where the chains agree, and the effective number of draws of all chains.
	RHat, EffectiveSize []float64
}

// WorstRHat is the largest.
func (r *Result) WorstRHat() (worst float64) {
	for _, v := range r.RHat {
		if !(v <= worst) {
			worst = v
		}
	}
	return worst
}

// LeastSize is the smallest effective number of draws.
func (r *Result) LeastSize() float64 {
	least := math.Inf(1)
	for _, v := range r.EffectiveSize {
		least = min(least, v)
	}
	return least
}

// HMC runs as many chains as start (chains, d) has rows, at least four, from there
// (inside the domain, nil for all of R^d) with density q_θ restricted to it. During
// warm-up the step size follows the dual averaging of Hoffman & Gelman 2014 (section
// 3.2) on the chains' mean acceptance, and halfway the columns' deviations over
// chains become the metric. A proposal outside the domain is rejected, which
// leaves the restricted density invariant.
func HMC(ctx context.Context, m graph.Model, s *domain.Domain, start []float64, o Options, rng *rand.Rand) (*Result, error) {
	h, err := newHMC(m, s, start, o)
	if err != nil {
		return nil, err
	}
	const gamma, offset, kappa = 0.05, 10, 0.75
	step, logMean, error := 0.1, 0.0, 0.0
	anchor := math.Log(10 * step)
	k := 0.0
	for i := range h.WarmUp {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i == h.WarmUp/2 {
			h.rescale()
			anchor, logMean, error, k = math.Log(10*step), 0, 0, 0
		}
		accept, err := h.iterate(step, rng)
		if err != nil {
			return nil, err
		}
		k++
		error += (h.Accept - accept - error) / (k + offset)
		logStep := anchor - math.Sqrt(k)/gamma*error
		rate := math.Pow(k, -kappa)
		logMean = rate*logStep + (1-rate)*logMean
		step = math.Exp(logStep)
	}
	step = math.Exp(logMean)

	r := &Result{Step: step}
	traces := make([][][]float64, h.d+1) // by column, chain, iteration
	for j := range traces {
		traces[j] = make([][]float64, h.chains)
	}
	for range h.Draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		accept, err := h.iterate(step, rng)
		if err != nil {
			return nil, err
		}
		r.Accept += accept / float64(h.Draws)
		for c := range h.chains {
			for j := range h.d {
				traces[j][c] = append(traces[j][c], h.x[c*h.d+j])
			}
			traces[h.d][c] = append(traces[h.d][c], h.log[c])
		}
	}
	r.Last = append([]float64(nil), h.x...)
	for _, t := range traces {
		rhat, size := diagnose(t)
		r.RHat, r.EffectiveSize = append(r.RHat, rhat), append(r.EffectiveSize, size)
	}
	return r, nil
}

// hmc is the state of all chains.
type hmc struct {
	Options
	domain    *domain.Domain
	program   *graph.Program
	chains, d int
	scale     []float64 // (d), the metric's deviations

	x, log, score []float64 // at the chains' states
	y, p, energy  []float64 // of the proposals
}

func newHMC(m graph.Model, s *domain.Domain, start []float64, o Options) (*hmc, error) {
	for _, v := range []struct {
		value     *int
		byDefault int
	}{{&o.WarmUp, 300}, {&o.Draws, 200}, {&o.Leapfrog, 12}} {
		if *v.value == 0 {
			*v.value = v.byDefault
		}
		if *v.value < 0 {
			return nil, fmt.Errorf("%d iterations or steps: none may be negative", *v.value)
		}
	}
	if o.Accept == 0 {
		o.Accept = 0.8
		if o.Leapfrog == 1 {
			o.Accept = 0.57
		}
	}
	if !(o.Accept > 0 && o.Accept < 1) || o.Draws < 8 {
		return nil, fmt.Errorf("acceptance %v, draws %d: a number between 0 and 1 and at least 8 draws are needed", o.Accept, o.Draws)
	}
	d := m.Dim()
	h := &hmc{Options: o, domain: s, chains: len(start) / d, d: d}
	if h.chains < 4 || h.chains*d != len(start) {
		return nil, fmt.Errorf("%d numbers to start from: at least 4 chains of %d columns are needed", len(start), d)
	}
	for c := range h.chains {
		if !s.Contains(start[c*d : c*d+d]) {
			return nil, fmt.Errorf("chain %d starts outside the domain", c+1)
		}
	}
	var err error
	if h.program, err = graph.Build(func(b *graph.Builder) {
		t := m.Terms(b, b.Input("x", h.chains, d))
		b.Output("log density", t.Density(b))
		b.Output("score", t.Score)
	}); err != nil {
		return nil, err
	}
	clone := func(x []float64) []float64 { return append([]float64(nil), x...) }
	h.x, h.y, h.p = clone(start), clone(start), clone(start)
	h.energy = make([]float64, h.chains)
	for range d {
		h.scale = append(h.scale, 1)
	}
	log, score, err := h.at(h.x)
	if err != nil {
		return nil, err
	}
	h.log, h.score = clone(log), clone(score)
	for c, v := range h.log {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("chain %d starts where the log density is %v", c+1, v)
		}
	}
	return h, nil
}

// at evaluates the model; the memory is the program's.
func (h *hmc) at(x []float64) (log, score []float64, err error) {
	copy(h.program.Input("x"), x)
	if err := h.program.Run(); err != nil {
		return nil, nil, err
	}
	return h.program.Output("log density"), h.program.Output("score"), nil
}

// iterate proposes a move for every chain and returns the mean acceptance.
func (h *hmc) iterate(step float64, rng *rand.Rand) (accept float64, err error) {
	step *= 0.8 + 0.4*rng.Float64() // no common period with the target's
	copy(h.y, h.x)
	for c := range h.chains {
		kinetic := 0.0
		for j := range h.d {
			v := rng.NormFloat64() // momentum in units of the metric
			h.p[c*h.d+j] = v
			kinetic += 0.5 * v * v
		}
		h.energy[c] = h.log[c] - kinetic
	}
	kick := func(score []float64, by float64) {
		for i, s := range score {
			h.p[i] += by * h.scale[i%h.d] * s
		}
	}
	kick(h.score, step/2)
	var log, score []float64
	for l := range h.Leapfrog {
		for i := range h.y {
			h.y[i] += step * h.scale[i%h.d] * h.p[i]
		}
		if log, score, err = h.at(h.y); err != nil {
			return 0, err
		}
		if l < h.Leapfrog-1 {
			kick(score, step)
		}
	}
	kick(score, step/2)
	for c := range h.chains {
		from, to := c*h.d, (c+1)*h.d
		kinetic := 0.0
		for _, v := range h.p[from:to] {
			kinetic += 0.5 * v * v
		}
		ratio := math.Exp(min(0, log[c]-kinetic-h.energy[c]))
		u := rng.Float64()
		if math.IsNaN(ratio) || !h.domain.Contains(h.y[from:to]) {
			continue
		}
		accept += ratio / float64(h.chains)
		if u < ratio {
			copy(h.x[from:to], h.y[from:to])
			copy(h.score[from:to], score[from:to])
			h.log[c] = log[c]
		}
	}
	return accept, nil
}

// rescale makes the columns' deviations over chains the metric.
func (h *hmc) rescale() {
	column := make([]float64, h.chains)
	for j := range h.d {
		for c := range h.chains {
			column[c] = h.x[c*h.d+j]
		}
		if sd := stat.StdDev(column, nil); sd > 0 {
			h.scale[j] = sd
		}
	}
}

// diagnose gives split R-hat and the effective number of draws of traces by chain,
// by the formulas of Gelman et al. 2013 ("Bayesian Data Analysis", 11.4 and 11.5): with
// W the mean variance within half-chains of length n, B/n the variance of their
// means, and V = (n−1)/n W + B/n,
//
//	R = √(V/W),   size = m n / (1 + 2 Σ_t ρ_t),   ρ_t = 1 − (mean squared difference at lag t)/2V
//
// the sum ending where two neighbouring ρ add up to less than 0.
func diagnose(traces [][]float64) (rhat, size float64) {
	var halves [][]float64
	for _, t := range traces {
		n := len(t) / 2
		halves = append(halves, t[:n], t[n:2*n])
	}
	n, m := float64(len(halves[0])), float64(len(halves))
	var means []float64
	within := 0.0
	for _, t := range halves {
		mean, variance := stat.MeanVariance(t, nil)
		means = append(means, mean)
		within += variance / m
	}
	v := (n-1)/n*within + stat.Variance(means, nil)
	rhat = math.Sqrt(v / within)
	rho := func(lag int) float64 {
		sum, count := 0.0, 0.0
		for _, t := range halves {
			for i := lag; i < len(t); i++ {
				sum += (t[i] - t[i-lag]) * (t[i] - t[i-lag])
				count++
			}
		}
		return 1 - sum/count/(2*v)
	}
	sum := 0.0
	for lag := 1; lag+1 < len(halves[0]); lag += 2 {
		pair := rho(lag) + rho(lag+1)
		if pair < 0 {
			break
		}
		sum += pair
	}
	return rhat, m * n / (1 + 2*sum)
}
