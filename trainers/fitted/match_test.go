package fitted_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/fitted"
)

func hidden(t testing.TB, f *fitted.Model, n int, share float64) *data.Table {
	t.Helper()
	r, err := fitted.Sample(t.Context(), f, fitted.SampleConfig{N: n, Seed: 9})
	require.NoError(t, err)
	rng := stream.New(8)
	for at := range r.Values {
		if rng.Float64() < share {
			r.Values[at] = nan
		}
	}
	return table(f.Names, slices.Collect(slices.Chunk(r.Values, len(f.Names)))...)
}

func matched(t testing.TB, f *fitted.Model, gaps *data.Table, draws int, c fitted.MatchConfig) *fitted.Imputed {
	t.Helper()
	r := impute(t, f, gaps, fitted.ImputeConfig{Draws: draws, Seed: 4})
	kept, err := fitted.Match(t.Context(), f, gaps, r, c)
	require.NoError(t, err)
	require.Zero(t, kept)
	return r
}

// Cells missing together keep their correlation.
func TestMatch(t *testing.T) {
	f, normal := scaledNormal(t)
	const n, draws = 1000, 6
	gaps := hidden(t, f, n, 0.4)
	one := matched(t, f, gaps, draws, fitted.MatchConfig{Seed: 1})
	require.Equal(t, one, matched(t, f, gaps, draws, fitted.MatchConfig{Seed: 1, Workers: 3, Donors: 5}))
	require.NotEqual(t, one.Values, matched(t, f, gaps, draws, fitted.MatchConfig{Seed: 2}).Values)
	var b, c []float64
	for at, v := range one.Values {
		i, j := at/3/draws, at%3
		if !gaps.Observed[i*3+j] {
			require.Contains(t, gaps.Column(j), v)
		} else {
			require.Equal(t, gaps.Values[i*3+j], v)
		}
		if j == 2 && !gaps.Observed[i*3] && !gaps.Observed[i*3+1] { // a and b: with the largest correlation
			b, c = append(b, one.Values[at-2]), append(c, one.Values[at-1])
		}
	}
	var sigma mat.SymDense
	normal.CovarianceMatrix(&sigma)
	rows := float64(len(b) / draws)
	require.InDelta(t, normal.Mean(nil)[0], stat.Mean(b, nil), 4.5*math.Sqrt(sigma.At(0, 0)*(1/rows+1/600.))) // of donors, too
	require.InEpsilon(t, sigma.At(0, 0), stat.Variance(b, nil), 4.5*math.Sqrt(2/rows+2/600.))
	correlation := sigma.At(0, 1) / math.Sqrt(sigma.At(0, 0)*sigma.At(1, 1))
	require.InDelta(t, correlation, stat.Correlation(b, c, nil), 4.5*(1-correlation*correlation)*math.Sqrt(1/rows+1/600.))
}

func TestMatchNearest(t *testing.T) {
	f, _ := scaledNormal(t)
	rows := [][]float64{{10, 10, 1}, {11, 10, 2}, {12, 10, 3}, {13, 10, 4}, {11.4, 10, nan}, {30, 10, nan}, {-5, 10, nan}}
	r := matched(t, f, table(f.Names, rows...), 3, fitted.MatchConfig{Donors: 1})
	for i, want := range map[int]float64{4: 2, 5: 4, 6: 1} {
		for k := range 3 {
			require.Equal(t, want, r.Values[(i*3+k)*3+2])
		}
	}
	r = matched(t, f, table(f.Names, rows...), 60, fitted.MatchConfig{Donors: 2})
	seen := map[float64]int{}
	for k := range 60 {
		seen[r.Values[(4*60+k)*3+2]]++
	}
	require.Len(t, seen, 2)
	require.InDelta(t, 30, seen[2], 4.5*math.Sqrt(15))
	require.Equal(t, 60, seen[2]+seen[3])
}

// Quadrature chooses the rows of the normal's closed form.
func TestMatchByQuadrature(t *testing.T) {
	half := domain.All(2)
	half.Half = []domain.HalfSpace{{A: []float64{1, 1}, B: 0.5}}
	normal := model.NewGaussian(2, model.CholeskyFactor)
	require.NoError(t, normal.SetPrecision(mat.NewSymDense(2, []float64{1, -0.9, -0.9, 4})))
	for _, support := range []*domain.Domain{nil, half} {
		f := &fitted.Model{Names: []string{"a", "b"}, Model: normal, Domain: support, Scale: data.UnitScale(2)}
		gaps := hidden(t, f, 150, 0.3)
		drawn := impute(t, f, gaps, fitted.ImputeConfig{Draws: 2}).Values
		match := func(m model.Model) []float64 {
			f.Model = m
			own := &fitted.Imputed{Draws: 2, Values: slices.Clone(drawn)}
			_, err := fitted.Match(t.Context(), f, gaps, own, fitted.MatchConfig{Donors: 1})
			require.NoError(t, err)
			for row := range slices.Chunk(own.Values, 2) {
				require.True(t, support.Contains(row))
			}
			return own.Values
		}
		require.Equal(t, match(normal), match(struct{ model.Model }{normal})) // not recognised as normal
	}
}

func TestMatchWithoutDonors(t *testing.T) {
	f, _ := scaledNormal(t)
	f.Domain = domain.All(3)
	f.Domain.Half = []domain.HalfSpace{{A: []float64{1, 0, 1}, B: 20}} // a + c ≤ 20
	for place := range 3 {
		gaps := table(f.Names, slices.Insert([][]float64{{10, 7, 9}, {11, 6, 8}}, place, []float64{18, 7, nan})...)
		r := impute(t, f, gaps, fitted.ImputeConfig{})
		was := r.Values[3*place+2]
		kept, err := fitted.Match(t.Context(), f, gaps, r, fitted.MatchConfig{})
		require.NoError(t, err)
		require.Equal(t, 1, kept, place)
		require.Equal(t, was, r.Values[3*place+2])
		require.LessOrEqual(t, was, 2.)
	}
}
