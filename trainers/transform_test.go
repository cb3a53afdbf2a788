package trainers_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/data/transform"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

// positive is a star's table, and the table of its exponentials.
func positive(t *testing.T) (normal, exponential *data.Table) {
	t.Helper()
	g, err := simulate.Star(6, stream.New(1, 1))
	require.NoError(t, err)
	normal, err = g.Sample(300, stream.New(1, 2))
	require.NoError(t, err)
	normal, err = data.HideMCAR(normal, 0.2, stream.New(1, 3))
	require.NoError(t, err)
	e := *normal
	e.Values = slices.Clone(normal.Values)
	for i, seen := range e.Observed {
		if seen {
			e.Values[i] = math.Exp(1.5 * e.Values[i])
		}
	}
	return normal, &e
}

// A network after logs is that of the logs; so is one by ranks of either, and neither needs
// the bound 0.
func TestTransformedNetworks(t *testing.T) {
	normal, exponential := positive(t)
	estimate := func(table *data.Table, s *domain.Domain, by string) *trainers.Result {
		spec, err := transform.Parse([]string{by})
		require.NoError(t, err)
		r, err := trainers.Estimate(t.Context(), table, trainers.Spec{Transform: spec, Domain: s, Steps: engine.Config{Method: "exact"}, Network: &regpath.Config{Lambdas: 15}}, trainers.Run{})
		require.NoError(t, err)
		return r
	}
	bound := domain.All(6)
	for j := range bound.Lower {
		bound.Lower[j] = 0
	}
	plain, logs := estimate(normal, nil, "none"), estimate(exponential, bound, "log")
	require.Nil(t, plain.Model.Transform)
	require.Nil(t, logs.Model.Domain)
	for j := range 6 {
		for k := range 6 {
			require.InDelta(t, plain.Network.Precision.At(j, k)/2.25, logs.Network.Precision.At(j, k), 1e-6)
		}
	}
	require.Equal(t, normal.Names, logs.Network.Names)
	require.Empty(t, logs.Warnings)
	p, err := trainers.Prepare(exponential, trainers.Spec{Domain: bound})
	require.NoError(t, err)
	found, err := p.Findings()
	require.NoError(t, err)
	require.Contains(t, found[0].Message, "too skewed for their bounds")

	ofNormal, ofExponential := estimate(normal, nil, "npn"), estimate(exponential, bound, "npn")
	d := ofNormal.Network.Precision.SymmetricDim()
	for j := range d {
		for k := range d {
			require.InDelta(t, ofNormal.Network.Precision.At(j, k), ofExponential.Network.Precision.At(j, k), 1e-9)
		}
	}
	table := exponential.Column(0)
	drawn := []float64{-100, 0, 0, 0, 0, 0}
	ofExponential.Model.Transform.Restore(drawn)
	require.Equal(t, 0., drawn[0], "the bound, though %g was the least value", slices.Min(table))
}

// What the table cannot do is refused, and told.
func TestFindings(t *testing.T) {
	_, exponential := positive(t)
	exponential.Values[0], exponential.Observed[0] = -3, true
	spec := trainers.Spec{Transform: transform.Spec{Others: "log"}}
	_, err := trainers.Prepare(exponential, spec)
	var row *data.RowError
	require.ErrorAs(t, err, &row)
	require.Equal(t, "-3", row.Cell)

	few, err := data.NewTable([]string{"a", "b"}, []float64{1, 2, 2, 1}, nil)
	require.NoError(t, err)
	_, err = trainers.Prepare(few, trainers.Spec{})
	require.ErrorContains(t, err, "only 2 rows have a value: at least 4 are needed")

	exponential.Values[0] = 3
	bound := domain.All(6)
	bound.Lower[0] = 0
	p, err := trainers.Prepare(exponential, trainers.Spec{Transform: spec.Transform, Domain: bound})
	require.NoError(t, err)
	found, err := p.Findings()
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Message, "after log of every column the model needs no bounds of x1")
}
