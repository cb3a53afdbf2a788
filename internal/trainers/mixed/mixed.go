// Package mixed fits mixture.Mixture by EM of the observed-data likelihood and chooses the number of
// components by held-out rows (docs/theory/models.md#eq-mixed).
package mixed

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/internal/data/mixture"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// Config configures Fit. Zero values select the defaults.
type Config struct {
	Components int     // 0: chosen by the held-out log density
	Folds      int     // number of the five folds that are held out for it; 5
	Iterations int     // maximum number of EM iterations; Iterations
	Tolerance  float64 // EM stops when the mean log posterior per row grows by less; Tolerance
	Seed       uint64
	Workers    int                                   // parallel fits; 1. Results do not depend on it.
	Observe    func(last Try, tried, candidates int) // may be nil

	// State continues an interrupted fit with the same result and is kept up to date; nil: none. Save
	// is called after each change, from one goroutine; may be nil.
	State *State
	Save  func() error
}

type State struct {
	Tried []Try
	// Of the final fit, by component, for standardised numbers; nil before it.
	Weights                    []float64
	Means, Covariances, Shares [][]float64
	Turns                      []turn
	Started                    int // turns of the best start
}

func (s *State) keep(m *mixture.Mixture, turns []turn) {
	s.Weights, s.Means, s.Covariances, s.Shares, s.Turns = m.Weights, m.Means, m.Covariances, m.Shares, turns
}

// The search stops after two without improvement.
var candidates = []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40}

const (
	Iterations = 2000
	Tolerance  = 1e-7
)

type Fitted struct {
	Model      *mixture.Mixture // in the table's units
	Likelihood float64          // mean log density of a row's observed cells
	Turns      []turn           // EM iterations
	Converged  bool
	Tried      []Try // tried numbers of components, if one was chosen
	// Unseen is, per column, the weight of components that observe less than one row of it.
	Unseen []float64
}

type turn struct {
	Likelihood float64 // mean log density of a row's observed cells
	Posterior  float64 // with the log prior, divided by the number of rows
}

// Try has the mean held-out log density of a row's observed cells.
type Try struct {
	Components int     `json:"components"`
	HeldOut    float64 `json:"held_out"`
}

const (
	folds      = 5    // folds of the choice of the number of components
	chosenRows = 1500 // maximum number of rows for the choice

	leastGain = 3. // least gain in the held-out log density of all rows for more components

	starts = 4  // random starts; the best after short iterations continues; two for the choice
	short  = 20 // iterations

	chosenIterations = 30 // of a fit for the choice
)

// The prior bounds the likelihood. With standardised numbers, p_l the shares of the observed cells
// with half a cell added per level, and d numeric columns:
//
//	w ~ Dirichlet(1 + 1/K),  π_kl ~ Dirichlet(1 + p_l),
//	log p(m_k, Σ_k) = −½ ( ν log |Σ_k| + tr(Σ_k⁻¹ (ν Ψ + 0.01 m_k m_kᵀ)) )
//
// With one component Ψ = I and ν = 2. With more, Ψ is the components' mean covariance with 2 rows
// of K^(−2/d) I, and ν = d + 2. Standard deviations are at least the rounding error of their
// column.
const (
	priorMean = 0.01 // prior rows of the mean
	priorRows = 2.   // ν, or ν − d
	priorSize = 1.   // prior rows of p_l
)

type problem struct {
	*data.Table
	start   *mixture.Mixture // one component with the table's means, standard deviations and shares
	pooled  []float64        // (numbers, numbers): covariance of one component, fitted
	least   []float64        // least standard deviation, by index of a number
	numbers int
}

// fitOn iterates, at least once, until an iteration gains less than c.Tolerance or ctx is cancelled.
func fitOn(ctx context.Context, p *problem, rows []int, c Config, from *mixture.Mixture, iterations int, after func(m *mixture.Mixture, path []turn)) (m *mixture.Mixture, path []turn, converged bool) {
	for m = from; ; {
		e, turn := p.expect(m, rows)
		path = append(path, turn)
		if after != nil {
			after(m, path)
		}
		n := len(path)
		converged = n > 1 && math.Abs(turn.Posterior-path[n-2].Posterior) < c.Tolerance
		if converged || n >= iterations || ctx.Err() != nil {
			return m, path, converged
		}
		m = e.solve(m)
	}
}

