package regpath

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

// Scores are log likelihoods minus degrees of freedom.
func TestPilotIsChosenByLikelihood(t *testing.T) {
	_, table := testtables.Star(t, 5, 120, 0.3)
	r := started(t, table, "em-exact", Config{Penalty: Penalty{Kind: "adaptive"}}, &State{})
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	f, err := newPilotFit(r.problem, table.AllRows(), 1)
	require.NoError(t, err)
	s, both := r.State.Pilot, meanPairCount(r.Problem)/float64(table.N)
	require.InDelta(t, 0.5, both, 0.1)
	for i, score := range s.Scores {
		require.NoError(t, f.fit(t.Context(), pilotAlphas[i]))
		m := f.Model
		require.InDelta(t, logLikelihood(table, table.AllRows(), m.Mean(), m.Precision())-freedom(m.Precision(), pilotAlphas[i], both)*(1+6/(120*both)), score, 1e-8)
		if pilotAlphas[i] == s.Alpha {
			require.InDeltaSlice(t, m.Packed.Value, s.Packed, 1e-12)
		}
	}
	require.Equal(t, pilotAlphas[slices.Index(s.Scores, slices.Max(s.Scores))], s.Alpha)
}

// Median 0.2: weights 1/(1 + 0.1), 1/(0.5 + 0.1), 1/(2 + 0.1).
func TestAdaptiveWeights(t *testing.T) {
	pilot := []float64{1, -0.2, 0.2, 4, 0.8, 1}
	require.InDeltaSlice(t, []float64{0.1, 0.2, 0.4}, sizes(pilot, 3), 1e-15) // of correlations 0.1, −0.2, −0.4
	w := adaptiveWeights(sizes(pilot, 3), 3)
	require.InDeltaSlice(t, []float64{0, 1 / 0.6, 1 / 1.1, 0, 1 / 2.1, 0}, w, 1e-12)
	require.Equal(t, []float64{0, 1, 1, 0, 1, 0}, adaptiveWeights([]float64{0, 0, 0}, 3))
}

func TestRidgePath(t *testing.T) {
	const d = 6
	standard := star(t, d, 400, 0.3)
	for _, method := range []string{"em-exact", "exact"} {
		r, scores := estimate(t, standard, method, Config{Penalty: Penalty{Kind: "ridge"}})
		size := strengths(r.State.Pilot.Packed, d, meanPairCount(r.Problem))
		require.InEpsilon(t, slices.Max(size), r.Config.LambdaMax, 1e-10)
		require.Zero(t, r.State.Points[0].Edges)
		for _, p := range r.State.Points {
			for i, edge := range Adjacency(p.Packed(), d, r.Config.Threshold).Edge {
				require.Equal(t, size[i] > p.Lambda, edge)
			}
		}
		require.Len(t, scores, len(r.State.Points))
		require.True(t, r.State.Refine.Converged, r.Verdict())
		chosen := r.State.Points[r.State.Refine.Index]
		require.InDelta(t, 5, chosen.Edges, 2, "of 15 pairs")
		require.Equal(t, without(Adjacency(chosen.Packed(), d, r.Config.Threshold).Edge, d), without(Adjacency(r.packed(), d, 0).Edge, d))
		want, _ := estimate(t, standard, method,
			Config{Penalty: Penalty{Kind: "ridge"}, LambdaMax: chosen.Lambda, Lambdas: 1, Select: Selection{Kind: "none"}})
		require.InDeltaSlice(t, want.packed(), r.packed(), 2e-3, method)
	}
}

func TestPenaltiesAreTakenUpAgain(t *testing.T) {
	standard := star(t, 4, 80, 0.3)
	for _, c := range []Config{
		{Penalty: Penalty{Kind: "adaptive"}, Lambdas: 4, Select: Selection{Kind: "ebic"}},
		{Penalty: Penalty{Kind: "ridge"}, Lambdas: 4, Select: Selection{Kind: "stars"}},
		{Penalty: Penalty{Kind: "auto"}, Lambdas: 4},
	} {
		requireResumes(t, engine.Problem{Table: standard}, engine.Config{Method: "em-exact"}, c)
	}
	automatic := Config{Penalty: Penalty{Kind: "auto"}, Lambdas: 4}
	requireResumes(t, engine.Problem{Table: standard}, engine.Config{Method: "exact"}, automatic)
}

// requireResumes compares an estimate that is cut again and again with an uninterrupted one.
func requireResumes(t *testing.T, p engine.Problem, steps engine.Config, c Config) {
	t.Helper()
	steps.Workers, steps.Batch = 1, 50
	whole := startedOf(t, p, steps, c, &State{})
	finish(t, whole)
	steps.Workers = 2
	s := &State{}
	var saved engine.State
	testtables.Resumed(t, func(ctx context.Context, save func() error) error {
		s = testtables.Saved(t, s)
		r := startedOf(t, p, steps, c, s)
		if saved.Model != nil {
			r.Restore(saved)
		}
		_, err := r.Estimate(ctx, save)
		saved = r.Capture()
		return err
	})
	require.Equal(t, fmt.Sprintf("%+v", *whole.State), fmt.Sprintf("%+v", *s)) // NaN differs from itself
	require.Equal(t, whole.Capture().Model, saved.Model)
}

