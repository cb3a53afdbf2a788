package fitted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/fitted/diffusion"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/source"
)

// SampleConfig configures Sample. Zero values select the defaults.
type SampleConfig struct {
	// Sampler is the sampler of rows:
	//
	//	exact     independent draws of a Gaussian (rejection on its domain) or a mixture
	//	hmc       Hamiltonian Monte Carlo from the density
	//	langevin  annealed Langevin steps along the noise levels
	//	sde       the reverse-time SDE
	//	predictive  the posterior draws of the parameters (Model.Posterior)
	//	auto      exact if possible; sde for many noise levels, langevin for a ladder; else hmc
	//
	// langevin and sde need a model with noise levels and no domain.
	Sampler string
	N       int // rows; 1000
	Seed    uint64

	Chains mcmc.Options // of hmc: WarmUp and Draws (default: doubled until the chains converge)
	Steps  int          // of langevin and sde: diffusion.Sampler
}

// Rows are drawn rows.
type Rows struct {
	Sampler string
	Values  []float64    // (n, d) in the units of the table
	Chains  *mcmc.Result // of hmc, else nil
	// Effective sample size of the weighted draws from which chains of an energy started, per chain; 0
	// for other models.
	Start float64
}

// Converged reports that no R-hat is above MaxRHat, or the chains started as draws from the model.
func (r *Rows) Converged() bool {
	return r.Chains == nil || r.Start >= leastStart || r.Chains.WorstRHat() <= MaxRHat
}

// Sample draws complete rows from a model.
func Sample(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
	by, err := c.resolve(f)
	if err != nil {
		return nil, err
	}
	r, err := by.run(ctx, f, c)
	if err != nil {
		return nil, err
	}
	r.Sampler = c.Sampler
	f.restore(r.Values)
	return r, f.checkDraws(r.Values)
}

// For returns c with defaults; it fails if the model does not support c.Sampler.
func (c SampleConfig) For(f *Model) (SampleConfig, error) {
	_, err := c.resolve(f)
	return c, err
}

func (c *SampleConfig) resolve(f *Model) (s sampler[rowDrawer], err error) {
	setting.Default(&c.N, 1000)
	if c.N < 0 {
		return s, fmt.Errorf("%d rows: a positive number is needed", c.N)
	}
	order := []string{predictive, "exact"}
	if f.noiseConditional() != nil && f.Noise.Levels == 0 {
		order = append(order, "sde")
	}
	if scoreOnly, _ := f.scoreOnly(); f.noiseConditional() != nil && (scoreOnly || !f.Noise.Single()) {
		order = append(order, "langevin")
	}
	s, err = choose(f, rowSamplers, "rows", c.Sampler, f.only(), append(order, "hmc")...)
	c.Sampler = s.name
	return s, err
}

type rowDrawer = func(context.Context, *Model, SampleConfig) (*Rows, error)

var rowSamplers = []sampler[rowDrawer]{
	{name: "exact", refuses: needs(func(f *Model) bool { return exactly(f.Model, f.Domain) },
		"independent draws exist for Gaussian models and for mixtures on all of R^d: use hmc",
	), run: func(_ context.Context, f *Model, c SampleConfig) (*Rows, error) {
		values, err := model.SampleRows(f.Model, c.N, f.support(), stream.New(c.Seed, stream.Sample))
		return &Rows{Values: values}, err
	}},
	{name: "hmc", refuses: func(f *Model) error {
		return f.needsDensity("Monte Carlo", "use langevin or sde")
	}, run: func(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
		return byRowChains(ctx, f, c, min(max(c.N, 4), mostChains), rowTries)
	}},
	{
		name: "langevin", refuses: func(f *Model) error { return f.needsNoise("hmc") },
		run: alongNoise((*diffusion.Sampler).Langevin),
	},
	{name: "sde", refuses: func(f *Model) error {
		if err := f.needsNoise("hmc"); err != nil {
			return err
		}
		if f.Noise.Single() {
			return errors.New("the model was fitted at one noise level: use langevin or hmc")
		}
		return nil
	}, run: alongNoise((*diffusion.Sampler).Reverse)},
	{name: predictive, refuses: needsPosterior, run: func(_ context.Context, f *Model, c SampleConfig) (*Rows, error) {
		values, err := f.Posterior.Sample(c.N, new(source.Stream).At(c.Seed, stream.Sample))
		return &Rows{Values: values}, err
	}},
}

// RowSamplers are the values of SampleConfig.Sampler.
var RowSamplers = samplerNames(rowSamplers)

// mostChains is the number of parallel chains; beyond it each chain gives several rows.
const mostChains = 1000

// Chains start at resampled draws of a tilted energy's proposal, else at starts, and continue until
// they converge.
const (
	rowTries      = 4
	proposedRatio = 10 // proposal draws per chain
	leastStart    = 0.5
)

// byRowChains returns rows at equal distances along the chains.
func byRowChains(ctx context.Context, f *Model, c SampleConfig, chains, tries int) (*Rows, error) {
	support, rng := f.support(), stream.New(c.Seed, stream.Sample)
	o, r := c.Chains, &Rows{}
	plain, jump, factor := f.split()
	q := plain.density()
	o.Travel, o.Jump, o.Factor = math.Pi/2, jump, factor
	if o.Draws != 0 {
		tries = 1
	}
	o.Keep = (c.N + chains - 1) / chains
	var x []float64
	var err error
	if jump != nil {
		setting.Default(&o.WarmUp, 40)
		setting.Default(&o.Draws, max(60, 10*o.Keep))
		x, r.Start, err = proposed(ctx, f.density(), support, jump, chains, rng)
		r.Start /= float64(chains)
	} else {
		setting.Default(&o.WarmUp, 200)
		setting.Default(&o.Draws, max(200, 10*o.Keep))
		x, err = starts(support, chains, q.Dim(), rng)
	}
	if err != nil {
		return nil, err
	}
	h, err := mcmc.New(q, support, x, o)
	if err == nil {
		err = h.WarmUp(ctx, o.WarmUp, rng)
	}
	for try := 0; err == nil && try < tries; try++ {
		if r.Chains, err = h.Draw(ctx, o.Draws<<try, rng); err != nil {
			break
		}
		if r.Values = r.Chains.Kept[:c.N*q.Dim()]; r.Converged() {
			break
		}
	}
	return r, err
}

