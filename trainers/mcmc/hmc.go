// Package mcmc draws from unnormalised models: Hamiltonian Monte Carlo on a domain,
// many chains at once, with adaptation and convergence diagnostics; of all columns,
// or of some given the others.
package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
)

// LeastDraws are needed for the diagnostics.
const LeastDraws = 8

// Options of HMC. Zero values mean the defaults named here.
type Options struct {
	WarmUp   int     // iterations before any draw counts; 300
	Draws    int     // iterations after it, looked at by the diagnostics; 200
	Leapfrog int     // steps of an iteration; 12, with Travel at most. One step is MALA
	Accept   float64 // the acceptance that the step size is adapted to; 0.8, for MALA 0.57

	// Travel is how far an iteration goes, in deviations: it takes as many leapfrog steps as
	// that needs where steps are shortest, at most Leapfrog. 0: always Leapfrog steps.
	Travel float64
	// Centre (d), if set, ends each iteration with a second proposal, independent of where
	// a chain is: normal with these means and the deviations Scale, accepted by the rule
	// of Metropolis and Hastings. Few coordinates then pass between modes.
	Centre []float64
	// Jump, if set, is the mixture that the second proposal comes from instead, of all coordinates.
	Jump *model.Mixed

	// Keep is how many states of each chain Result.Kept holds, equally spaced over
	// Draws and the last its last; 0.
	Keep int
	// Scale is the columns' deviations (d) before they are adapted; ones.
	Scale []float64

	// Observed marks coordinates that stay where their chain starts (chains, d), 1 = observed:
	// the others are drawn given them, a row's missing cells given its observed ones.
	// A model.MaskConditional model is that of this mask. Nil: none is observed.
	Observed []float64
	// Group is how many chains, one after the other, share what is observed and with it a
	// target, and start at the same observed cells: at least four, for R-hat compares chains of one target. Step size and metric
	// are adapted, and diagnostics made, by group. Without Observed all chains are one group.
	Group int
}

// HMC runs a chain from each row of start (chains, d), at least four, with density q_θ restricted to the
// domain (nil: all of R^d). Warm-up adapts the step size by the dual averaging of Hoffman & Gelman 2014
// (section 3.2) and halfway the metric, the columns' deviations over at least a hundred states. A proposal
// outside the domain is rejected, which leaves the restricted density invariant.
func HMC(ctx context.Context, m model.Model, s *domain.Domain, start []float64, o Options, rng *rand.Rand) (*Result, error) {
	h, err := newHMC(m, s, start, o)
	if err != nil {
		return nil, err
	}
	if err := h.warmUp(ctx, rng); err != nil {
		return nil, err
	}
	r := &Result{}
	for _, g := range h.groups {
		g.step = math.Exp(g.logMean)
		r.Step += g.step / float64(len(h.groups))
	}
	traces, err := h.draw(ctx, r, rng)
	if err != nil {
		return nil, err
	}
	r.Last = slices.Clone(h.x)
	h.diagnose(r, traces)
	return r, nil
}

// warmUp adapts step sizes and metrics.
func (h *hmc) warmUp(ctx context.Context, rng *rand.Rand) error {
	seen := (100 + h.size - 1) / h.size // iterations whose states make the metric
	var states [][]float64
	for i := range h.WarmUp {
		if err := ctx.Err(); err != nil {
			return err
		}
		if half := h.WarmUp / 2; i <= half && i > half-seen {
			states = append(states, slices.Clone(h.x))
			if i == half {
				h.rescale(states)
			}
		}
		if err := h.iterate(rng); err != nil {
			return err
		}
		for _, g := range h.groups {
			g.learn(h.Accept)
		}
	}
	return nil
}

// draw makes the iterations that count: r gets the mean acceptance and the states to keep,
// traces hold all states and log densities by column, chain and iteration.
func (h *hmc) draw(ctx context.Context, r *Result, rng *rand.Rand) (traces [][][]float64, err error) {
	traces = make([][][]float64, h.d+1)
	for j := range traces {
		traces[j] = make([][]float64, h.chains)
	}
	if h.Keep > 0 {
		r.Kept = make([]float64, h.chains*h.Keep*h.d)
	}
	kept := 0
	for i := range h.Draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := h.iterate(rng); err != nil {
			return nil, err
		}
		for _, g := range h.groups {
			r.Accept += g.accept / float64(h.Draws*len(h.groups))
		}
		for c := range h.chains {
			for j := range h.d {
				traces[j][c] = append(traces[j][c], h.x[c*h.d+j])
			}
			traces[h.d][c] = append(traces[h.d][c], h.log[c])
		}
		if kept < h.Keep && (i+1)*h.Keep >= (kept+1)*h.Draws {
			for c := range h.chains {
				copy(r.Kept[(c*h.Keep+kept)*h.d:], h.x[c*h.d:(c+1)*h.d])
			}
			kept++
		}
	}
	return traces, nil
}

