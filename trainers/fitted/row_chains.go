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
	"missingscore/internal/trainers/mcmc"
	"missingscore/nets"
	"missingscore/trainers/source"
)

const (
	rowChains     = 4   // per row
	firstWarmUp   = 150 // iterations of the first attempt
	firstDraws    = 250
	chainAttempts = 4 // each twice as long as the one before
	leastSize     = 100
)

// Draw k of a row comes from its chain k mod 4. Chains that have not converged continue, doubling
// in length, unless the caller set the iterations.
func byChains(f *Model, z *data.Table, c ImputeConfig) (completer, error) {
	mean, sd := source.Marginals(z)
	from := newLeastNoise(f)
	if f.Imputer == nil {
		from = func(s source.Setting) (source.Source, error) { return source.NewNormals(mean, sd, s), nil }
	}
	start, err := bySource(f, z, rowChains, from)
	if err != nil {
		return nil, err
	}
	first, tries := c.Chains, chainAttempts
	first.Group, first.Scale, first.Keep = rowChains, sd, (c.Draws+rowChains-1)/rowChains
	if e, ok := f.Model.(nets.Tilted); ok && e.Proposal() != nil {
		first.Jump = e.Proposal()
	} else {
		first.Jump = model.NewMixed(1, make([]int, z.D))
		for j, v := range sd {
			first.Jump.Means[0][j], first.Jump.Covariances[0][j*z.D+j] = mean[j], v*v
		}
	}
	first.Travel = math.Pi / 2 // a quarter period of a standard normal
	if first.Draws != 0 {
		tries = 1
	}
	setting.Default(&first.Draws, max(firstDraws, 10*first.Keep))
	setting.Default(&first.WarmUp, firstWarmUp)
	if first.Keep > first.Draws {
		return nil, fmt.Errorf("%d iterations of %d chains do not give %d draws of a row: ask for more iterations or for fewer draws", first.Draws, rowChains, c.Draws)
	}
	return func(ctx context.Context, rows []int, rng *source.Stream) (block, error) {
		b, err := start(ctx, rows, rng)
		if err != nil {
			return b, err
		}
		if err := meet(ctx, &b, f.joint(), f.gaps(), first, c.Draws, tries, rng.Rand); err != nil {
			return b, fmt.Errorf("rows %d to %d of the table: %w", rows[0]+1, rows[len(rows)-1]+1, err)
		}
		return b, nil
	}, nil
}

// b.x are the chains' starts; o configures the first attempt.
func meet(ctx context.Context, b *block, density model.Model, support *domain.Domain, o mcmc.Options, draws, tries int, rng *rand.Rand) error {
	n, d, x := len(b.rows), density.Dim(), b.x
	b.x, b.rhat, b.size = make([]float64, n*draws*d), make([]float64, n), make([]float64, n)
	open := make([]int, n) // rows whose chains have not converged
	for i := range open {
		open[i] = i
	}
	for try := 1; len(open) > 0 && try <= tries; try++ {
		o.Observed = nil
		for _, i := range open {
			o.Observed = append(o.Observed, slices.Repeat(b.mask[i*d:(i+1)*d], rowChains)...)
		}
		r, err := mcmc.HMC(ctx, density, support, x, o, rng)
		if err != nil {
			return err
		}
		var apart []int
		x = nil
		for a, i := range open {
			b.rhat[i], b.size[i] = r.GroupRHat[a], r.GroupSize[a]
			for k := range draws { // the last states first
				at := (a*rowChains+k%rowChains)*o.Keep + o.Keep - 1 - k/rowChains
				copy(b.x[(i*draws+k)*d:], r.Kept[at*d:(at+1)*d])
			}
			if !(b.rhat[i] <= MaxRHat && b.size[i] >= float64(max(leastSize, draws))) {
				apart = append(apart, i)
				x = append(x, r.Last[a*rowChains*d:(a+1)*rowChains*d]...)
			}
		}
		open, o.WarmUp, o.Draws = apart, 2*o.WarmUp, 2*o.Draws
	}
	return nil
}
