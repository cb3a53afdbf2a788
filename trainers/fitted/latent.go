package fitted

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/trainers/posterior"
	"missingscore/trainers/source"
)

// Gibbs sweeps of a row before the first draw, and between draws.
const (
	latentWarmUp  = 200
	latentSpacing = 20
)

var errLatentScore = errors.New("a model of ordered categories has no score: fit a model without Spec.Transform=ordinal, which takes the codes as numbers")

func (f *Model) ordinal() bool { return f.Posterior == nil && f.Transform.Ordinal() != nil }

// byLatent makes Gibbs sweeps over a row's latent normals, within the thresholds of observed
// categories (docs/theory/ordinal.md#eq-latent-draws).
func byLatent(f *Model, z *data.Table, draws int) (completer, error) {
	m, ok := model.AsNormal(f.Model)
	if !ok {
		return nil, errors.New("latent needs a Gaussian model")
	}
	mean, p := m.Mean(), m.Precision()
	coefficients := mat.NewDense(z.D, z.D, nil) // −P_jk/P_jj
	coefficients.Apply(func(j, k int, _ float64) float64 {
		if j == k {
			return 0
		}
		return -p.At(j, k) / p.At(j, j)
	}, coefficients)
	return func(_ context.Context, b *block, rng *source.Stream) error {
		for i, row := range b.rows {
			x := slices.Clone(z.Values[row*z.D : (row+1)*z.D])
			for j, seen := range z.Observed[row*z.D : (row+1)*z.D] {
				if !seen {
					x[j] = mean[j]
				}
			}
			floats.Sub(x, mean)
			for s := range latentWarmUp + 1 + latentSpacing*(draws-1) {
				sweep(z, row, x, mean, p, coefficients, rng)
				if k := s - latentWarmUp; k >= 0 && k%latentSpacing == 0 {
					floats.AddTo(b.x[(i*draws+k/latentSpacing)*z.D:][:z.D], x, mean)
				}
			}
		}
		return nil
	}, nil
}

func sweep(z *data.Table, row int, x, mean []float64, p *mat.SymDense, coefficients *mat.Dense, rng *source.Stream) {
	for j := range x {
		seen := z.Observed[row*z.D+j]
		if seen && !z.Ordinal(j) {
			continue
		}
		centre, sd := floats.Dot(coefficients.RawRowView(j), x), 1/math.Sqrt(p.At(j, j))
		low, high := math.Inf(-1), math.Inf(1)
		if seen {
			low, high = posterior.Interval(z.Cuts[j], sort.SearchFloat64s(z.Cuts[j], z.Values[row*z.D+j]))
		}
		low, high = (low-mean[j]-centre)/sd, (high-mean[j]-centre)/sd
		x[j] = centre + sd*truncnorm.Transport(rng.NormFloat64(), low, high)
	}
}

// mostFrequent returns the mode, the least of several.
func mostFrequent(draws []float64) (most float64) {
	best, run, last := 0, 0, math.NaN()
	for _, v := range slices.Sorted(slices.Values(draws)) {
		if run++; v != last {
			run = 1
		}
		if last = v; run > best {
			most, best = v, run
		}
	}
	return most
}
