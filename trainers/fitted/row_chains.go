package fitted

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/trainers/mcmc"
	"missingscore/trainers/source"
)

const (
	rowChains     = 4   // for each row
	firstWarmUp   = 150 // iterations, of the first attempt
	firstDraws    = 250
	chainAttempts = 4 // each twice as long as the one before
	leastSize     = 100
)

// chainRun draws rows by Monte Carlo: draw k of a row is of its chain k mod 4. All rows of
// a block run at once, in one program. Rows whose chains have not met go on from where
// they are, without the others and twice as long, up to chainAttempts times; what came before
// is warm-up. A number of iterations that the caller asks for is kept to.
type chainRun struct {
	density model.Model
	support *domain.Domain
	options mcmc.Options // of the first attempt
	draws   int
	tries   int
}

// byChains draws by a chainRun.
func byChains(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	mean, sd := columns(z)
	from := newLeastNoise(f)
	if f.Imputer == nil {
		from = func(s source.Setting) (source.Source, error) {
			return source.NewNormals(mean, sd, s), nil
		}
	}
	start, err := bySource(f, z, rowChains, from)
	if err != nil {
		return nil, err
	}
	run := &chainRun{f.joint(), f.gaps(), c.Chains, c.Draws, chainAttempts}
	o := &run.options
	o.Group, o.Scale, o.Centre, o.Keep = rowChains, sd, mean, (c.Draws+rowChains-1)/rowChains
	if o.Leapfrog == 0 {
		o.Travel = math.Pi / 2 // a quarter of a normal's period
	}
	if o.Draws != 0 {
		run.tries = 1
	}
	setting.Default(&o.Draws, max(firstDraws, 10*o.Keep))
	setting.Default(&o.WarmUp, firstWarmUp)
	if o.Keep > o.Draws {
		return nil, fmt.Errorf("%d iterations of %d chains do not give %d draws of a row: ask for more iterations or for fewer draws", o.Draws, rowChains, c.Draws)
	}
	return func(ctx context.Context, rows []int, rng *source.Stream) (block, error) {
		b, err := start(ctx, rows, rng)
		if err != nil {
			return b, err
		}
		if err := run.complete(ctx, &b, z.D, rng.Rand); err != nil {
			return b, fmt.Errorf("rows %d to %d of the table: %w", rows[0]+1, rows[len(rows)-1]+1, err)
		}
		return b, nil
	}, nil
}

// complete puts draws in the place of b.x, which holds where the chains start.
func (m *chainRun) complete(ctx context.Context, b *block, d int, rng *rand.Rand) error {
	n, o, x := len(b.rows), m.options, b.x
	b.x, b.rhat, b.size = make([]float64, n*m.draws*d), make([]float64, n), make([]float64, n)
	open := make([]int, n) // rows whose chains have not met
	for i := range open {
		open[i] = i
	}
	for try := 1; len(open) > 0 && try <= m.tries; try++ {
		o.Observed = nil
		for _, i := range open {
			o.Observed = append(o.Observed, slices.Repeat(b.mask[i*d:(i+1)*d], rowChains)...)
		}
		r, err := mcmc.HMC(ctx, m.density, m.support, x, o, rng)
		if err != nil {
			return err
		}
		var apart []int
		x = nil
		for a, i := range open {
			b.rhat[i], b.size[i] = r.GroupRHat[a], r.GroupSize[a]
			m.take(b.x[i*m.draws*d:(i+1)*m.draws*d], r.Kept[a*rowChains*o.Keep*d:], d)
			if !(b.rhat[i] <= MaxRHat && b.size[i] >= float64(max(leastSize, m.draws))) {
				apart = append(apart, i)
				x = append(x, r.Last[a*rowChains*d:(a+1)*rowChains*d]...)
			}
		}
		open, o.WarmUp, o.Draws = apart, 2*o.WarmUp, 2*o.Draws
	}
	return nil
}

// take fills x (draws, d) from the states kept of a row's chains, the last ones first.
func (m *chainRun) take(x, kept []float64, d int) {
	keep := m.options.Keep
	for k := range m.draws {
		at := (k%rowChains)*keep + keep - 1 - k/rowChains
		copy(x[k*d:(k+1)*d], kept[at*d:(at+1)*d])
	}
}
