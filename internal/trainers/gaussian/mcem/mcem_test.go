package mcem

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/optim"
	"missingscore/losses"
)

func corner() (simulate.Gaussian, *domain.Domain) {
	g := simulate.Gaussian{Mean: []float64{0.3, -0.2, 0}, Precision: mat.NewSymDense(3, []float64{1.3, -0.4, 0.2, -0.4, 1, 0.3, 0.2, 0.3, 1.1})}
	s := domain.All(3)
	s.Lower[0], s.Lower[1], s.Upper[1] = -0.5, -1, 1.5
	s.Half = []domain.HalfSpace{{A: []float64{0, 1, 1}, B: 1.5}}
	return g, s
}

// Every third row is complete; the others lack the first or the last two cells.
func some(t *testing.T, n int) (*data.Table, *domain.Domain) {
	t.Helper()
	g, s := corner()
	table := testtables.Must(g.SampleInside(s, n, stream.New(3, stream.Simulate)))
	for i := range n {
		for j := range 3 {
			if i%3 == 1 && j == 0 || i%3 == 2 && j > 0 {
				table.Observed[i*3+j], table.Values[i*3+j] = false, math.NaN()
			}
		}
	}
	return table, s
}

func natural(g simulate.Gaussian) *model.Gaussian {
	m := model.NewGaussian(len(g.Mean), model.Natural)
	if m.SetPrecision(g.Precision) == nil {
		m.SetMean(g.Mean)
	}
	return m
}

// The minimum on a support is where the gradient by its elements is 0.
func TestFormIsTheGraphsLoss(t *testing.T) {
	table, s := some(t, 60)
	g, _ := corner()
	for name, support := range map[string]*domain.Domain{"domain": s, "all of R^d": nil} {
		for _, w := range []domain.Weight{{}, {Scalar: true, Cap: 0.7}} {
			t.Run(name, func(t *testing.T) {
				const r = 4
				rows, err := Setting{Table: table, Domain: support, Weight: w, Draws: r, Seed: 5, Workers: 3}.ByPattern().Draw(natural(g))
				require.NoError(t, err)
				require.Equal(t, 20+40*r, rows.first[60])
				f, err := rows.Form()
				require.NoError(t, err)
				repeated := &data.Table{Names: table.Names, N: 60 * r, D: 3}
				for i := range 60 {
					for k := range r {
						at := min(rows.first[i]+k, rows.first[i+1]-1) * 3
						repeated.Values = append(repeated.Values, rows.x[at:at+3]...)
						repeated.Observed = append(repeated.Observed, true, true, true)
					}
				}
				m := natural(simulate.Gaussian{Mean: []float64{0.1, 0.4, -0.3}, Precision: mat.NewSymDense(3, []float64{0.9, 0.3, -0.1, 0.3, 1.2, 0.5, -0.1, 0.5, 1.4})})
				loss, grads, err := engine.Gradient(engine.Problem{Table: repeated, Model: m, Objective: losses.ObjectiveFor(support, w), Domain: support, Weight: w}, engine.Config{Method: "full"}, 0)
				require.NoError(t, err)
				theta := Parameters(m)
				require.InDelta(t, loss, f.Loss(theta), 1e-10)
				all := Everything(3)
				e, err := rows.Equation(theta, all)
				require.NoError(t, err)
				var byForm mat.VecDense
				byForm.MulVec(f.curvature(all), mat.NewVecDense(len(theta), theta))
				for i, want := range append(append([]float64(nil), grads[0]...), grads[1]...) {
					require.InDelta(t, want, 2*e.Mean[i], 1e-10)
					require.InDelta(t, want, 2*(byForm.AtVec(i)-f.linear[i]), 1e-10)
				}

				on := NewSupport(network.Adjacency{D: 3, Edge: []bool{true, false, true}})
				require.Equal(t, []int{0, 1, 2, 3, 4, 6, 7, 8}, on.Places)
				least, reached, _, ok := f.minimum(on)
				require.True(t, ok)
				require.Zero(t, least[5])
				require.InDelta(t, f.Loss(least), reached, 1e-12)
				e, err = rows.Equation(least, on)
				require.NoError(t, err)
				require.InDeltaSlice(t, make([]float64, 8), e.Mean, 1e-12)
			})
		}
	}
}

// E ½ψ_θ of a row with a missing second cell, drawn from the distribution of other, by quadrature.
func expected(x float64, s *domain.Domain, theta, other []float64) float64 {
	half := func(y float64) float64 {
		sum := 0.0
		for j, z := range []float64{x, y} {
			score := theta[j] - theta[2+graph.PackedIndex(2, 0, j)]*x - theta[2+graph.PackedIndex(2, j, 1)]*y
			g, slope := 1., 0.
			if low, high := z-s.Lower[j], s.Upper[j]-z; low < min(1, high) {
				g, slope = low, 1
			} else if high < 1 {
				g, slope = high, -1
			}
			sum += g*(0.5*score*score-theta[2+graph.PackedIndex(2, j, j)]) + slope*score
		}
		return sum
	}
	q := func(y float64) float64 { return math.Exp(other[1]*y - other[3]*x*y - 0.5*other[4]*y*y) }
	over := func(f func(float64) float64) (sum float64) { // kinks of g
		ends := []float64{s.Lower[1], 0.5 * (s.Lower[1] + s.Upper[1]), s.Upper[1]}
		for i := range 2 {
			sum += quad.Fixed(f, ends[i], ends[i+1], 60, quad.Legendre{}, 0)
		}
		return sum
	}
	return over(func(y float64) float64 { return half(y) * q(y) }) / over(q)
}

