package fitted

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/nets"
	"missingscore/trainers/fitted/diffusion"
	"missingscore/trainers/source"
)

// completer draws the gaps of some rows of a table.
type completer func(ctx context.Context, rows []int, rng *source.Stream) (block, error)

// bySource is by a source, each draw from scratch.
func (f *Model) bySource(z *data.Table, draws int, from func(source.Setting) (source.Source, error)) (completer, error) {
	gaps, err := from(source.Setting{Model: f.Model, Table: z, Imputer: f.Imputer, Batch: blockRows, Draws: draws, Domain: f.gaps()})
	batch := data.NewBatch(blockRows, z.D)
	x, log := make([]float64, blockRows*draws*z.D), make([]float64, blockRows*draws)
	return func(_ context.Context, rows []int, rng *source.Stream) (block, error) {
		batch.Fill(z, rows, 1)
		if err := gaps.Complete(batch, x, log, rng); err != nil {
			return block{}, err
		}
		done := block{rows: rows, mask: batch.Mask[:len(rows)*z.D], x: x[:len(rows)*draws*z.D]}
		if chained, ok := gaps.(source.Chained); ok {
			var err error
			if done.rhat, err = chained.RHat(batch, rng); err != nil {
				return block{}, err
			}
			done.size = slices.Repeat([]float64{math.Inf(1)}, len(rows))
		}
		return done, nil
	}, err
}

// columns are mean and deviation of the observed cells; 0 and 1 where these do not say.
func columns(z *data.Table) (mean, sd []float64) {
	for j := range z.D {
		m, v := 0., 1.
		if x := z.Column(j); len(x) > 0 {
			m, v = stat.PopMeanVariance(x, nil)
		}
		if v == 0 {
			v = 1
		}
		mean, sd = append(mean, m), append(sd, math.Sqrt(v))
	}
	return mean, sd
}

// byLangevin draws by Langevin steps along the levels of noise.
func (f *Model) byLangevin(z *data.Table, c ImputeConfig) (completer, error) {
	s, err := diffusion.New(f.noiseConditional(), *f.Noise, blockRows*c.Draws)
	if err != nil {
		return nil, err
	}
	batch := data.NewBatch(blockRows, z.D)
	x, mask := make([]float64, blockRows*c.Draws*z.D), make([]float64, blockRows*c.Draws*z.D)
	return func(ctx context.Context, rows []int, rng *source.Stream) (block, error) {
		batch.Fill(z, rows, 1)
		source.Repeat(batch, c.Draws, x)
		for i := range blockRows {
			copy(mask[i*c.Draws*z.D:], slices.Repeat(batch.Mask[i*z.D:(i+1)*z.D], c.Draws))
		}
		y, err := s.Complete(ctx, x, mask, c.Diffusion, rng.Rand)
		if err != nil {
			return block{}, err
		}
		return block{rows: rows, mask: batch.Mask[:len(rows)*z.D], x: y[:len(rows)*c.Draws*z.D]}, nil
	}, nil
}

// leastNoise is the imputer's draws of rows without noise: a noise-conditional imputer is told
// the least level, where a z stands for a z + σ ε.
type leastNoise struct {
	source.Source
	signal, sigma float64
}

func newLeastNoise(f *Model) func(source.Setting) (source.Source, error) {
	return func(s source.Setting) (source.Source, error) {
		draws, err := source.NewImputer(s)
		if normal, ok := f.Imputer.(nets.NormalConditional); err != nil || !ok || !normal.NoiseConditional() {
			return draws, err
		}
		signal, sigma := f.Noise.At(0)
		return leastNoise{draws, signal, sigma}, nil
	}
}

// Complete implements source.Source.
func (l leastNoise) Complete(b *data.Batch, x, logProposal []float64, rng *source.Stream) error {
	b.Signal, b.Noise = slices.Repeat([]float64{l.signal}, b.Size), slices.Repeat([]float64{l.sigma}, b.Size)
	for i := range b.X {
		b.X[i] *= l.signal
	}
	err := l.Source.Complete(b, x, logProposal, rng)
	for i := range x {
		x[i] /= l.signal
	}
	return err
}
