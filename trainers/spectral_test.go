package trainers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/trainers"
)

// minima runs a path of the standardised table to the minima.
func minima(t *testing.T, table *data.Table, c trainers.PathConfig) []trainers.Point {
	t.Helper()
	c.Standstill = 1e-7
	r := estimate(t, table, trainers.NetworkConfig{PathConfig: c, Select: trainers.Selection{Kind: "none"}, PathOnly: true, KeepUnits: true})
	require.Equal(t, "accelerated", r.Config.Schedule)
	require.Len(t, r.Points, c.Lambdas)
	return r.Points
}

// At a minimum the gradient per column is 0 for η and the diagonal, −λ sign P_jk
// where an edge is, and within ±λ elsewhere.
func TestAcceleratedPathMeetsItsConditions(t *testing.T) {
	const d = 6
	g, sparse := trainers.StarTable(t, d, 300, 0.4)
	_, complete := trainers.StarTable(t, d, 300, 0)
	box, err := g.TruncateBelow(2, 0.3)
	require.NoError(t, err)
	inside, err := g.SampleInside(box, 300, stream.New(2, 2))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		table  *data.Table
		config trainers.Config
	}{
		"exact":       {sparse, trainers.Config{Method: "exact"}},
		"full":        {complete, trainers.Config{Method: "full"}},
		"zeroed":      {sparse, trainers.Config{Method: "zeroed"}},
		"full in box": {inside, trainers.Config{Method: "full", Domain: box}},
	} {
		t.Run(name, func(t *testing.T) {
			table, scale := data.Standardise(c.table)
			c.config.Domain = c.config.Domain.Standardised(scale.Mean, scale.Deviation)
			kind := model.FreeSymmetric
			if c.config.Domain.Bounded() {
				kind = model.Natural
			}
			top := trainers.LambdaMax(table, c.config.Domain, c.config.Weight)
			edges := 0
			for _, p := range minima(t, table, trainers.PathConfig{Config: c.config, Lambdas: 5, LambdaMax: top, LambdaMin: top / 10}) {
				require.Zero(t, p.Lifts)
				m := model.NewGaussian(d, kind)
				copy(m.Packed.Value, p.Packed)
				copy(m.Location.Value, p.Linear)
				loss, grads, err := trainers.Gradient(table, m, losses.ObjectiveFor(c.config.Domain, c.config.Weight), c.config, 0)
				require.NoError(t, err)
				require.InDelta(t, loss/d, p.Loss, 1e-12)
				if kind == model.Natural {
					for _, v := range grads[0] {
						require.InDelta(t, 0, v/d, 1e-7)
					}
				}
				for j := range d {
					require.InDelta(t, 0, grads[1][graph.PackedIndex(d, j, j)]/d, 1e-7)
					for k := j + 1; k < d; k++ {
						at := graph.PackedIndex(d, j, k)
						v, g := p.Packed[at], grads[1][at]/d
						if v == 0 {
							require.LessOrEqual(t, math.Abs(g), p.Lambda+1e-7)
						} else {
							require.InDelta(t, -math.Copysign(p.Lambda, v), g, 1e-7)
							edges++
						}
					}
				}
			}
			require.Greater(t, edges, 10)
		})
	}
}

// The minimum is where plain proximal steps end, and it does not depend on where
// the iterations start: along a path, or from P = I.
func TestAcceleratedPathIsThePlainOnesLimit(t *testing.T) {
	_, table := trainers.StarTable(t, 4, 100, 0.4)
	table, _ = data.Standardise(table)
	top := trainers.LambdaMax(table, nil, domain.Weight{})
	warm := minima(t, table, trainers.PathConfig{Lambdas: 6, LambdaMax: top, LambdaMin: top / 20})
	require.Greater(t, warm[5].Edges, 3, "of 6")
	for _, k := range []int{1, 3, 5} {
		lambda := warm[k].Lambda
		cold := minima(t, table, trainers.PathConfig{Lambdas: 1, LambdaMax: lambda, LambdaMin: lambda})
		require.InDeltaSlice(t, warm[k].Packed, cold[0].Packed, 1e-6)
		plain := estimate(t, table, trainers.NetworkConfig{
			PathConfig: trainers.PathConfig{First: 6000, Lambdas: 1, LambdaMax: lambda, LambdaMin: lambda},
			Select:     trainers.Selection{Kind: "none"}, PathOnly: true, KeepUnits: true})
		require.Equal(t, "fixed", plain.Config.Schedule)
		require.InDeltaSlice(t, plain.Points[0].Packed, warm[k].Packed, 1e-6)
		require.Less(t, cold[0].Iterations, 100)
	}
}

// A λ whose minimum is not reached ends the path and is told.
func TestAcceleratedPathGivesUp(t *testing.T) {
	_, table := trainers.StarTable(t, 6, 200, 0.4)
	r := estimate(t, table, trainers.NetworkConfig{PathConfig: trainers.PathConfig{Most: 2, Standstill: 1e-9}, Select: trainers.Selection{Kind: "none"}})
	last := r.Points[len(r.Points)-1]
	require.True(t, last.Unfinished)
	require.Equal(t, 2, last.Iterations)
	require.Less(t, len(r.Points), 100)
	require.Contains(t, r.Warnings[0], "2 iterations did not reach the minimum there")
}

func TestScheduleRefusals(t *testing.T) {
	_, table := trainers.StarTable(t, 4, 50, 0.3)
	for want, c := range map[string]trainers.PathConfig{
		"the gradients of method var are noisy":          {Config: trainers.Config{Method: "var"}, Schedule: "accelerated"},
		"it is accelerated or fixed":                     {Schedule: "fast"},
		"these are for the fixed schedule":               {Schedule: "accelerated", First: 3},
		"these are for the accelerated schedule":         {Schedule: "fixed", Most: 3},
		"most 3, standstill 0: these are for the accel":  {Config: trainers.Config{Method: "iw"}, Most: 3},
		"none may be negative, and at least one λ and o": {Most: -3},
	} {
		_, err := trainers.EstimateNetwork(t.Context(), table, trainers.NetworkConfig{PathConfig: c}, &trainers.State{}, nil)
		require.ErrorContains(t, err, want)
	}
}