// Fit fits a mixture to a table. It fails if ctx is cancelled.
func Fit(ctx context.Context, t *data.Table, c Config) (*Fitted, error) {
	setting.Default(&c.Folds, folds)
	setting.Default(&c.Iterations, Iterations)
	setting.Default(&c.Tolerance, Tolerance)
	if c.State == nil {
		c.State = &State{}
	}
	if c.Save == nil {
		c.Save = func() error { return nil }
	}
	p, scale := newProblem(t)
	rows := t.AllRows()
	if p.numbers > 0 {
		one, _, _ := fitOn(ctx, p, rows, c, p.start, chosenIterations, nil)
		p.pooled = one.Covariances[0]
	}
	f := &Fitted{}
	if c.Components == 0 {
		if err := f.choose(ctx, p, &c); err != nil {
			return nil, err
		}
	}
	s := c.State
	if s.Weights == nil {
		best, path := p.best(ctx, rows, c.Components, starts, c, 0)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.Started = len(path)
		s.keep(best, path)
	}
	from := mixture.New(c.Components, p.start.Levels)
	from.Weights, from.Means, from.Covariances, from.Shares = s.Weights, s.Means, s.Covariances, s.Shares
	before := s.Turns[:len(s.Turns)-1] // the first new turn repeats the last one
	var failed error
	f.Model, _, f.Converged = fitOn(ctx, p, rows, c, from, max(1, c.Iterations-len(s.Turns)+s.Started), func(m *mixture.Mixture, path []turn) {
		s.keep(m, slices.Concat(before, path))
		failed = cmp.Or(failed, c.Save())
	})
	if err := cmp.Or(failed, ctx.Err()); err != nil {
		return nil, err
	}
	f.Turns = s.Turns
	sortByWeight(f.Model)
	f.Unseen = unseen(p, f.Model, rows)
	units := -meanLogDensity(f.Model, p.Table, rows)
	if err := f.Model.Rescale(scale.Mean, scale.Deviation); err != nil {
		return nil, err
	}
	f.Likelihood = meanLogDensity(f.Model, t, rows)
	units += f.Likelihood
	for i := range f.Turns {
		f.Turns[i].Likelihood += units
		f.Turns[i].Posterior += units
	}
	return f, nil
}

func unseen(p *problem, m *mixture.Mixture, rows []int) []float64 {
	e, _ := p.expect(m, rows)
	share := make([]float64, p.D)
	for k, w := range m.Weights {
		for j := range share {
			at, cells := p.start.Place(j), 0.0
			if n := p.start.Levels[j]; n > 0 {
				cells = floats.Sum(e.levels[k][at : at+n])
			} else {
				cells = e.count[k][at]
			}
			if cells < 1 {
				share[j] += w
			}
		}
	}
	return share
}

func meanLogDensity(m *mixture.Mixture, t *data.Table, rows []int) float64 {
	joint, given, sum, weight := make([]float64, len(m.Weights)), m.ByPattern(), 0.0, 0.0
	for _, i := range rows {
		w := t.Weight(i)
		sum += w * given(t.Observed[i*t.D:(i+1)*t.D]).Joint(t.Values[i*t.D:(i+1)*t.D], joint)
		weight += w
	}
	return sum / weight
}

func (f *Fitted) choose(ctx context.Context, p *problem, c *Config) error {
	order := stream.New(c.Seed, stream.Validate).Perm(p.N)
	order = order[:min(p.N, chosenRows)]
	best, since := math.Inf(-1), 0
	for _, k := range candidates {
		if k > len(order)/(2*folds) && k > 1 || since == 2 {
			break
		}
		if n := len(f.Tried); n == len(c.State.Tried) {
			held := make([]float64, c.Folds)
			if err := panics.Each(ctx, max(1, c.Workers), c.Folds, func() (func(context.Context, int) error, error) {
				return func(ctx context.Context, fold int) (err error) {
					held[fold], err = p.heldOut(ctx, order, k, fold, *c)
					return err
				}, nil
			}, nil); err != nil {
				return err
			}
			c.State.Tried = append(c.State.Tried, Try{k, floats.Sum(held) / float64(c.Folds)})
			if err := c.Save(); err != nil {
				return err
			}
		}
		try := c.State.Tried[len(f.Tried)]
		f.Tried = append(f.Tried, try)
		if c.Observe != nil {
			c.Observe(try, len(f.Tried), len(candidates))
		}
		since++
		if (try.HeldOut-best)*float64(len(order)) > leastGain {
			best, c.Components, since = try.HeldOut, k, 0
		}
	}
	return nil
}

