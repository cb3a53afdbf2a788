package mcmc_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/data/mixture"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/mcmc"
)

const chains = 2000

// exp(θ_22 y⁴ + 2θ_12 x²y²) of the second column by quadrature: x free and θ_12 = 0, or x held at 0.8, where
// 2x + y ≤ 2.2 leaves y ≤ 0.6.
func TestQuarticMoments(t *testing.T) {
	const n, x = 3000, 0.8
	bounded, half := domain.All(2), domain.All(2)
	bounded.Lower[1] = 0.4
	half.Half = []domain.HalfSpace{{A: []float64{2, 1}, B: 2.2}}
	for name, c := range map[string]struct {
		support        *domain.Domain
		low, high      float64
		coupling, held float64
		leapfrog       int
	}{
		"all": {nil, -4, 4, 0, 0, 12}, "truncated": {bounded, 0.4, 4, 0, 0, 3},
		"held": {nil, -4, 4, 0.4, 1, 5}, "held in a half-space": {half, -4, 0.6, 0.4, 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			q := model.NewQuartic(2)
			require.NoError(t, q.SetTheta(mat.NewSymDense(2, []float64{-1, c.coupling, c.coupling, -0.7})))
			start, observed := repeatRows(n, [][]float64{{x, 0.5}}, [][]float64{{c.held, 0}})
			o := mcmc.Options{Observed: observed, Group: n, Leapfrog: c.leapfrog}
			r, err := mcmc.HMC(t.Context(), q, c.support, start, o, stream.New(3, 1))
			require.NoError(t, err)
			require.InDelta(t, 0.8, r.Accept, 0.1)
			require.Less(t, r.WorstRHat(), 1.03)
			require.Greater(t, r.LeastSize(), float64(n))
			integral := func(power int) float64 {
				return quad.Fixed(func(y float64) float64 {
					return math.Pow(y, float64(power)) * math.Exp(-0.7*y*y*y*y+2*c.coupling*x*x*y*y)
				}, c.low, c.high, 300, nil, 0)
			}
			for power := 1; power <= 4; power++ {
				want := integral(power) / integral(0)
				se := math.Sqrt((integral(2*power)/integral(0) - want*want) / n)
				sum := 0.0
				for i := range n {
					require.True(t, c.held == 0 || r.Last[2*i] == x)
					require.True(t, c.support.Contains(r.Last[2*i:2*i+2]))
					sum += math.Pow(r.Last[2*i+1], float64(power)) / n
				}
				require.InDelta(t, want, sum, 4.5*se, "moment %d", power)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	m := model.NewGaussian(1, model.CholeskyFactor)
	s := domain.All(1)
	s.Lower[0] = 0
	ctx := context.Background()
	_, err := mcmc.HMC(ctx, m, s, []float64{1, 2, -1, 1}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "chain 3 starts outside")
	_, err = mcmc.HMC(ctx, m, nil, []float64{1, 2}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "at least 4 chains")
	_, err = mcmc.HMC(ctx, m, nil, make([]float64, 4), mcmc.Options{Draws: 3}, stream.New(1))
	require.ErrorContains(t, err, "at least 8 draws")
	_, err = mcmc.HMC(ctx, m, nil, []float64{1, 2, math.Inf(1), 1}, mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "log density")
	_, err = mcmc.HMC(ctx, testtables.ScoreAlone(m), nil, make([]float64, 4), mcmc.Options{}, stream.New(1))
	require.ErrorContains(t, err, "a score but no log density")
	for _, group := range []int{2, 5} {
		o := mcmc.Options{Group: group, Observed: make([]float64, 8)}
		_, err = mcmc.HMC(ctx, m, nil, make([]float64, 8), o, stream.New(1))
		require.ErrorContains(t, err, "R-hat needs at least 4 of one target")
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err = mcmc.HMC(ctx, m, nil, make([]float64, 4), mcmc.Options{}, stream.New(1))
	require.ErrorIs(t, err, context.Canceled)
}

func repeatRows(n int, rows, masks [][]float64) (start, observed []float64) {
	for i, row := range rows {
		for range n {
			start, observed = append(start, row...), append(observed, masks[i]...)
		}
	}
	return start, observed
}

// Conditionals of a normal with deviations from 0.1 to 10.
func TestHeldGaussian(t *testing.T) {
	const n, keep = 500, 4
	m := model.NewGaussian(4, model.CholeskyFactor)
	p := mat.NewSymDense(4, []float64{100, 3, 0, 2, 3, 1, 0.02, -0.4, 0, 0.02, 0.01, 0, 2, -0.4, 0, 1})
	require.NoError(t, m.SetPrecision(p))
	mean := []float64{1, -2, 5, 0}
	m.SetMean(mean)
	rows := [][]float64{{1.1, -4, 5, 0.3}, {1, -1, 0, -2}, {0.9, 0, 30, 0}}
	masks := [][]float64{{1, 1, 0, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}}
	start, observed := repeatRows(n, rows, masks)
	r, err := mcmc.HMC(context.Background(), m, nil, start, mcmc.Options{Observed: observed, Group: n, Keep: keep, Leapfrog: 16}, stream.New(2, 1))
	require.NoError(t, err)
	require.InDelta(t, 0.8, r.Accept, 0.1)
	require.Less(t, r.WorstRHat(), 1.02)
	require.Len(t, r.GroupRHat, 3)

	normal, ok := distmv.NewNormalPrecision(mean, p, nil)
	require.True(t, ok)
	for i, mask := range masks {
		var observed, gaps []int
		var values []float64
		for j, o := range mask {
			if o != 0 {
				observed, values = append(observed, j), append(values, rows[i][j])
			} else {
				gaps = append(gaps, j)
			}
		}
		truth, ok := normal.ConditionNormal(observed, values, nil)
		require.True(t, ok)
		check := func(draws *mat.Dense) {
			for _, j := range observed {
				require.Equal(t, rows[i][j], draws.At(7, j), "an observed cell moved")
			}
			testtables.RequireNormal(t, truth, draws, gaps)
		}
		check(mat.NewDense(n, 4, r.Last[i*n*4:(i+1)*n*4]))
		for k := range keep {
			draws := mat.NewDense(n, 4, nil)
			for c := range n {
				draws.SetRow(c, r.Kept[((i*n+c)*keep+k)*4:][:4])
			}
			check(draws)
			if k == keep-1 {
				require.Equal(t, r.Last[i*n*4:(i+1)*n*4], draws.RawMatrix().Data)
			}
		}
	}
}

// wells is N(0, 1) of the first column and ½N(−6, 1) + ½N(6, 1) of the second.
func wells(t *testing.T) model.Model {
	m := model.NewMixture(simulate.Mixture{
		Weights: []float64{1, 1}, Means: [][]float64{{0, -6}, {0, 6}}, Deviations: [][]float64{{1, 1}, {1, 1}},
	})
	return m
}

func TestRHatByGroup(t *testing.T) {
	m := wells(t)
	start := []float64{0, 0, 1, 0, -1, 0, 0.5, 0, 0, -6, 0, 6, 0, -5, 0, 7}
	observed := []float64{0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0}
	r, err := mcmc.HMC(context.Background(), m, nil, start, mcmc.Options{Observed: observed, Group: 4, Leapfrog: 5}, stream.New(5, 1))
	require.NoError(t, err)
	require.Less(t, r.GroupRHat[0], 1.05)
	require.Greater(t, r.GroupRHat[1], 2.0)
	require.Less(t, r.GroupSize[1], 20.)
	require.Greater(t, r.GroupSize[0], 100.)
	require.Less(t, r.RHat[0], 1.05)
	require.Greater(t, r.RHat[1], 2.0)
}

func TestJumpsBetweenModes(t *testing.T) {
	slowtest.Skip(t, "5 s")
	m := wells(t)
	start := make([]float64, 2*chains)
	for c := range chains {
		start[2*c+1] = 6
	}
	o := mcmc.Options{Travel: math.Pi / 2, Draws: 400, Scale: []float64{1.5, 5}}
	share := func() (share, square float64) {
		r, err := mcmc.HMC(context.Background(), m, nil, start, o, stream.New(6, 1))
		require.NoError(t, err)
		for c := range chains {
			y := r.Last[2*c+1]
			square += y * y / chains
			if y < 0 {
				share += 1. / chains
			}
		}
		return share, square
	}
	stuck, _ := share()
	require.Less(t, stuck, 0.1)
	o.Jump = mixture.New(1, []int{0, 0})
	o.Jump.Means[0], o.Jump.Covariances[0] = []float64{0.5, 3}, []float64{2.25, 0, 0, 25}
	met, square := share()
	require.InDelta(t, 0.5, met, 4.5*0.5/math.Sqrt(chains))
	require.InDelta(t, 37, square, 4.5*math.Sqrt((4*36+2.)/chains)) // y² has variance 4·36 + 2 in either well
}
