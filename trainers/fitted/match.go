package fitted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/truncnorm"
	"missingscore/internal/panics"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
)

// MatchConfig configures predictive-mean matching.
type MatchConfig struct {
	Donors  int // candidates per cell; 5
	Seed    uint64
	Workers int                   // threads; 1. Results do not depend on it.
	Observe func(done, total int) // called after each draw of the table, if set
}

var errNoMatch = errors.New("predictive-mean matching needs a fitted model of numbers, with cells missing at random: leave out MatchConfig.Donors")

// Match replaces missing cells by observed values: predictive-mean matching
// (docs/theory/sampling.md#eq-matching). For each draw a row without x_j takes the value of one of
// the c.Donors rows inside the domain with the nearest E[x_j | x_−j]; if there is none, the draw
// stays. It returns the number of cells that kept the draw.
func Match(ctx context.Context, f *Model, t *data.Table, r *Imputed, c MatchConfig) (int, error) {
	setting.Default(&c.Donors, 5)
	setting.Default(&c.Workers, 1)
	if c.Donors < 1 || c.Workers < 1 {
		return 0, fmt.Errorf("%d donors, %d workers: both must be positive", c.Donors, c.Workers)
	}
	if f.Missingness != nil || f.ordinal() || f.only() != "" {
		return 0, errNoMatch
	}
	var kept atomic.Int64
	done := 0
	err := panics.Each(ctx, c.Workers, r.Draws, func() (func(context.Context, int) error, error) {
		p, err := f.predictor(t.N)
		return func(ctx context.Context, k int) error {
			stayed, err := matchDraw(ctx, f, t, r, c, p, k)
			kept.Add(int64(stayed))
			return err
		}, err
	}, func(int) error {
		if done++; c.Observe != nil {
			c.Observe(done, r.Draws)
		}
		return nil
	})
	return int(kept.Load()), err
}

func matchDraw(ctx context.Context, f *Model, t *data.Table, r *Imputed, c MatchConfig, p predictor, k int) (kept int, err error) {
	x := &data.Table{Names: t.Names, N: t.N, D: t.D, Observed: slices.Repeat([]bool{true}, len(t.Values))}
	for i := range t.N {
		x.Values = append(x.Values, r.row(i, k, t.D)...)
	}
	if x, err = f.Transform.Table(x); err != nil {
		return 0, err
	}
	z := f.Scale.Standardised(x).Values
	rng := stream.New(c.Seed, stream.Sample, uint64(k), 1)
	for j := 0; j < t.D && err == nil; j++ {
		var stayed int
		stayed, err = matchColumn(f, t, r, c, p, j, k, z, rng)
		kept, err = kept+stayed, cmp.Or(err, ctx.Err())
	}
	return kept, err
}

func (r *Imputed) row(i, k, d int) []float64 {
	at := (i*r.Draws + k) * d
	return r.Values[at : at+d]
}

// z are the completed rows in the model's units.
func matchColumn(f *Model, t *data.Table, r *Imputed, c MatchConfig, p predictor, j, k int, z []float64, rng *rand.Rand) (kept int, err error) {
	var donors []int // rows with an observed value
	for i := range t.N {
		if t.Observed[i*t.D+j] {
			donors = append(donors, i)
		}
	}
	if len(donors) == t.N || len(donors) == 0 {
		return t.N - len(donors), nil
	}
	expected, err := p(z, j)
	if err != nil {
		return 0, err
	}
	rng.Shuffle(len(donors), func(a, b int) { donors[a], donors[b] = donors[b], donors[a] }) // random order of ties
	slices.SortStableFunc(donors, func(a, b int) int { return cmp.Compare(expected[a], expected[b]) })
	allowed := allowed(f, t)
	for i := range t.N {
		if t.Observed[i*t.D+j] {
			continue
		}
		row := r.row(i, k, t.D)
		was := row[j]
		near := nearest(donors, expected, i, c.Donors, func(from int) bool {
			row[j] = t.Values[from*t.D+j]
			return allowed(i, row)
		})
		if row[j] = was; len(near) == 0 {
			kept++
			continue
		}
		from := near[rng.IntN(len(near))]
		row[j] = t.Values[from*t.D+j]
		z[i*t.D+j] = z[from*t.D+j]
	}
	return kept, nil
}

