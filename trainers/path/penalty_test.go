package path

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/setting"
	"missingscore/losses"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

func TestPenalties(t *testing.T) {
	for text, want := range map[string]Penalty{"l1": {Kind: "l1"}, "adaptive": {Kind: "adaptive"}, "adaptive=0.2": {Kind: "adaptive", Alpha: 0.2}, "ridge=0.5": {Kind: "ridge", Alpha: 0.5}, "auto": {Kind: "auto"}} {
		got, err := ParsePenalty(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "l2", "l1=0.5", "auto=0.5", "adaptive=", "adaptive=0", "adaptive=1", "adaptive=x", "ridge=-0.1", "ridge=NaN"} {
		_, err := ParsePenalty(text)
		var wrong *setting.Error
		require.ErrorAs(t, err, &wrong, text)
		require.Equal(t, [2]string{"penalty", text}, [2]string{wrong.Field, wrong.Value})
	}
}

// Auto is the penalty unless one is named, where it can be had.
func TestTheUsualPenalty(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	_, wide := testtables.Star(t, usualColumns+1, 20, 0.1)
	bounded := &domain.Domain{Lower: slices.Repeat([]float64{-9}, 4), Upper: slices.Repeat([]float64{9}, 4)}
	for name, c := range map[string]struct {
		want   string
		table  *data.Table
		domain *domain.Domain
		method string
		config Config
	}{
		"gaps":        {"auto", table, nil, "em-exact", Config{}},
		"marginal":    {"auto", table, nil, "exact", Config{Select: Selection{Kind: "cv"}}},
		"draws":       {"l1", table, nil, "iw", Config{}},
		"bounds":      {"l1", table, bounded, "em-exact", Config{}},
		"own λ":       {"l1", table, nil, "em-exact", Config{LambdaMin: 0.1}},
		"the paper's": {"l1", table, nil, "exact", Config{Schedule: Fixed}},
		"wide":        {"l1", wide, nil, "em-exact", Config{}},
		"named":       {"ridge", table, nil, "em-exact", Config{Penalty: Penalty{Kind: "ridge"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := c.config.Resolve(engine.Problem{Table: c.table, Domain: c.domain}, engine.Config{Method: c.method})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Penalty.Kind)
		})
	}
}

func TestPenaltyRefusals(t *testing.T) {
	_, table := testtables.Star(t, 4, 50, 0.3)
	bounded := &domain.Domain{Lower: slices.Repeat([]float64{-9}, 4), Upper: slices.Repeat([]float64{9}, 4)}
	for want, c := range map[string]struct {
		config Config
		domain *domain.Domain
	}{
		"penalty auto: each penalty has λ of its own":            {Config{Penalty: Penalty{Kind: "auto"}, LambdaMin: 0.1}, nil},
		"penalty ridge: its networks come without distributions": {Config{Penalty: Penalty{Kind: "ridge"}, Select: Selection{Kind: "cv"}}, nil},
		"penalty ridge=0.5: its path has no estimate":            {Config{Penalty: Penalty{Kind: "ridge", Alpha: 0.5}, PathOnly: true}, nil},
		"penalty ridge: its networks have no sizes":              {Config{Penalty: Penalty{Kind: "ridge"}, Refit: new(false)}, nil},
		"penalty adaptive: its pilot is of columns without":      {Config{Penalty: Penalty{Kind: "adaptive"}}, bounded},
		"penalty ridge: its pilot is of columns without":         {Config{Penalty: Penalty{Kind: "ridge"}}, bounded},
		"penalty l2: it is one of l1, adaptive, ridge, auto":     {Config{Penalty: Penalty{Kind: "l2"}}, nil},
		"the largest λ must be at least the smallest":            {Config{Penalty: Penalty{Kind: "adaptive"}, LambdaMax: 1, LambdaMin: 2}, nil},
	} {
		_, err := New(engine.Problem{Table: table, Domain: c.domain}, engine.Config{Method: "exact"}, c.config, &State{})
		require.ErrorContains(t, err, want)
	}
	_, whole := testtables.Star(t, 4, 50, 0)
	_, err := New(engine.Problem{Table: whole, Domain: bounded}, engine.Config{Method: "full"}, Config{Penalty: Penalty{Kind: "auto"}}, &State{})
	require.ErrorContains(t, err, "penalty auto: its pilot is of columns without")
	_, err = New(engine.Problem{Table: table}, engine.Config{Method: "iw"}, Config{Penalty: Penalty{Kind: "auto"}}, &State{})
	require.ErrorContains(t, err, "penalty auto: it compares paths, and those of method iw are of draws")
	r, err := New(engine.Problem{Table: table}, engine.Config{Method: "exact"}, Config{Penalty: Penalty{Kind: "adaptive"}, LambdaMin: 1e9}, &State{})
	require.NoError(t, err)
	_, err = r.Estimate(t.Context(), func() error { return nil })
	require.ErrorIs(t, err, ErrLambdas, "the largest λ is known after the pilot")
}

// At the pilot another turn, written out row by row, leads nowhere: with x̂ the rows
// completed by their conditional means, μ is the mean of x̂ and P = ((1−α)S + α diag S)⁻¹
// for S the covariances of x̂ plus those of the missing cells.
func TestPilotIsAFixedPoint(t *testing.T) {
	const d, alpha = 5, 0.2
	_, table := testtables.Star(t, d, 200, 0.4)
	r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Penalty: Penalty{Kind: "ridge", Alpha: alpha}}, &State{})
	require.NoError(t, err)
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	pilot := r.State.Pilot
	require.False(t, pilot.Chosen)
	mean, s := completedMoments(t, table, pilot.Mean, graph.Unpack(d, pilot.Packed))
	want := graph.Unpack(d, pilot.Packed)
	for j := range d {
		require.InDelta(t, mean[j], pilot.Mean[j], 2e-3)
	}
	for j := range d {
		for k := range d {
			product := 0.0 // of P with what it is to be the inverse of
			for l := range d {
				shrunk := s.At(l, k)
				if l != k {
					shrunk *= 1 - alpha
				}
				product += want.At(j, l) * shrunk
			}
			require.InDelta(t, map[bool]float64{true: 1}[j == k], product, 5e-3)
		}
	}
}

