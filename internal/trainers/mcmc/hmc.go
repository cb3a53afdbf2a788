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
	// Factor, if set, returns at x (d) the log of a bounded factor of the density, which the model and
	// the leapfrog steps leave out, and the log density of Jump up to a constant.
	Factor func(x []float64) (factor, jump float64) `json:"-"`

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
// to the domain (nil: R^d): New, WarmUp and Draw.
func HMC(ctx context.Context, m model.Model, s *domain.Domain, start []float64, o Options, rng *rand.Rand) (*Result, error) {
	c, err := New(m, s, start, o)
	if err != nil {
		return nil, err
	}
	if err := c.WarmUp(ctx, c.Options.WarmUp, rng); err != nil {
		return nil, err
	}
	return c.Draw(ctx, c.Options.Draws, rng)
}

// Chains are HMC chains that can go on. They are not safe for concurrent use.
type Chains struct {
	Options
	domain    *domain.Domain
	of        model.Model
	model     *model.Evaluator
	chains, d int
	size      int // chains per group
	groups    []*group

	given func(observed []bool) *model.Given // Jump given observed coordinates
	whole *model.Given                       // Jump of all coordinates

	x, score          []float64 // at the chains' current states
	log, factor, jump []float64 // log density of the model, and the results of Factor
	y, p, energy      []float64 // at the proposals
}

// group is the state shared by chains of one target.
type group struct {
	observed []float64 // (d) 1 = observed
	free     []bool    // (d)
	scale    []float64 // (d), standard deviations of the metric
	section  domain.Section
	accept   float64 // mean acceptance of the last iteration
	plain    float64 // and without Factor, which the step size cannot change

	step, anchor, logMean, error, k float64 // state of dual averaging
}

// learn is an iteration of dual averaging towards an acceptance of 0.8 (Hoffman & Gelman 2014).
func (g *group) learn() {
	const target, gamma, offset, kappa = 0.8, 0.05, 10, 0.75
	g.k++
	g.error += (target - g.plain - g.error) / (g.k + offset)
	logStep := g.anchor - math.Sqrt(g.k)/gamma*g.error
	rate := math.Pow(g.k, -kappa)
	g.logMean = rate*logStep + (1-rate)*g.logMean
	g.step = math.Exp(logStep)
}

func (g *group) restart() {
	g.anchor, g.logMean, g.error, g.k = math.Log(10*g.step), 0, 0, 0
}

// New makes chains at the rows of start (chains, d). It fails if the model has no log density, or
// for a start outside the domain or without a density.
func New(m model.Model, s *domain.Domain, start []float64, o Options) (*Chains, error) {
	d := m.Dim()
	if o.Observed == nil {
		o.Observed, o.Group = make([]float64, len(start)), len(start)/d
	}
	h := &Chains{Options: o, domain: s, of: m, chains: len(start) / d, d: d, size: o.Group}
	setting.Default(&h.Options.WarmUp, 300)
	setting.Default(&h.Options.Draws, 200)
	setting.Default(&h.Leapfrog, 12)
	switch {
	case h.chains < 4 || h.chains*d != len(start):
		return nil, fmt.Errorf("%d numbers to start from: at least 4 chains of %d columns are needed", len(start), d)
	case h.Options.Draws < LeastDraws:
		return nil, fmt.Errorf("%d draws: at least %d draws are needed", o.Draws, LeastDraws)
	case h.size < 4 || h.chains%h.size != 0:
		return nil, fmt.Errorf("%d chains in groups of %d: R-hat needs at least 4 of one target", h.chains, h.size)
	}
	if o.Jump != nil {
		h.given, h.whole = o.Jump.ByPattern(), o.Jump.Given(slices.Repeat([]bool{true}, d))
	}
	for c := 0; c < h.chains; c += h.size {
		g := &group{step: 0.1, scale: slices.Clone(o.Scale), free: make([]bool, d), observed: o.Observed[c*d : (c+1)*d]}
		if o.Scale == nil {
			g.scale = slices.Repeat([]float64{1}, d)
		}
		g.restart()
		g.hold(s, start[c*d:(c+1)*d])
		h.groups = append(h.groups, g)
	}
	for c := range h.chains {
		if !h.inside(c, start[c*d:(c+1)*d]) {
			return nil, fmt.Errorf("chain %d starts outside the domain", c+1)
		}
	}
	if err := h.begin(start); err != nil {
		return nil, err
	}
	for c, v := range h.log {
		if v += h.factor[c]; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("chain %d starts where the log density is %v", c+1, v)
		}
	}
	return h, nil
}

