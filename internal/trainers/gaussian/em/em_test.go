package em_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
)

func identity(d int) []float64 {
	p := make([]float64, d*(d+1)/2)
	for j := range d {
		p[graph.PackedIndex(d, j, j)] = 1
	}
	return p
}

// The variances stay; the correlation is (1 − α)ρ.
func TestRidge(t *testing.T) {
	const rho, alpha = 0.6, 0.3
	packed := identity(2)
	require.True(t, em.Ridge{Alpha: alpha}.Minimise(packed, []float64{1, 2 * rho, 2 * rho, 4}))
	r := (1 - alpha) * rho
	require.InDeltaSlice(t, []float64{1 / (1 - r*r), -r / 2 / (1 - r*r), 1. / 4 / (1 - r*r)}, packed, 1e-12)
	require.True(t, em.Ridge{Alpha: alpha}.Minimise(packed, []float64{1, 1, 1, 1}), "of copies there is a pilot")
	require.False(t, em.Ridge{Alpha: alpha}.Minimise(packed, []float64{0, 0, 0, 1}))
	require.False(t, em.Unpenalised(packed, []float64{1, 1, 1, 1}))
}

// Covariances equal the given ones on the network and the diagonal (Dempster 1972).
func TestSupport(t *testing.T) {
	const d = 6
	s := testtables.Covariances(d, 50, 2)
	packed := identity(d)
	for j := range d { // a ring with a chord: no closed form
		k := (j + 1) % d
		packed[graph.PackedIndex(d, min(j, k), max(j, k))] = 0.1
	}
	packed[graph.PackedIndex(d, 0, 3)] = 0.1
	before := append([]float64(nil), packed...)
	require.True(t, em.NewSupport(packed, d).Minimise(packed, s))
	w := testtables.Inverse(t, graph.Unpack(d, packed))
	for j := range d {
		for k := j; k < d; k++ {
			at := graph.PackedIndex(d, j, k)
			if before[at] == 0 {
				require.Zero(t, packed[at])
				continue
			}
			require.InDelta(t, s[j*d+k], w.At(j, k), 1e-8)
		}
	}
	require.False(t, em.NewSupport([]float64{1, 0.1, 1}, 2).Minimise([]float64{1, 0.1, 1}, []float64{1, 1, 1, 1}))
	started, again := em.NewSupport(packed, d), append([]float64(nil), before...)
	far := make([]float64, d*d) // correlations of −0.19, far from those of s
	for i := range far {
		if far[i] = -0.19; i%(d+1) == 0 {
			far[i] = 1
		}
	}
	started.Start(far)
	require.True(t, started.Minimise(again, s))
	require.InDeltaSlice(t, packed, again, 1e-4, "turns to come correct the rest")
	require.True(t, started.Minimise(again, s))
	require.InDeltaSlice(t, packed, again, 1e-9)
}

func turnsOf(t *testing.T, table *data.Table, kind model.Parameterisation) em.Turns {
	t.Helper()
	m := model.NewGaussian(table.D, kind)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact"})
	require.NoError(t, err)
	return em.Turns{Engine: e, Model: m, Rows: e.Table.AllRows()}
}

func TestTurnWithoutGapsGivesTheMoments(t *testing.T) {
	_, table := testtables.Star(t, 4, 80, 0)
	for i := range table.Values {
		table.Values[i] += float64(i%4) - 0.7
	}
	turns := turnsOf(t, table, model.Natural)
	require.NoError(t, turns.Turn(t.Context(), &em.State{}, em.Unpenalised))
	var want mat.SymDense
	stat.CovarianceMatrix(&want, mat.NewDense(80, 4, table.Values), nil)
	want.ScaleSym(79./80, &want)
	require.True(t, mat.EqualApprox(&want, testtables.Inverse(t, turns.Model.Precision()), 1e-10))
	for j, mean := range turns.Model.Mean() {
		require.InDelta(t, stat.Mean(table.Column(j), nil), mean, 1e-10)
	}
}