// The likelihoods that choose α are those of the rows held out, under pilots of the others.
func TestPilotIsChosenByRowsHeldOut(t *testing.T) {
	_, table := testtables.Star(t, 5, 120, 0.3)
	r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact", Workers: 3}, Config{Penalty: Penalty{Kind: "adaptive"}}, &State{})
	require.NoError(t, err)
	require.NoError(t, r.prepare(t.Context(), r.Penalty().Kind))
	s := r.State.Pilot
	require.Len(t, s.Held, 5)
	sums, seen := make([]float64, len(pilotAlphas)), map[int]bool{}
	for k, fold := range folds(5, table.N, 0) {
		f, err := r.newPilotFit(fold.fitted(table.AllRows()), 1)
		require.NoError(t, err)
		for i, alpha := range pilotAlphas {
			require.NoError(t, f.fit(t.Context(), alpha))
			held := LogLikelihood(table, fold.heldOut, f.Model.Mean(), f.Model.Precision())
			require.InDelta(t, held, s.Held[k][i], 1e-8)
			sums[i] += held
		}
		for _, i := range fold.heldOut {
			seen[i] = true
			require.NotContains(t, fold.fitted(table.AllRows()), i)
		}
	}
	require.Len(t, seen, table.N)
	require.True(t, s.Chosen)
	require.Equal(t, pilotAlphas[slices.Index(sums, slices.Max(sums))], s.Alpha)
}

// Sizes 0.2, 0.1, 0.4 with the median 0.2: weights 1/(1 + 0.1), 1/(0.5 + 0.1), 1/(2 + 0.1).
func TestAdaptiveWeights(t *testing.T) {
	pilot := []float64{1, -0.2, 0.2, 4, 0.8, 1}
	require.InDeltaSlice(t, []float64{0.1, 0.2, 0.4}, sizes(pilot, 3), 1e-15) // of correlations 0.1, −0.2, −0.4
	w := adaptiveWeights(pilot, 3)
	require.InDeltaSlice(t, []float64{0, 1 / 0.6, 1 / 1.1, 0, 1 / 2.1, 0}, w, 1e-12)
	require.Equal(t, []float64{0, 1, 1, 0, 1, 0}, adaptiveWeights([]float64{1, 0, 0, 1, 0, 1}, 3))
}

