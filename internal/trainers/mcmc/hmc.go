// Package mcmc draws from unnormalised models on a domain by parallel, adaptive Hamiltonian Monte
// Carlo; for all columns, or for some given the others.
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

const LeastDraws = 8

// Options configures HMC. Zero values select the defaults.
type Options struct {
	WarmUp   int // discarded iterations; 300
	Draws    int // kept iterations, used in the diagnostics; 200
	Leapfrog int // leapfrog steps per iteration, the maximum with Travel; 12

	// Trajectory length in standard deviations, at most Leapfrog steps; 0: always Leapfrog.
	Travel float64
	// Jump, if set, adds an independence Metropolis–Hastings step between modes to each iteration.
	Jump *model.Mixed

	// States per chain in Result.Kept, equally spaced over Draws, ending with the last; 0.
	Keep int
	// Scale is the initial standard deviation of each column (d); ones.
	Scale []float64

	// Observed (chains, d) marks coordinates that keep their start, 1 = observed; nil: none.
	Observed []float64
	// Group is the number of consecutive chains with the same observed cells, at least four, which
	// share step size, metric and diagnostics. Without Observed all chains form one group.
	Group int
}

// HMC runs a chain from each row of start (chains, d), at least four, with density q_θ restricted
// to the domain (nil: R^d). Warm-up adapts the step size by dual averaging to an acceptance of 0.8
// (Hoffman & Gelman 2014) and the diagonal metric. Proposals outside the domain are rejected.
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

func (h *hmc) warmUp(ctx context.Context, rng *rand.Rand) error {
	seen := (100 + h.size - 1) / h.size // iterations used for the metric
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
			g.learn()
		}
	}
	return nil
}

// traces: states and log densities by column, chain and iteration.
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

type hmc struct {
	Options
	domain    *domain.Domain
	model     *model.Evaluator
	chains, d int
	size      int // chains per group
	groups    []*group

	given func(observed []bool) *model.Given // Jump given observed coordinates
	whole *model.Given                       // Jump of all coordinates

	x, log, score []float64 // at the chains' current states
	y, p, energy  []float64 // at the proposals
}

// group is the state shared by chains of one target.
type group struct {
	observed []float64 // (d) 1 = observed, nil for none
	free     []bool    // (d)
	scale    []float64 // (d), standard deviations of the metric
	section  domain.Section
	accept   float64 // mean acceptance of the last iteration

	step, anchor, logMean, error, k float64 // state of dual averaging
}

func (g *group) learn() {
	const target, gamma, offset, kappa = 0.8, 0.05, 10, 0.75
	g.k++
	g.error += (target - g.accept - g.error) / (g.k + offset)
	logStep := g.anchor - math.Sqrt(g.k)/gamma*g.error
	rate := math.Pow(g.k, -kappa)
	g.logMean = rate*logStep + (1-rate)*g.logMean
	g.step = math.Exp(logStep)
}

func (g *group) restart() {
	g.anchor, g.logMean, g.error, g.k = math.Log(10*g.step), 0, 0, 0
}

func (o *Options) check(chains int) error {
	setting.Default(&o.WarmUp, 300)
	setting.Default(&o.Draws, 200)
	setting.Default(&o.Leapfrog, 12)
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

func (h *hmc) inside(c int, x []float64) bool {
	if g := h.groups[c/h.size]; h.domain != nil && g.observed != nil {
		return g.section.Contains(x, g.observed)
	}
	return h.domain.Contains(x)
}

func (h *hmc) iterate(rng *rand.Rand) (err error) {
	jitter := 0.8 + 0.4*rng.Float64() // avoids resonance with the target's period
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
	if h.Jump != nil {
		return h.jump(rng)
	}
	return nil
}

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

func (h *hmc) move(c int, log, score []float64) {
	from, to := c*h.d, (c+1)*h.d
	copy(h.x[from:to], h.y[from:to])
	copy(h.score[from:to], score[from:to])
	h.log[c] = log[c]
}

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

// jump proposes y from Jump (density ν) given the observed coordinates and accepts it with
// probability min(1, q(y) ν(x) / q(x) ν(y)) (Tierney 1994).
func (h *hmc) jump(rng *rand.Rand) error {
	copy(h.y, h.x)
	if h.given == nil {
		h.given, h.whole = h.Jump.ByPattern(), h.Jump.Given(slices.Repeat([]bool{true}, h.d))
	}
	parts, seen := make([]float64, h.whole.Components()), make([]bool, h.d)
	for c := range h.chains {
		x, y := h.x[c*h.d:(c+1)*h.d], h.y[c*h.d:(c+1)*h.d]
		for j, free := range h.groups[c/h.size].free {
			seen[j] = !free
		}
		h.given(seen).Complete(y, rng)
		h.energy[c] = h.whole.Joint(x, parts) - h.whole.Joint(y, parts)
	}
	log, score, err := h.model.At(h.y)
	if err != nil {
		return err
	}
	for c := range h.chains {
		ratio := log[c] - h.log[c] + h.energy[c]
		if u := rng.Float64(); !(u < math.Exp(ratio)) || !h.inside(c, h.y[c*h.d:(c+1)*h.d]) {
			continue
		}
		h.move(c, log, score)
	}
	return nil
}