// hold sets free and section by observed and the first chain x.
func (g *group) hold(s *domain.Domain, x []float64) {
	for j, o := range g.observed {
		g.free[j] = o == 0
	}
	if s.Bounded() {
		s.Section(&g.section, x, g.observed)
	}
}

// begin allocates and evaluates the chains at x.
func (h *Chains) begin(x []float64) (err error) {
	if h.model, err = model.NewEvaluator(h.of, h.chains, true); err != nil {
		return err
	}
	if h.model.ScoreOnly() {
		return errors.New("the model gives a score but no log density, which Metropolis steps need: draw along noise levels (trainers/fitted/diffusion)")
	}
	h.x, h.y, h.p = slices.Clone(x), slices.Clone(x), slices.Clone(x)
	h.log, h.score, h.energy = make([]float64, h.chains), make([]float64, len(x)), make([]float64, h.chains)
	h.factor, h.jump = make([]float64, h.chains), make([]float64, h.chains)
	return h.evaluate()
}

func (h *Chains) evaluate() error {
	h.model.SetMask(h.Observed)
	log, score, err := h.model.At(h.x)
	copy(h.log, log)
	copy(h.score, score)
	for c := range h.chains {
		h.factor[c], h.jump[c] = h.extra(h.x[c*h.d : (c+1)*h.d])
	}
	return err
}

// extra returns the log of Factor and the log density of Jump at x (d).
func (h *Chains) extra(x []float64) (factor, jump float64) {
	switch {
	case h.Factor != nil:
		return h.Factor(x)
	case h.Jump != nil:
		return 0, h.whole.Joint(x, make([]float64, h.whole.Components()))
	}
	return 0, 0
}

// Only keeps some groups, from 0.
func (h *Chains) Only(groups []int) error {
	var x, observed []float64
	var kept []*group
	for _, g := range groups {
		from, to := g*h.size*h.d, (g+1)*h.size*h.d
		x, observed, kept = append(x, h.x[from:to]...), append(observed, h.Observed[from:to]...), append(kept, h.groups[g])
	}
	h.groups, h.chains, h.Observed = kept, len(groups)*h.size, observed
	return h.begin(x)
}

// WarmUp discards n iterations, which adapt the step size and, half-way, the diagonal metric.
// Proposals outside the domain are rejected.
func (h *Chains) WarmUp(ctx context.Context, n int, rng *rand.Rand) error {
	seen := (100 + h.size - 1) / h.size // iterations used for the metric
	var states [][]float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if half := n / 2; i <= half && i > half-seen {
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
	for _, g := range h.groups {
		g.step = math.Exp(g.logMean)
	}
	return nil
}

// Draw makes n iterations.
func (h *Chains) Draw(ctx context.Context, n int, rng *rand.Rand) (*Result, error) {
	r := &Result{}
	traces := make([][][]float64, h.d+1) // states and log densities by column, chain and iteration
	for j := range traces {
		traces[j] = make([][]float64, h.chains)
	}
	if h.Keep > 0 {
		r.Kept = make([]float64, h.chains*h.Keep*h.d)
	}
	kept := 0
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := h.iterate(rng); err != nil {
			return nil, err
		}
		for _, g := range h.groups {
			r.Accept += g.accept / float64(n*len(h.groups))
		}
		for c := range h.chains {
			for j := range h.d {
				traces[j][c] = append(traces[j][c], h.x[c*h.d+j])
			}
			traces[h.d][c] = append(traces[h.d][c], h.log[c]+h.factor[c])
		}
		if kept < h.Keep && (i+1)*h.Keep >= (kept+1)*n {
			for c := range h.chains {
				copy(r.Kept[(c*h.Keep+kept)*h.d:], h.x[c*h.d:(c+1)*h.d])
			}
			kept++
		}
	}
	r.Last = slices.Clone(h.x)
	h.diagnose(r, traces)
	return r, nil
}