// hmc is the state of all chains.
type hmc struct {
	Options
	domain    *domain.Domain
	model     *model.Evaluator
	chains, d int
	size      int // chains in a group
	groups    []*group

	x, log, score []float64 // at the chains' states
	y, p, energy  []float64 // of the proposals
}

// group is what chains with one target share.
type group struct {
	observed []float64 // (d) 1 = observed, nil for none
	free     []bool    // (d)
	scale    []float64 // (d), the metric's deviations
	section  domain.Section
	accept   float64 // mean of the last iteration

	step, anchor, logMean, error, k float64 // of dual averaging
}

// learn is a step of dual averaging.
func (g *group) learn(target float64) {
	const gamma, offset, kappa = 0.05, 10, 0.75
	g.k++
	g.error += (target - g.accept - g.error) / (g.k + offset)
	logStep := g.anchor - math.Sqrt(g.k)/gamma*g.error
	rate := math.Pow(g.k, -kappa)
	g.logMean = rate*logStep + (1-rate)*g.logMean
	g.step = math.Exp(logStep)
}

// restart makes it learn anew from the present step.
func (g *group) restart() {
	g.anchor, g.logMean, g.error, g.k = math.Log(10*g.step), 0, 0, 0
}

// check fills in the defaults and refuses what the diagnostics cannot use.
func (o *Options) check(chains int) error {
	setting.Default(&o.WarmUp, 300)
	setting.Default(&o.Draws, 200)
	setting.Default(&o.Leapfrog, 12)
	if o.Accept == 0 {
		o.Accept = 0.8
		if o.Leapfrog == 1 {
			o.Accept = 0.57
		}
	}
	if o.Observed == nil {
		o.Group = chains
	}
	switch {
	case o.Draws < LeastDraws:
		return fmt.Errorf("%d draws: at least %d draws are needed", o.Draws, LeastDraws)
	case o.Group < 4 || chains%o.Group != 0:
		return fmt.Errorf("%d chains in groups of %d: R-hat needs at least 4 of one target", chains, o.Group)
	}
	return nil
}

// newHMC checks the options and where the chains start, and evaluates the model there.
func newHMC(m model.Model, s *domain.Domain, start []float64, o Options) (*hmc, error) {
	d := m.Dim()
	h := &hmc{domain: s, chains: len(start) / d, d: d}
	if h.chains < 4 || h.chains*d != len(start) {
		return nil, fmt.Errorf("%d numbers to start from: at least 4 chains of %d columns are needed", len(start), d)
	}
	if err := o.check(h.chains); err != nil {
		return nil, err
	}
	h.Options, h.size = o, o.Group
	for c := 0; c < h.chains; c += h.size {
		h.groups = append(h.groups, h.newGroup(c, start))
	}
	for c := range h.chains {
		if !h.inside(c, start[c*d:(c+1)*d]) {
			return nil, fmt.Errorf("chain %d starts outside the domain", c+1)
		}
	}
	return h, h.begin(m, start)
}

// newGroup is the group whose first chain is c.
func (h *hmc) newGroup(c int, start []float64) *group {
	from, to := c*h.d, (c+1)*h.d
	g := &group{step: 0.1, scale: slices.Clone(h.Scale), free: make([]bool, h.d)}
	g.restart()
	if h.Observed != nil {
		g.observed = h.Observed[from:to]
		if h.domain != nil {
			h.domain.Section(&g.section, start[from:to], g.observed)
		}
	}
	for j := range h.d {
		g.free[j] = h.Observed == nil || g.observed[j] == 0
		if h.Scale == nil {
			g.scale = append(g.scale, 1)
		}
	}
	return g
}

// begin puts the chains where they start, with log density and score there.
func (h *hmc) begin(m model.Model, start []float64) (err error) {
	if h.model, err = model.NewEvaluator(m, h.chains, h.Observed != nil); err != nil {
		return err
	}
	if h.model.ScoreOnly() {
		return errors.New("the model gives a score but no log density, which Metropolis steps need: draw along noise levels (trainers/fitted/diffusion)")
	}
	if h.Observed != nil {
		h.model.SetMask(h.Observed)
	}
	h.x, h.y, h.p = slices.Clone(start), slices.Clone(start), slices.Clone(start)
	h.energy = make([]float64, h.chains)
	log, score, err := h.model.At(h.x)
	if err != nil {
		return err
	}
	h.log, h.score = slices.Clone(log), slices.Clone(score)
	for c, v := range h.log {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("chain %d starts where the log density is %v", c+1, v)
		}
	}
	return nil
}

// inside says whether what is missing of chain c may be where it is in x.
func (h *hmc) inside(c int, x []float64) bool {
	if g := h.groups[c/h.size]; h.domain != nil && g.observed != nil {
		return g.section.Contains(x, g.observed)
	}
	return h.domain.Contains(x)
}

