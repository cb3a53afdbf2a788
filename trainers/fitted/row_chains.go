package fitted

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/setting"
	"missingscore/internal/trainers/mcmc"
	"missingscore/trainers/source"
)

const (
	rowChains     = 4   // per row
	firstWarmUp   = 60  // iterations
	firstDraws    = 120 // iterations of the first attempt
	chainAttempts = 5   // each twice as long as the one before
	leastSize     = 100
)

// Draw k of a row comes from its chain k mod 4. Chains that have not converged go on, twice as long
// as before, unless the caller set the iterations.
func byChains(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	mean, sd := source.Marginals(z)
	from := newLeastNoise(f)
	if f.Imputer == nil {
		from = func(s source.Setting) (source.Source, error) { return source.NewNormals(mean, sd, s), nil }
	}
	start, err := bySource(f, z, rowChains, from, false)
	if err != nil {
		return nil, err
	}
	o, tries := c.Chains, chainAttempts
	plain, jump, factor := f.split()
	if o.Jump, o.Factor = jump, factor; jump == nil {
		o.Jump = mixture.New(1, make([]int, z.D))
		for j, v := range sd {
			o.Jump.Means[0][j], o.Jump.Covariances[0][j*z.D+j] = mean[j], v*v
		}
	}
	o.Group, o.Scale, o.Keep = rowChains, sd, (c.Draws+rowChains-1)/rowChains
	o.Travel = math.Pi / 2 // a quarter period of a standard normal
	if o.Draws != 0 {
		tries = 1
	}
	setting.Default(&o.Draws, max(firstDraws, 10*o.Keep))
	setting.Default(&o.WarmUp, firstWarmUp)
	if o.Keep > o.Draws {
		return nil, fmt.Errorf("%d iterations of %d chains do not give %d draws of a row: ask for more iterations or for fewer draws", o.Draws, rowChains, c.Draws)
	}
	return func(ctx context.Context, b *block, rng *source.Stream) error {
		at := newBlock(z, b.rows, rowChains)
		err := start(ctx, at, rng)
		if err == nil {
			err = meet(ctx, b, at, plain.joint(), f.gaps(), o, c.Draws, tries, rng.Rand)
		}
		if err != nil {
			err = fmt.Errorf("rows %d to %d of the table: %w", b.rows[0]+1, b.rows[len(b.rows)-1]+1, err)
		}
		return err
	}, nil
}

// o.Draws is of the first attempt.
func meet(ctx context.Context, b, start *block, density model.Model, support *domain.Domain, o mcmc.Options, draws, tries int, rng *rand.Rand) error {
	n, d := len(b.rows), density.Dim()
	var open []int // rows whose chains have not converged
	for i := range n {
		open = append(open, i)
	}
	o.Observed = start.mask
	chains, err := mcmc.New(density, support, start.x, o)
	if err != nil {
		return err
	}
	b.rhat, b.size = make([]float64, n), make([]float64, n)
	if err := chains.WarmUp(ctx, o.WarmUp, rng); err != nil {
		return err
	}
	for try := range tries {
		r, err := chains.Draw(ctx, o.Draws<<try, rng)
		if err != nil {
			return err
		}
		var groups, apart []int
		for a, i := range open {
			b.rhat[i], b.size[i] = r.GroupRHat[a], r.GroupSize[a]
			for k := range draws { // the last states first
				at := (a*rowChains+k%rowChains)*o.Keep + o.Keep - 1 - k/rowChains
				copy(b.x[(i*draws+k)*d:], r.Kept[at*d:(at+1)*d])
			}
			if !(b.rhat[i] <= MaxRHat && b.size[i] >= float64(max(leastSize, draws))) {
				groups, apart = append(groups, a), append(apart, i)
			}
		}
		if open = apart; len(open) == 0 {
			break
		}
		if err := chains.Only(groups); err != nil {
			return err
		}
	}
	return nil
}