// The path of a weighted penalty meets its conditions: the gradient by P_jk, made anew, is
// −λ w sign P_jk on edges, in size at most λ w off them; the largest λ leaves no edge, and
// little less leaves one.
func TestWeightedPathMeetsTheConditions(t *testing.T) {
	const d = 6
	_, table := testtables.Star(t, d, 150, 0.3)
	standard, _ := data.Standardise(table)
	for _, method := range []string{"exact", "em-exact"} {
		c := Config{Penalty: Penalty{Kind: "adaptive"}, Lambdas: 6, StopTol: 1e-7, MaxIter: 5000, Select: Selection{Kind: "none"}, PathOnly: true}
		p := engine.Problem{Table: standard}
		r, _ := estimate(t, p, engine.Config{Method: method}, c)
		require.Zero(t, r.State.Points[0].Edges)
		require.Greater(t, r.State.Points[5].Edges, 9)
		weights := adaptiveWeights(r.State.Pilot.Packed, d)
		kind := model.FreeSymmetric
		if r.fitsMean() {
			kind = model.Natural
		}
		m := model.NewGaussian(d, kind)
		m.Location.Fixed = !r.fitsMean()
		p.Model, p.Objective = m, losses.Classical{}
		for _, q := range r.State.Points {
			copy(m.Packed.Value, q.Packed)
			copy(m.Location.Value, q.Linear)
			_, grads, err := engine.Gradient(p, engine.Config{Method: method}, 0)
			require.NoError(t, err)
			for j := range d {
				for k := j + 1; k < d; k++ {
					at := graph.PackedIndex(d, j, k)
					slope, most := grads[1][at]/d, q.Lambda*weights[at]
					if q.Packed[at] == 0 {
						require.LessOrEqual(t, math.Abs(slope), most+1e-6, method)
						continue
					}
					require.InDelta(t, -math.Copysign(most, q.Packed[at]), slope, 1e-6, method)
				}
			}
		}
		c.LambdaMax, c.Lambdas = r.Config.LambdaMax/1.05*0.98, 1
		r, _ = estimate(t, engine.Problem{Table: standard}, engine.Config{Method: method}, c)
		if method == "exact" { // whose gradient the largest λ is of
			require.Positive(t, r.State.Points[0].Edges)
		}
	}
}

// By ridge a point of the path has the pairs whose partial correlation is above λ, and the
// result is the refit of the chosen one, by every method.
func TestRidgePath(t *testing.T) {
	const d = 6
	_, table := testtables.Star(t, d, 400, 0.3)
	standard, _ := data.Standardise(table)
	for _, method := range []string{"em-exact", "exact"} {
		r, scores := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: method}, Config{Penalty: Penalty{Kind: "ridge"}})
		size := sizes(r.State.Pilot.Packed, d)
		require.Equal(t, slices.Max(size), r.Config.LambdaMax)
		for _, p := range r.State.Points {
			for i, edge := range Adjacency(p.Packed, d, r.Config.Threshold).Edge {
				require.Equal(t, size[i] > p.Lambda, edge)
			}
		}
		require.Len(t, scores, len(r.State.Points))
		require.True(t, r.State.Refine.Converged, r.Verdict())
		chosen := r.State.Points[r.State.Refine.Index]
		require.InDelta(t, 5, chosen.Edges, 2, "of 15 pairs")
		require.Equal(t, without(Adjacency(chosen.Packed, d, r.Config.Threshold).Edge, d), without(Adjacency(r.packed(), d, 0).Edge, d))
		want, _ := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: method},
			Config{Penalty: Penalty{Kind: "ridge"}, LambdaMax: chosen.Lambda, Lambdas: 1, Select: Selection{Kind: "none"}})
		require.InDeltaSlice(t, want.packed(), r.packed(), 2e-3, method)
	}
}

// Cut anywhere and taken up again, by any number of workers, the bytes are the same.
func TestPenaltiesAreTakenUpAgain(t *testing.T) {
	_, table := testtables.Star(t, 4, 80, 0.3)
	standard, _ := data.Standardise(table)
	for _, c := range []Config{
		{Penalty: Penalty{Kind: "adaptive"}, Lambdas: 4, Select: Selection{Kind: "ebic"}},
		{Penalty: Penalty{Kind: "ridge"}, Lambdas: 4, Select: Selection{Kind: "stars"}},
		{Penalty: Penalty{Kind: "auto"}, Lambdas: 4},
	} {
		requireResumes(t, standard, "em-exact", c)
	}
	requireResumes(t, standard, "exact", Config{Penalty: Penalty{Kind: "auto"}, Lambdas: 4})
}

