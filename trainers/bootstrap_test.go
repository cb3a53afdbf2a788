package trainers_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

func bootstrapOf(resamples, stability, workers int) trainers.Spec {
	s := trainers.Spec{Network: &regpath.Config{}, Inference: inference.Config{Stability: stability}}
	if resamples > 0 {
		s.Inference.Kind, s.Inference.Resamples = "bootstrap", resamples
	}
	s.Steps.Seed, s.Steps.Workers = 5, workers
	return s
}

// Of two columns without gaps the estimate is their correlation r. To the first order in
// 1/n its bootstrap variance is the mean of the squares of its influence values over n
// (Efron & Tibshirani 1993, chapter 21),
//
//	u_i = z_i1 z_i2 − r (z_i1² + z_i2²)/2,   z standardised
//
// and the standard deviation of B resamples has a relative error of 1/√(2(B − 1)).
func TestBootstrapOfACorrelation(t *testing.T) {
	const n, resamples = 500, 300
	rng := stream.New(8, 1)
	values := make([]float64, 0, 2*n)
	for range n {
		x := rng.NormFloat64()
		values = append(values, x, 0.5*x+math.Sqrt(0.75)*rng.NormFloat64())
	}
	table, err := data.NewTable([]string{"a", "b"}, values, nil)
	require.NoError(t, err)
	r, err := trainers.Estimate(t.Context(), table, bootstrapOf(resamples, 0, 2), trainers.Run{})
	require.NoError(t, err)
	require.True(t, r.Converged, r.Verdict)
	u := r.Network.Network.Pairs[0].Uncertainty
	a, b := table.Column(0), table.Column(1)
	correlation := stat.Correlation(a, b, nil)
	require.InDelta(t, correlation, u.Estimate, 1e-3)
	meanA, varA := stat.PopMeanVariance(a, nil)
	meanB, varB := stat.PopMeanVariance(b, nil)
	variance := 0.0
	for i := range n {
		x, y := (a[i]-meanA)/math.Sqrt(varA), (b[i]-meanB)/math.Sqrt(varB)
		influence := x*y - correlation*(x*x+y*y)/2
		variance += influence * influence / n / n
	}
	se := math.Sqrt(variance)
	require.InDelta(t, se, u.SE, (4/math.Sqrt(2*(resamples-1))+10./n)*se)
	// A quantile q of B draws of a normal has the standard error √(q(1−q)/B)/φ = 2.7 se/√B for q = 0.025.
	quantile := 1.96*se + 4*2.7*se/math.Sqrt(resamples)
	require.InDelta(t, correlation-1.96*se, u.Low, quantile-1.96*se)
	require.InDelta(t, correlation+1.96*se, u.High, quantile-1.96*se)
	require.Equal(t, 1., u.Inclusion)
	require.Equal(t, 1., u.SameSign)
	require.Equal(t, n, u.Rows)
	require.True(t, math.IsNaN(u.P))
	require.Empty(t, r.Warnings)
}