func TestPartsHaveTheirPilots(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.3)
	r, _ := estimate(t, table, "em-exact", Config{Penalty: Penalty{Kind: "adaptive"}, Lambdas: 3, Select: Selection{Kind: "cv", Folds: 2}})
	part, _, err := part(t.Context(), r.walk, partsOf(r)[0])
	require.NoError(t, err)
	require.Equal(t, r.State.Pilot.Alpha, part.State.Pilot.Alpha)
	require.Nil(t, part.State.Pilot.Scores)
	require.NotEqual(t, r.State.Pilot.Packed, part.State.Pilot.Packed)
	require.Equal(t, r.lambdas, part.lambdas)
}

func TestAuto(t *testing.T) {
	standard := star(t, 6, 300, 0.3)
	for _, method := range []string{"em-exact", "exact"} {
		r, scores := estimate(t, standard, method, Config{Penalty: Penalty{Kind: "auto"}})
		s := r.State.Auto
		require.Equal(t, []string{"l1", "adaptive"}, s.Kinds)
		require.Nil(t, s.States)
		for i, kind := range s.Kinds {
			alone, own := estimate(t, standard, method, Config{Penalty: Penalty{Kind: kind}})
			require.Equal(t, own[alone.State.Refine.Index], s.Scores[i], kind)
			if kind == s.Kind {
				require.Equal(t, fmt.Sprint(own), fmt.Sprint(scores))
				require.Equal(t, alone.packed(), r.packed())
				require.Equal(t, alone.Penalty(), r.Penalty())
				require.Contains(t, r.Ordering(), alone.Ordering())
			}
		}
	}
}

func TestAutoTakesTheLeast(t *testing.T) {
	_, table := testtables.Star(t, 4, 80, 0.3)
	for _, c := range []struct {
		scores []float64
		want   string
	}{
		{[]float64{100, 100}, "l1"}, {[]float64{100, 99.95}, "l1"}, {[]float64{100, 99.8}, "adaptive"}, {[]float64{math.Inf(1), 95}, "adaptive"}, {[]float64{math.Inf(1), math.Inf(1)}, "l1"},
	} {
		s := &State{Auto: Auto{Kinds: []string{"l1", "adaptive"}, Scores: c.scores, States: []*State{{}, {}, {}}}}
		r := started(t, table, "em-exact", Config{Penalty: Penalty{Kind: "auto"}}, s)
		require.NoError(t, compare(t.Context(), r.walk))
		require.Equal(t, c.want, r.State.Auto.Kind)
	}
}

// The likelihood on fitted rows exceeds that on other rows by the degrees of freedom, on average
// over tables.
func TestFreedom(t *testing.T) {
	const d, n, tables, missing = 4, 100, 1000, 0.3
	sigma := mat.NewSymDense(d, nil)
	for j := range d {
		for k := range d {
			sigma.SetSym(j, k, math.Pow(0.4, math.Abs(float64(j-k))))
		}
	}
	p := testtables.Inverse(t, sigma)
	require.InDelta(t, d*(d+1)/2, freedom(p, 0, 1), 1e-9, "complete rows without shrinkage")
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: p}
	for _, alpha := range []float64{0.2, 0.5} {
		var gains, counts []float64
		for seed := range uint64(tables) {
			rng := stream.New(seed, 1)
			both := testtables.Must(g.Sample(2*n, rng))
			for at := range n * d {
				if at%d != at/d%d && rng.Float64() < missing {
					both.Observed[at], both.Observed[n*d+at] = false, false // the other rows have the same missing cells
				}
			}
			own := testtables.Must(both.Rows(both.AllRows()[:n]))
			others := testtables.Must(both.Rows(both.AllRows()[n:]))
			r := started(t, own, "em-exact", Config{Penalty: Penalty{Kind: "adaptive"}}, &State{})
			f, err := newPilotFit(r.problem, own.AllRows(), 1)
			require.NoError(t, err)
			require.NoError(t, f.fit(t.Context(), alpha))
			gain := func(mean []float64, p *mat.SymDense) float64 {
				return logLikelihood(own, own.AllRows(), mean, p) - logLikelihood(others, own.AllRows(), mean, p)
			}
			gains = append(gains, gain(f.Model.Mean(), f.Model.Precision())-gain(make([]float64, d), p))
			counts = append(counts, freedom(f.Model.Precision(), alpha, meanPairCount(r.Problem)/n))
		}
		mean, sd := stat.MeanStdDev(gains, nil)
		require.InDelta(t, d+stat.Mean(counts, nil), mean, 3*sd/math.Sqrt(tables), alpha) // d: the mean
	}
}