// Moments that changed from b to a: the model goes to (2a − b)⁻¹, or to a⁻¹ if that is not positive
// definite.
func TestBegin(t *testing.T) {
	_, table := testtables.Star(t, 2, 50, 0)
	turns := turnsOf(t, table, model.Natural)
	m := turns.Model
	s := em.State{Solved: []float64{0, 0, 1, 0, 1}}
	require.False(t, turns.Begin(&s, 2, em.Unpenalised))
	s.Lead.Passed = [][]float64{{0.5, -0.25, 2, 0.5, 1}, {0.25, 0, 1.5, 0.25, 1}}
	require.True(t, turns.Begin(&s, 2, em.Unpenalised))
	require.InDeltaSlice(t, []float64{1, -0.75, 3, 1, 1}, s.Lead.Moments, 1e-12)
	require.InDeltaSlice(t, []float64{1, -0.75, 0.5, -0.5, 1.5}, s.Solved, 1e-12)
	require.InDeltaSlice(t, []float64{1, -0.75}, m.Mean(), 1e-12)
	require.InDelta(t, 0.5, m.Precision().At(0, 0), 1e-12)
	require.True(t, turns.Begin(&s, 20, em.Unpenalised)) // a covariance of 5.5 with variances of 12 and 1
	require.Equal(t, s.Lead.Passed[0], s.Lead.Moments)
	require.InDelta(t, 1/1.75, m.Precision().At(0, 0), 1e-12)
	next := s.Next()
	require.Equal(t, [][]float64{s.Lead.Moments, s.Lead.Passed[0]}, next.Lead.Passed)
	require.Nil(t, next.Lead.Moments)
}

func TestAscend(t *testing.T) {
	wild, ended := 0, 0
	for seed := range uint64(20) {
		_, table := testtables.Normal(t, 30, seed)
		kind := []model.Parameterisation{model.CholeskyFactor, model.Natural}[seed%2]
		turns, lower := turnsOf(t, table, kind), 0
		s, last := em.State{Anderson: optim.Anderson{Memory: em.Memory}}, math.Inf(-1)
		for range 300 {
			if turns.Turn(t.Context(), &s, em.Unpenalised) != nil {
				break
			}
			if s.Likelihood < last-1e-6 {
				lower++
			}
			last = s.Likelihood
		}
		if lower > 30 {
			wild++
		}
		turns = turnsOf(t, table, kind)
		s, last = em.State{Anderson: optim.Anderson{Memory: em.Memory}}, math.Inf(-1)
		for s.Count < 3000 {
			back, err := turns.Ascend(t.Context(), &s, em.Unpenalised)
			if err != nil || mat.Cond(turns.Model.Precision(), 2) > 1e10 { // towards a singular distribution
				break
			}
			if back {
				require.Empty(t, s.Anderson.X)
				require.Equal(t, last, s.Likelihood)
				require.InEpsilonSlice(t, s.Solved, turns.At(), 1e-9)
				continue
			}
			require.GreaterOrEqual(t, s.Likelihood, last-1e-9*math.Abs(last), "seed %d, turn %d", seed, s.Count)
			if last = s.Likelihood; s.Relative < 1e-9 {
				ended++
				break
			}
		}
	}
	require.Positive(t, wild)
	require.Greater(t, ended, 12)
}

func TestSingularCovariances(t *testing.T) {
	_, table := testtables.Normal(t, 30, 1)
	turns := turnsOf(t, table, model.CholeskyFactor)
	e := &em.SingularError{Turn: 6, Mean: []float64{1, 2, 3, 4}, Covariances: []float64{4, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9}}
	var diverged *engine.DivergedError
	require.ErrorAs(t, e, &diverged)
	require.Equal(t, "the fit diverged: the precision was not finite at iteration 7", e.Error())
	require.True(t, e.Put(turns.Model))
	require.Equal(t, e.Mean, turns.Model.Mean())
	p := turns.Model.Precision()
	require.InEpsilon(t, 1/(1*(1+1e-10)-1/(1+1e-10)), p.At(1, 1), 1e-4) // 1 − 2²/4 plus the addition
	require.InEpsilon(t, 1./9, p.At(3, 3), 1e-9)
	e.Covariances[3*4+3] = -1
	require.False(t, e.Put(turns.Model))
}