// CheckedRows is the number of rows that CheckDraws draws if draws are independent.
const CheckedRows = 2000

// ErrUnchecked means that the model's rows cannot be compared with a table.
var ErrUnchecked = errors.New("the model describes rows with added noise, not the rows of the table")

// CheckDraws draws the rows of a Check as Sample does, but in the units after Transform.
func CheckDraws(ctx context.Context, f *Model, seed uint64) (*Rows, error) {
	if f.Noise != nil && f.Noise.Single() {
		return nil, ErrUnchecked
	}
	c := SampleConfig{N: CheckedRows, Seed: seed}
	by, err := c.resolve(f)
	if err != nil {
		return nil, err
	}
	var r *Rows
	if c.Sampler == "hmc" {
		c.N = mostChains
		r, err = byRowChains(ctx, f, c, mostChains/2, rowTries-1) // Sample has one more try
	} else {
		if c.Sampler != "exact" {
			c.N = noiseRows
		}
		r, err = by.run(ctx, f, c)
	}
	if err != nil {
		return nil, err
	}
	plain := *f
	plain.Transform = nil
	plain.restore(r.Values)
	return r, nil
}

// proposed draws by sampling-importance resampling with weights q/m; returns the effective sample
// size.
func proposed(ctx context.Context, q model.Model, s *domain.Domain, m *mixture.Mixture, n int, rng *rand.Rand) (x []float64, size float64, err error) {
	pool := m.Draw(proposedRatio*n, rng)
	omega, err := weigh(ctx, q, s, m, pool, proposedRatio*n)
	if err != nil {
		return nil, 0, err
	}
	size = math.Pow(floats.Sum(omega), 2) / floats.Dot(omega, omega)
	floats.CumSum(omega, omega)
	step, at := omega[len(omega)-1]/float64(n), 0
	u := step * rng.Float64()
	for i := range n {
		for at < len(omega)-1 && omega[at] < u+float64(i)*step {
			at++
		}
		x = append(x, pool[at*q.Dim():(at+1)*q.Dim()]...)
	}
	rng.Shuffle(n, func(i, k int) {
		for j := range q.Dim() {
			x[i*q.Dim()+j], x[k*q.Dim()+j] = x[k*q.Dim()+j], x[i*q.Dim()+j]
		}
	})
	return x, size, nil
}

const noiseRows = 500

// Each block has its own random stream.
func alongNoise(by func(*diffusion.Sampler, context.Context, int, *rand.Rand) ([]float64, error)) func(context.Context, *Model, SampleConfig) (*Rows, error) {
	return func(ctx context.Context, f *Model, c SampleConfig) (*Rows, error) {
		s, err := diffusion.New(f.noiseConditional(), *f.Noise, min(c.N, noiseRows))
		if err != nil {
			return nil, err
		}
		var values []float64
		for k := 0; len(values) < c.N*len(f.Names); k++ {
			x, err := by(s, ctx, c.Steps, stream.New(c.Seed, stream.Sample, uint64(k)))
			if err != nil {
				return nil, err
			}
			values = append(values, x...)
		}
		return &Rows{Values: slices.Clip(values[:c.N*len(f.Names)])}, nil
	}
}

// Sample draws n complete rows: independent if possible, else the last states of n HMC chains with
// diagnostics (else nil).
func (s *Saved) Sample(ctx context.Context, n int, rng *rand.Rand) (*data.Table, *mcmc.Result, error) {
	if s.Posterior != nil {
		return nil, nil, errors.New("the model holds posterior draws of its parameters")
	}
	var r *mcmc.Result
	x, err := model.SampleRows(s.Model, n, s.Domain, rng)
	if errors.Is(err, model.ErrNoExactSampler) {
		if x, err = starts(s.Domain, max(n, 4), len(s.Names), rng); err == nil {
			r, err = mcmc.HMC(ctx, s.InUnits(), s.Domain, x, mcmc.Options{}, rng)
		}
		if err == nil {
			x = r.Last[:n*len(s.Names)]
		}
	}
	if err != nil {
		return nil, nil, err
	}
	s.Transform.Restore(x)
	t, err := data.NewTable(s.Names, x, nil)
	return t, r, err
}

// starts returns normal draws, shrunk towards an interior point.
func starts(s *domain.Domain, n, d int, rng *rand.Rand) ([]float64, error) {
	x := make([]float64, n*d)
	for i := range x {
		x[i] = 0.5 * rng.NormFloat64()
	}
	if !s.Bounded() {
		return x, nil
	}
	none := make([]float64, d)
	inner, ok := s.Interior(none, none)
	if !ok {
		return nil, errors.New("the domain has no interior")
	}
	for i := 0; i < len(x); i += d {
		row := x[i : i+d]
		for range 100 {
			if s.Contains(row) {
				break
			}
			for j := range row {
				row[j] = inner[j] + 0.7*(row[j]-inner[j])
			}
		}
	}
	return x, nil
}

// exactly reports whether independent draws of m on s exist.
func exactly(m model.Model, s *domain.Domain) bool {
	_, err := model.SampleRows(m, 1, s, stream.New(0))
	return !errors.Is(err, model.ErrNoExactSampler)
}