func (h *Chains) inside(c int, x []float64) bool {
	g := h.groups[c/h.size]
	return !h.domain.Bounded() || g.section.Contains(x, g.observed)
}

func (h *Chains) iterate(rng *rand.Rand) (err error) {
	jitter := 0.8 + 0.4*rng.Float64() // avoids resonance with the target's period
	copy(h.y, h.x)
	for c := range h.chains {
		g := h.groups[c/h.size]
		g.accept, g.plain = 0, 0
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
		change, u := log[c]-kinetic-h.energy[c], rng.Float64()
		if math.IsNaN(change) || !h.inside(c, h.y[from:to]) {
			continue
		}
		g := h.groups[c/h.size]
		g.plain += math.Exp(min(0, change)) / float64(h.size)
		factor, jump := h.extra(h.y[from:to])
		ratio := math.Exp(min(0, change+factor-h.factor[c]))
		if g.accept += ratio / float64(h.size); u < ratio {
			h.move(c, log, score, factor, jump)
		}
	}
	if h.Jump != nil {
		return h.jumpAll(rng)
	}
	return nil
}

// steps is the number of leapfrog steps: Travel for the median group.
func (h *Chains) steps() int {
	if h.Travel == 0 {
		return h.Leapfrog
	}
	var each []float64
	for _, g := range h.groups {
		each = append(each, g.step)
	}
	slices.Sort(each)
	return int(max(1, min(math.Ceil(h.Travel/each[(len(each)-1)/2]), float64(h.Leapfrog))))
}

func (h *Chains) move(c int, log, score []float64, factor, jump float64) {
	from, to := c*h.d, (c+1)*h.d
	copy(h.x[from:to], h.y[from:to])
	copy(h.score[from:to], score[from:to])
	h.log[c], h.factor[c], h.jump[c] = log[c], factor, jump
}

func (h *Chains) each(visit func(i, j int, g *group)) {
	for c := range h.chains {
		g := h.groups[c/h.size]
		for j, free := range g.free {
			if free {
				visit(c*h.d+j, j, g)
			}
		}
	}
}

func (h *Chains) rescale(states [][]float64) {
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

// jumpAll proposes y from Jump (density ν) given the observed coordinates and accepts it with
// probability min(1, q(y) ν(x) / q(x) ν(y)) (Tierney 1994).
func (h *Chains) jumpAll(rng *rand.Rand) error {
	copy(h.y, h.x)
	for k, g := range h.groups {
		seen := make([]bool, h.d)
		for j, free := range g.free {
			seen[j] = !free
		}
		given := h.given(seen)
		for c := k * h.size; c < (k+1)*h.size; c++ {
			given.Complete(h.y[c*h.d:(c+1)*h.d], rng)
		}
	}
	log, score, err := h.model.At(h.y)
	if err != nil {
		return err
	}
	for c := range h.chains {
		y := h.y[c*h.d : (c+1)*h.d]
		factor, jump := h.extra(y)
		ratio := log[c] + factor - jump - (h.log[c] + h.factor[c] - h.jump[c])
		if u := rng.Float64(); u < math.Exp(ratio) && h.inside(c, y) {
			h.move(c, log, score, factor, jump)
		}
	}
	return nil
}