func TestDriftAgainstQuadrature(t *testing.T) {
	s := domain.All(2)
	s.Lower[0], s.Lower[1], s.Upper[1] = 0, -0.6, 1.2
	const x = 0.7
	table := &data.Table{Names: []string{"a", "b"}, N: 1, D: 2, Values: []float64{x, math.NaN()}, Observed: []bool{true, false}}
	m := natural(simulate.Gaussian{Mean: []float64{0.2, 0.4}, Precision: mat.NewSymDense(2, []float64{1, 0.5, 0.5, 1.3})})
	theta, all := Parameters(m), Everything(2)
	const repeats, h = 40, 1e-3
	mean, se := testtables.MeanSE(repeats, func(k int) []float64 {
		rows, err := Setting{Table: table, Domain: s, Draws: 2000, Seed: uint64(k)}.ByPattern().Draw(m)
		require.NoError(t, err)
		e, err := rows.Equation(theta, all)
		require.NoError(t, err)
		return e.Drift.RawMatrix().Data
	})
	at := func(theta []float64, i int, by float64) []float64 {
		to := append([]float64(nil), theta...)
		to[i] += by
		return to
	}
	for a := range theta {
		for b := range theta {
			want := 0.0
			for _, p := range []float64{1, -1} {
				for _, q := range []float64{1, -1} {
					want += p * q * expected(x, s, at(theta, a, p*h), at(theta, b, q*h)) / (4 * h * h)
				}
			}
			require.InDelta(t, want, mean[a*5+b], 4.5*se[a*5+b]+1e-6, "%d by %d", a, b)
		}
	}
	require.Greater(t, math.Abs(mean[1*5+1]), 20*se[1*5+1], "there is something to see")
}

// Exact for complete rows, else within the noise of the draws.
func TestRootWithoutBoundsIsMaximumLikelihood(t *testing.T) {
	_, table := testtables.Normal(t, 120, 8)
	bounds := &optim.PositiveDefinite{Floor: 1e-6}
	root := func(table *data.Table, seed uint64) []float64 {
		m := model.NewGaussian(4, model.Natural)
		r, ok, err := Setting{Table: table, Draws: 30, Seed: seed}.ByPattern().Root(t.Context(), m, Everything(4), bounds, 1e-6, 100)
		require.NoError(t, err)
		require.True(t, ok)
		left, err := r.Remaining()
		require.NoError(t, err)
		require.Less(t, left, 1e-4)
		step, _, _, ok, err := r.Newton()
		require.NoError(t, err)
		require.True(t, ok)
		require.InEpsilon(t, floats.Norm(step[4:], 2)/math.Sqrt(10), left, 1e-12, "of the ten elements of P, not of the location's four")
		require.Equal(t, r.Next, append(append([]float64(nil), m.Location.Value...), m.Packed.Value...))
		return append(m.Mean(), m.Packed.Value...)
	}
	likeliest := func(table *data.Table) []float64 {
		m := model.NewGaussian(4, model.Natural)
		e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact"})
		require.NoError(t, err)
		turns := em.Turns{Engine: e, Model: m, Rows: e.Table.AllRows()}
		state := &em.State{Anderson: optim.Anderson{Memory: em.Memory}}
		for range 60 {
			require.NoError(t, turns.Turn(t.Context(), state, em.Unpenalised))
		}
		turns.Settle(state)
		return append(m.Mean(), m.Packed.Value...)
	}
	mean, se := testtables.MeanSE(20, func(k int) []float64 { return root(table, uint64(k)) })
	want := likeliest(table)
	for i := range want {
		require.InDelta(t, want[i], mean[i], 4.5*se[i])
	}
	complete := testtables.Must(table.CompleteRows())
	require.Greater(t, complete.N, 8)
	require.InDeltaSlice(t, likeliest(complete), root(complete, 1), 1e-6)
}

// Superfluous edges lower nψ by the Judge's expectation on average.
func TestEdgesAreWhatSuperfluousOnesLowerTheLossBy(t *testing.T) {
	const tables, n, d = 60, 250, 3
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: mat.NewSymDense(d, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})}
	s := domain.All(d)
	s.Lower[0], s.Lower[1], s.Upper[1] = -0.5, -0.8, 1
	all := Everything(d)
	none := NewSupport(network.Adjacency{D: d, Edge: make([]bool, 3)})
	for name, on := range map[string]*Support{"all": all, "none": none} {
		t.Run(name, func(t *testing.T) {
			var over, expected []float64
			for k := range uint64(tables) {
				table := testtables.Sampled(t, g, s, n, 0.4, stream.New(k, stream.Simulate))
				r, ok, err := Setting{Table: table, Domain: s, Draws: 10, Seed: k}.ByPattern().Root(t.Context(), model.NewGaussian(d, model.Natural), on, &optim.PositiveDefinite{Floor: 1e-3}, 1e-3, 60)
				require.NoError(t, err)
				require.True(t, ok)
				j, ok, err := NewJudge(r)
				require.NoError(t, err)
				require.True(t, ok)
				of := func(on *Support) Verdict {
					n, ok, err := j.Network(on)
					require.NoError(t, err)
					require.True(t, ok)
					return n
				}
				few, many := of(none), of(all)
				require.InDelta(t, 0, few.Edges, 1e-9)
				over = append(over, n*(few.Loss-many.Loss)-many.Edges)
				expected = append(expected, many.Edges)
			}
			mean, sd := stat.MeanStdDev(over, nil)
			t.Logf("expected %.2f, more than that by %.2f (standard error %.2f)", stat.Mean(expected, nil), mean, sd/math.Sqrt(tables))
			require.InDelta(t, 0, mean, 3*sd/math.Sqrt(tables))
			require.Greater(t, stat.Mean(expected, nil), 5*sd/math.Sqrt(tables), "a factor of 2 would be seen")
		})
	}
}