// iterate proposes a move for every chain and leaves each group's mean acceptance.
func (h *hmc) iterate(rng *rand.Rand) (err error) {
	jitter := 0.8 + 0.4*rng.Float64() // no common period with the target's
	copy(h.y, h.x)
	for c := range h.chains {
		g := h.groups[c/h.size]
		g.accept = 0
		kinetic := 0.0
		for j := range h.d {
			h.p[c*h.d+j] = 0
			if g.free[j] {
				v := rng.NormFloat64() // momentum in units of the metric
				h.p[c*h.d+j] = v
				kinetic += 0.5 * v * v
			}
		}
		h.energy[c] = h.log[c] - kinetic
	}
	kick := func(score []float64, by float64) {
		h.each(func(i, j int, g *group) { h.p[i] += by * jitter * g.step * g.scale[j] * score[i] })
	}
	kick(h.score, 0.5)
	var log, score []float64
	steps := h.steps()
	for l := range steps {
		h.each(func(i, j int, g *group) { h.y[i] += jitter * g.step * g.scale[j] * h.p[i] })
		if log, score, err = h.model.At(h.y); err != nil {
			return err
		}
		if l < steps-1 {
			kick(score, 1)
		}
	}
	kick(score, 0.5)
	for c := range h.chains {
		from, to := c*h.d, (c+1)*h.d
		kinetic := 0.0
		for _, v := range h.p[from:to] {
			kinetic += 0.5 * v * v
		}
		ratio := math.Exp(min(0, log[c]-kinetic-h.energy[c]))
		u := rng.Float64()
		if math.IsNaN(ratio) || !h.inside(c, h.y[from:to]) {
			continue
		}
		h.groups[c/h.size].accept += ratio / float64(h.size)
		if u < ratio {
			h.move(c, log, score)
		}
	}
	if h.Centre != nil || h.Jump != nil {
		return h.jump(rng)
	}
	return nil
}

// steps are the leapfrog steps of an iteration.
func (h *hmc) steps() int {
	if h.Travel == 0 {
		return h.Leapfrog
	}
	shortest := math.Inf(1)
	for _, g := range h.groups {
		shortest = min(shortest, g.step)
	}
	return int(max(1, min(math.Ceil(h.Travel/shortest), float64(h.Leapfrog))))
}

// move puts chain c where it proposed to be, with what the model gave there.
func (h *hmc) move(c int, log, score []float64) {
	from, to := c*h.d, (c+1)*h.d
	copy(h.x[from:to], h.y[from:to])
	copy(h.score[from:to], score[from:to])
	h.log[c] = log[c]
}

// each visits the free coordinates of all chains: place, column and group.
func (h *hmc) each(visit func(i, j int, g *group)) {
	for c := range h.chains {
		g := h.groups[c/h.size]
		for j, free := range g.free {
			if free {
				visit(c*h.d+j, j, g)
			}
		}
	}
}

// rescale makes the columns' deviations over these states the metric.
func (h *hmc) rescale(states [][]float64) {
	var column []float64
	for k, g := range h.groups {
		for j := range h.d {
			column = column[:0]
			for _, x := range states {
				for c := k * h.size; c < (k+1)*h.size; c++ {
					column = append(column, x[c*h.d+j])
				}
			}
			if sd := stat.StdDev(column, nil); sd > 0 && g.free[j] {
				g.scale[j] = sd
			}
		}
		g.restart()
	}
}

// jump proposes an independent point y for every chain, each free coordinate from
// N(Centre_j, Scale_j²), or all from Jump =: ν, and accepts it with probability min(1, q(y) ν(x) / q(x) ν(y))
// (Tierney 1994, "Markov Chains for Exploring Posterior Distributions", section 2.3.3).
func (h *hmc) jump(rng *rand.Rand) error {
	copy(h.y, h.x)
	h.each(func(i, j int, g *group) { // p sums up to log ν(x) − log ν(y)
		if h.Jump != nil {
			h.p[i] = 0
			return
		}
		v := rng.NormFloat64()
		u := (h.x[i] - h.Centre[j]) / h.Scale[j]
		h.p[i] = 0.5 * (v*v - u*u)
		h.y[i] = h.Centre[j] + h.Scale[j]*v
	})
	if h.Jump != nil {
		none, all := h.Jump.Given(make([]bool, h.d)), h.Jump.Given(slices.Repeat([]bool{true}, h.d))
		parts := make([]float64, all.Components())
		for at := 0; at < len(h.y); at += h.d {
			h.p[at] = all.Joint(h.x[at:at+h.d], parts)
			none.Complete(h.y[at:at+h.d], rng)
			h.p[at] -= all.Joint(h.y[at:at+h.d], parts)
		}
	}
	log, score, err := h.model.At(h.y)
	if err != nil {
		return err
	}
	for c := range h.chains {
		ratio := log[c] - h.log[c]
		for j := range h.d {
			if h.groups[c/h.size].free[j] {
				ratio += h.p[c*h.d+j]
			}
		}
		if u := rng.Float64(); !(u < math.Exp(ratio)) || !h.inside(c, h.y[c*h.d:(c+1)*h.d]) {
			continue
		}
		h.move(c, log, score)
	}
	return nil
}