func (p *problem) heldOut(ctx context.Context, order []int, k, fold int, c Config) (float64, error) {
	var train, test []int
	for at, i := range order {
		if at%folds == fold {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	slices.Sort(train)
	m, _ := p.best(ctx, train, k, 2, c, uint64(fold)+1)
	m, _, _ = fitOn(ctx, p, train, c, m, chosenIterations, nil)
	return meanLogDensity(m, p.Table, test), ctx.Err()
}

func newProblem(t *data.Table) (*problem, data.Scale) {
	levels := make([]int, t.D)
	scale := data.UnitScale(t.D)
	all := data.StandardScale(t)
	for j := range t.D {
		if levels[j] = len(data.Coded(t, j)); levels[j] == 0 {
			scale.Mean[j], scale.Deviation[j] = all.Mean[j], all.Deviation[j]
		}
	}
	p := &problem{Table: scale.Standardised(t), start: mixture.New(1, levels)}
	p.numbers = len(p.start.Means[0])
	p.least = make([]float64, p.numbers)
	for j, n := range levels {
		at := p.start.Place(j)
		if n == 0 {
			p.least[at] = Step(p.Column(j)) / math.Sqrt(12)
			continue
		}
		share := p.start.Shares[0][at : at+n]
		for c := range share { // keeps unobserved levels possible
			share[c] = 0.5
		}
		for i := range p.N {
			if p.Observed[i*p.D+j] {
				share[int(p.Values[i*p.D+j])] += t.Weight(i)
			}
		}
		floats.Scale(1/floats.Sum(share), share)
	}
	return p, scale
}

// Step returns the median distance of neighbouring values; 0 of a constant.
func Step(x []float64) float64 {
	distinct := slices.Compact(slices.Sorted(slices.Values(x)))
	var gaps []float64
	for i := 1; i < len(distinct); i++ {
		gaps = append(gaps, distinct[i]-distinct[i-1])
	}
	if gaps == nil {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

func (p *problem) best(ctx context.Context, rows []int, k, starts int, c Config, fold uint64) (best *mixture.Mixture, path []turn) {
	greatest := math.Inf(-1)
	for s := range starts {
		m := p.scattered(rows, k, stream.New(c.Seed, stream.Initial, uint64(k), fold, uint64(s)))
		m, turns, _ := fitOn(ctx, p, rows, c, m, short, nil)
		if v := turns[len(turns)-1].Posterior; best == nil || v > greatest {
			best, path, greatest = m, turns, v
		}
		if k == 1 {
			break
		}
	}
	return best, path
}

// scattered makes one step from rows assigned to the nearest of k rows, chosen as in k-means++.
func (p *problem) scattered(rows []int, k int, rng *rand.Rand) *mixture.Mixture {
	nearest, of := slices.Repeat([]float64{math.Inf(1)}, len(rows)), make([]int, len(rows))
	centre := rows[rng.IntN(len(rows))]
	for c := range k {
		total := 0.0
		for at, i := range rows {
			if d := p.distance(i, centre); d < nearest[at] {
				nearest[at], of[at] = d, c
			}
			total += nearest[at]
		}
		u := rng.Float64() * total
		for at, i := range rows {
			if u -= nearest[at]; u < 0 {
				centre = i
				break
			}
		}
	}
	from := mixture.New(k, p.start.Levels) // missing cells from one normal
	for c := range k {
		if p.numbers > 0 {
			floats.ScaleTo(from.Covariances[c], math.Pow(float64(k), -2/float64(p.numbers)), p.pooled)
		}
	}
	component := map[int]int{}
	for at, i := range rows {
		component[i] = of[at]
	}
	e, r := newStep(p, k), make([]float64, k)
	for _, group := range p.Patterns(rows) {
		e.add(from.Given(p.Observed[group[0]*p.D:(group[0]+1)*p.D]), group, func(i int) []float64 {
			clear(r)
			r[component[i]] = 1
			return r
		})
	}
	return e.solve(from)
}

// distance returns the mean of squared differences over common columns; for different levels, twice
// the share of other levels.
func (p *problem) distance(i, k int) float64 {
	sum, n := 0.0, 0.0
	for j := range p.D {
		a, b := i*p.D+j, k*p.D+j
		if !p.Observed[a] || !p.Observed[b] {
			continue
		}
		n++
		if p.start.Levels[j] == 0 {
			sum += (p.Values[a] - p.Values[b]) * (p.Values[a] - p.Values[b])
		} else if p.Values[a] != p.Values[b] {
			sum += 2
		}
	}
	if n == 0 {
		return 2
	}
	return sum / n
}

func sortByWeight(m *mixture.Mixture) {
	order := make([]int, len(m.Weights))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Weights[b], m.Weights[a]) })
	sorted := *m
	sorted.Weights, sorted.Means, sorted.Covariances, sorted.Shares = nil, nil, nil, nil
	for _, k := range order {
		sorted.Weights, sorted.Shares = append(sorted.Weights, m.Weights[k]), append(sorted.Shares, m.Shares[k])
		sorted.Means, sorted.Covariances = append(sorted.Means, m.Means[k]), append(sorted.Covariances, m.Covariances[k])
	}
	*m = sorted
}
