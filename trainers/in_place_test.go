package trainers_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// An estimate that standardises columns where they stand is the one that copies them, and
// afterwards the table is what it was, up to rounding.
func TestInPlace(t *testing.T) {
	for name, s := range map[string]trainers.Spec{
		"network":           {Network: &regpath.Config{}},
		"errors by rows":    {Network: &regpath.Config{}, Inference: inference.Config{Kind: "robust"}},
		"resamples":         {Network: &regpath.Config{Lambdas: 10}, Inference: inference.Config{Kind: "bootstrap", Resamples: 5}},
		"cross-validation":  {Network: &regpath.Config{Lambdas: 10, Select: regpath.Selection{Kind: "cv"}}, Steps: engine.Config{Method: "exact"}},
		"fit":               {Steps: engine.Config{Method: "em-exact"}},
		"fit with errors":   {Steps: engine.Config{Method: "em-exact"}, Inference: inference.Config{Kind: "robust"}},
		"of a fixed origin": {Model: trainers.ModelSpec{Kind: "quartic"}, Steps: engine.Config{Method: "zeroed"}, Descent: descent.Config{Iterations: 3}},
	} {
		_, table := testtables.Star(t, 5, 300, 0.2)
		for i := range table.Values {
			if table.Observed[i] {
				table.Values[i] = 50 + 3*table.Values[i]
			}
		}
		before := slices.Clone(table.Values)
		want, err := trainers.Estimate(t.Context(), table, s, trainers.Run{})
		require.NoError(t, err, name)
		require.Equal(t, before, table.Values, name)
		got, err := trainers.Estimate(t.Context(), table, s, trainers.Run{InPlace: true})
		require.NoError(t, err, name)
		require.InEpsilonSlice(t, observed(table, before), observed(table, table.Values), 1e-14, name)
		require.Equal(t, want.Loss, got.Loss, name)
		require.Equal(t, want.Verdict, got.Verdict, name)
		require.Equal(t, want.Warnings, got.Warnings, name)
		require.Len(t, got.MissingAtRandom, len(want.MissingAtRandom), name)
		for i, c := range want.MissingAtRandom {
			require.InDelta(t, c.P, got.MissingAtRandom[i].P, 1e-9, name)
		}
		if s.Network != nil {
			require.Equal(t, fmt.Sprint(want.Network.Points), fmt.Sprint(got.Network.Points), name) // NaN included
			var edges, same bytes.Buffer
			require.NoError(t, want.Network.Network.WriteEdges(&edges))
			require.NoError(t, got.Network.Network.WriteEdges(&same))
			require.Equal(t, edges.String(), same.String(), name)
		}
		for i, p := range want.Model.Model.Params() {
			require.Equal(t, p.Value, got.Model.Model.Params()[i].Value, name)
		}
	}
}

// Where rounding could carry a number over a bound, nothing is overwritten.
func TestInPlaceKeepsNumbersOnBounds(t *testing.T) {
	_, table := testtables.Star(t, 4, 200, 0.2)
	for i, v := range table.Values {
		table.Values[i] = max(0, math.Round(10*v)/10)
	}
	before := slices.Clone(table.Values)
	box, err := domain.Parse([]byte(`{"lower":{"x1":0,"x2":0,"x3":0,"x4":0}}`), table.Names)
	require.NoError(t, err)
	_, err = trainers.Estimate(t.Context(), table, trainers.Spec{Network: &regpath.Config{Lambdas: 3}, Domain: box, Steps: engine.Config{Method: "zeroed"}}, trainers.Run{InPlace: true})
	require.NoError(t, err)
	require.Equal(t, before, table.Values)
}

// One that is cut leaves the table in its own units, too.
func TestInPlaceIsPutBackWhenCut(t *testing.T) {
	_, table := testtables.Star(t, 5, 300, 0.2)
	before := slices.Clone(table.Values)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := trainers.Estimate(ctx, table, trainers.Spec{Network: &regpath.Config{}}, trainers.Run{InPlace: true})
	require.ErrorIs(t, err, context.Canceled)
	require.InDeltaSlice(t, before, table.Values, 1e-14)
}

func observed(t *data.Table, values []float64) (some []float64) {
	for i, v := range values {
		if t.Observed[i] {
			some = append(some, v)
		}
	}
	return some
}