// requireResumes cuts an estimate each time its state is saved for the second time, by two
// workers, and compares with one that was not cut, by one.
func requireResumes(t *testing.T, table *data.Table, method string, c Config) {
	t.Helper()
	start := func(s *State, workers int) *Run {
		r, err := New(engine.Problem{Table: table}, engine.Config{Method: method, Workers: workers, Batch: 50}, c, s)
		require.NoError(t, err)
		return r
	}
	whole := start(&State{}, 1)
	_, err := whole.Estimate(t.Context(), func() error { return nil })
	require.NoError(t, err)
	s, seen := &State{}, 0
	var saved engine.State
	for {
		ctx, cancel := context.WithCancel(t.Context())
		saves := 0
		r := start(s, 2)
		if seen++; seen > 1 {
			r.Restore(saved)
		}
		_, err := r.Estimate(ctx, func() error {
			if saves++; saves == 2 {
				cancel()
			}
			return nil
		})
		saved = r.Capture()
		cancel()
		if err == nil {
			break
		}
		var text bytes.Buffer
		require.NoError(t, gob.NewEncoder(&text).Encode(s))
		s = &State{}
		require.NoError(t, gob.NewDecoder(&text).Decode(s))
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, seen, 200)
	}
	require.Greater(t, seen, 4)
	require.Equal(t, fmt.Sprintf("%+v", *whole.State), fmt.Sprintf("%+v", *s)) // NaN is not NaN
	require.Equal(t, whole.Capture().Model, saved.Model)
}

// A path on some of the rows has the whole table's α, and a pilot of its own.
func TestPartsHaveTheirPilots(t *testing.T) {
	_, table := testtables.Star(t, 4, 100, 0.3)
	r, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Penalty: Penalty{Kind: "adaptive"}, Lambdas: 3, Select: Selection{Kind: "cv", Folds: 2}})
	part, _, err := r.part(t.Context(), r.parts()[0])
	require.NoError(t, err)
	require.Equal(t, r.State.Pilot.Alpha, part.State.Pilot.Alpha)
	require.Nil(t, part.State.Pilot.Held)
	require.NotEqual(t, r.State.Pilot.Packed, part.State.Pilot.Packed)
	require.Equal(t, r.lambdas, part.lambdas)
}

// auto takes the penalty of the least EBIC, and L1 where none is clearly better, with the
// result of that penalty alone.
func TestAuto(t *testing.T) {
	_, table := testtables.Star(t, 6, 300, 0.3)
	standard, _ := data.Standardise(table)
	p := engine.Problem{Table: standard}
	for _, method := range []string{"em-exact", "exact"} {
		r, scores := estimate(t, p, engine.Config{Method: method}, Config{Penalty: Penalty{Kind: "auto"}})
		s := r.State.Auto
		require.Equal(t, []string{"l1", "adaptive", "ridge"}, s.Kinds)
		require.Nil(t, s.States)
		for i, kind := range s.Kinds {
			alone, own := estimate(t, p, engine.Config{Method: method}, Config{Penalty: Penalty{Kind: kind}})
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

func TestAutoKeepsL1(t *testing.T) {
	_, table := testtables.Star(t, 4, 80, 0.3)
	for _, c := range []struct {
		scores []float64
		want   string
	}{
		{[]float64{100, 91, 90}, "l1"}, {[]float64{100, 89, 95}, "adaptive"}, {[]float64{100, 89, 88}, "ridge"}, {[]float64{100, 95, 89.9}, "ridge"},
		{[]float64{math.Inf(1), 95, 96}, "adaptive"}, {[]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, "l1"},
	} {
		s := &State{Auto: Auto{Kinds: []string{"l1", "adaptive", "ridge"}, Scores: c.scores, States: []*State{{}, {}, {}, {}}}}
		r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Penalty: Penalty{Kind: "auto"}}, s)
		require.NoError(t, err)
		require.NoError(t, r.compare(t.Context()))
		require.Equal(t, c.want, r.State.Auto.Kind)
	}
	r, err := New(engine.Problem{Table: table}, engine.Config{Method: "em-exact"}, Config{Penalty: Penalty{Kind: "auto"}, Select: Selection{Kind: "cv"}}, &State{})
	require.NoError(t, err)
	require.Equal(t, []string{"l1", "adaptive"}, r.rivals())
}