// nearest returns the k possible donors, sorted by prediction, that are nearest to row i.
func nearest(donors []int, expected []float64, i, k int, mayBe func(row int) bool) (rows []int) {
	high := sort.Search(len(donors), func(a int) bool { return expected[donors[a]] >= expected[i] })
	low := high - 1
	apart := func(a int) float64 { return math.Abs(expected[donors[a]] - expected[i]) }
	for len(rows) < k && (low >= 0 || high < len(donors)) {
		var row int
		if high == len(donors) || low >= 0 && apart(low) <= apart(high) {
			row, low = donors[low], low-1
		} else {
			row, high = donors[high], high+1
		}
		if mayBe(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// predictor is E[z_j | z_−j] for complete rows z (n, d), inside the domain.
type predictor func(z []float64, j int) ([]float64, error)

func (f *Model) predictor(n int) (predictor, error) {
	if m, ok := model.AsNormal(f.Model); ok {
		mean, precision, support := m.Mean(), m.Precision(), f.support()
		return func(z []float64, j int) ([]float64, error) { return expectNormal(mean, precision, support, z, j) }, nil
	}
	if err := f.needsDensity("predictive-mean matching", "leave the matching out, or fit another model"); err != nil {
		return nil, err
	}
	rows := min(n, predictedRows)
	density, err := model.NewEvaluator(f.density(), rows*predictedPoints, false)
	support, d := f.support(), len(f.Names)
	return func(z []float64, j int) ([]float64, error) { return expectOnGrid(density, support, rows, d, z, j) }, err
}

// expectNormal returns μ_j − Σ_{k≠j} P_jk (z_k − μ_k)/P_jj, variance 1/P_jj, restricted to the
// domain.
func expectNormal(mean []float64, precision *mat.SymDense, support *domain.Domain, z []float64, j int) ([]float64, error) {
	d := len(mean)
	own := precision.At(j, j)
	if !(own > 0) {
		return nil, errors.New("the precision of a column is not positive: fit again with another method")
	}
	ends := interval(support, j, d)
	sd := 1 / math.Sqrt(own)
	var expected []float64
	for row := range slices.Chunk(z, d) {
		m := mean[j]
		for k, v := range row {
			if k != j {
				m -= precision.At(j, k) / own * (v - mean[k])
			}
		}
		if low, high := ends(row); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
			alpha, beta := (low-m)/sd, (high-m)/sd
			m += sd * (densityAt(alpha, alpha, beta) - densityAt(beta, alpha, beta))
		}
		expected = append(expected, m)
	}
	return expected, nil
}

// densityAt is the density of the normal truncated to (alpha, beta); 0 at infinity.
func densityAt(x, alpha, beta float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return math.Exp(truncnorm.LogDensity(x, alpha, beta))
}

// interval returns the range of coordinate j given the other d − 1 coordinates.
func interval(s *domain.Domain, j, d int) func(row []float64) (low, high float64) {
	var section domain.Section
	mask := slices.Repeat([]float64{1}, d)
	mask[j] = 0
	return func(row []float64) (low, high float64) {
		if !s.Bounded() {
			return math.Inf(-1), math.Inf(1)
		}
		s.Section(&section, row, mask)
		return section.Interval(row, j)
	}
}

const (
	predictedRows   = 50 // rows per evaluation
	predictedPoints = 64
)

// expectOnGrid uses Gauss–Legendre quadrature over the column's range, extended by half on both
// sides and clipped to the domain.
func expectOnGrid(density *model.Evaluator, support *domain.Domain, rows, d int, z []float64, j int) ([]float64, error) {
	column := columnOf(z, j, d)
	least, most := floats.Min(column), floats.Max(column)
	room := max(1, (most-least)/2)
	ends := interval(support, j, d)
	points := make([]float64, rows*predictedPoints*d)
	at, weight := make([]float64, predictedPoints), make([]float64, predictedPoints)
	quad.Legendre{}.FixedLocations(at, weight, -1, 1)
	var expected []float64
	for part := range slices.Chunk(z, rows*d) {
		for i := 0; i < len(part); i += d {
			row := part[i : i+d]
			low, high := ends(row)
			low, high = max(low, least-room), min(high, most+room)
			for g := range predictedPoints {
				to := points[(i*predictedPoints + g*d):][:d]
				copy(to, row)
				to[j] = (low + high + (high-low)*at[g]) / 2
			}
		}
		log, _, err := density.At(points)
		if err != nil {
			return nil, err
		}
		for i := range len(part) / d {
			own := log[i*predictedPoints : (i+1)*predictedPoints]
			peak := floats.Max(own)
			total, sum := 0.0, 0.0
			for g, v := range own {
				w := weight[g] * math.Exp(v-peak)
				total += w
				sum += w * points[(i*predictedPoints+g)*d+j]
			}
			expected = append(expected, sum/total)
		}
	}
	return expected, nil
}