// Killed after any resample and taken up, with any number of workers, and made in shards
// that are joined, it is what it is in one go.
func TestBootstrapResumedAndInShards(t *testing.T) {
	_, table := testtables.Star(t, 5, 120, 0.3)
	estimate := func(ctx context.Context, workers int, run trainers.Run) (*trainers.Result, error) {
		return trainers.Estimate(ctx, table, bootstrapOf(12, 20, workers), run)
	}
	whole, err := estimate(t.Context(), 1, trainers.Run{})
	require.NoError(t, err)
	require.NotNil(t, whole.Network.Stability)
	same := func(r *trainers.Result) {
		t.Helper()
		require.Equal(t, whole.Network.Stability, r.Network.Stability)
		for i, p := range whole.Network.Network.Pairs {
			q := r.Network.Network.Pairs[i]
			for k, v := range []float64{p.Uncertainty.SE, p.Uncertainty.Low, p.Uncertainty.High, p.Uncertainty.Inclusion, p.PartialCorrelation} {
				w := []float64{q.Uncertainty.SE, q.Uncertainty.Low, q.Uncertainty.High, q.Uncertainty.Inclusion, q.PartialCorrelation}[k]
				require.Equal(t, math.Float64bits(v), math.Float64bits(w))
			}
		}
	}
	file := filepath.Join(t.TempDir(), "state")
	for workers := 1; workers < 4; workers += 2 {
		state := &trainers.State{}
		cuts := 0
		for {
			ctx, cancel := context.WithCancel(t.Context())
			made := 0
			r, err := estimate(ctx, workers, trainers.Run{State: state, Save: func(s *trainers.State) error {
				if s.Inference != nil {
					if made++; made == 5 {
						cancel()
					}
				}
				return s.Save(file)
			}})
			cancel()
			if err == nil {
				same(r)
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			cuts++
			state, err = trainers.LoadState(file)
			require.NoError(t, err)
		}
		require.GreaterOrEqual(t, cuts, 3)
	}

	var joined *trainers.State
	for i := range 3 {
		state := &trainers.State{}
		r, err := estimate(t.Context(), 2, trainers.Run{State: state, Shard: inference.Shard{I: 3 - i, N: 3}})
		require.NoError(t, err)
		require.Nil(t, r.Network.Inference)
		require.Nil(t, r.Network.Stability)
		if joined == nil {
			joined = state
		} else {
			require.NoError(t, joined.Join(state))
		}
		left := joined.Inference.Left(bootstrapOf(12, 20, 1).Inference)
		require.Len(t, left, []int{22, 11, 0}[i])
		require.False(t, slices.ContainsFunc(left, func(k int) bool { return k%3 > 1-i }))
	}
	r, err := estimate(t.Context(), 1, trainers.Run{State: joined, Save: func(s *trainers.State) error {
		require.Empty(t, s.Inference.Left(bootstrapOf(12, 20, 1).Inference))
		return nil
	}})
	require.NoError(t, err)
	same(r)
	seed := bootstrapOf(12, 20, 1)
	seed.Steps.Seed = 6
	other := &trainers.State{}
	_, err = trainers.Estimate(t.Context(), table, seed, trainers.Run{State: other, Shard: inference.Shard{I: 1, N: 3}})
	require.NoError(t, err)
	require.ErrorIs(t, joined.Join(other), trainers.ErrOtherRun)
}

// A resample that cannot be estimated, here as no row of it shows two columns together, is
// counted and named; more than a tenth of the resamples are a doubt.
func TestFailedResamples(t *testing.T) {
	const resamples = 100
	for _, together := range []int{4, 1} { // rows that show columns 0 and 1, the last ones
		_, table := testtables.Star(t, 3, 60, 0)
		first := table.N - together
		for i := range first {
			table.Observed[i*table.D+i%2] = false
		}
		r, err := trainers.Estimate(t.Context(), table, bootstrapOf(resamples, 0, 2), trainers.Run{})
		require.NoError(t, err)
		failed, number := 0, 0
		for b := range resamples {
			rng, seen := stream.New(5, stream.Resample, 1, uint64(b)), false
			for range table.N {
				seen = rng.IntN(table.N) >= first || seen
			}
			if !seen {
				if failed++; number == 0 {
					number = b + 1
				}
			}
		}
		p := math.Pow(float64(first)/float64(table.N), float64(table.N)) // 0.016 and 0.36
		require.InDelta(t, p*resamples, failed, 4*math.Sqrt(p*(1-p)*resamples))
		require.Positive(t, failed)
		told := r.Warnings[len(r.Warnings)-1]
		require.Contains(t, told, fmt.Sprintf("of 100 resamples have no result; the first, number %d: x1 and x2 are never observed in the same row", number))
		var counted int
		_, err = fmt.Sscanf(told, "%d of", &counted)
		require.NoError(t, err)
		require.GreaterOrEqual(t, counted, failed)
		require.Less(t, counted, failed+5) // which fail otherwise
		require.Contains(t, r.Network.Inference.Rests, fmt.Sprintf("made again on %d tables", resamples-counted))
		require.Equal(t, together == 4, r.Converged, r.Verdict)
		if together == 1 {
			require.Contains(t, r.Verdict, "NOT reliable: "+told)
		}
	}
}

// A column that hardly varies is constant in some resamples.
func TestResamplesWithoutVariation(t *testing.T) {
	_, table := testtables.Star(t, 3, 40, 0)
	for i := range table.N {
		table.Values[i*table.D] = 0
	}
	table.Values[0] = 1
	s := bootstrapOf(60, 0, 1)
	s.Steps.Method = "em-exact"
	r, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
	require.NoError(t, err)
	require.False(t, r.Converged)
	require.Contains(t, r.Verdict, `column "x1": constant, every observed value is 0`)
}
