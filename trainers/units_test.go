package trainers_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
	"missingscore/trainers/regpath"
)

// unitChange says how a table is written down differently: row i of it is row Rows[i] of the
// first, column j is column Columns[j] times Scale[j] plus Shift[j] standard deviations.
type unitChange struct {
	Rows, Columns []int
	Scale, Shift  []float64
}

func (u unitChange) apply(t *data.Table) *data.Table {
	_, scale := data.Standardise(t)
	out := &data.Table{N: t.N, D: t.D}
	for _, j := range u.Columns {
		out.Names = append(out.Names, t.Names[j])
	}
	for _, i := range u.Rows {
		for a, j := range u.Columns {
			out.Values = append(out.Values, (t.Values[i*t.D+j]+u.Shift[a]*scale.Deviation[j])*u.Scale[a])
			out.Observed = append(out.Observed, t.Observed[i*t.D+j])
		}
	}
	return out
}

func estimatedNetwork(t require.TestingT, table *data.Table, method string) *trainers.Result {
	r, err := trainers.Estimate(context.Background(), table, trainers.Spec{
		Steps: engine.Config{Method: method}, Network: &regpath.Config{Lambdas: 10}}, trainers.Run{})
	require.NoError(t, err)
	return r
}

// partials are the partial correlations of the edges by the names of their ends.
func partials(r *trainers.Result) map[string]float64 {
	out := map[string]float64{}
	for _, e := range r.Network.Edges() {
		out[min(e.From, e.To)+"–"+max(e.From, e.To)] = e.PartialCorrelation
	}
	return out
}

// upTo are the numbers below n.
func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

var unitMethods = []string{"exact", "em-exact", "zeroed", "full"}

func unitsTable(t testing.TB, method string) *data.Table {
	g, table := testtables.Star(t, 4, 60, 0.2)
	if method == "full" {
		var err error
		table, err = g.Sample(60, stream.New(3))
		require.NoError(t, err)
	}
	return table
}

// A network does not depend on units: columns times powers of two give the same bytes.
func TestNetworkInOtherBinaryUnits(t *testing.T) {
	for _, method := range unitMethods {
		table := unitsTable(t, method)
		want := estimatedNetwork(t, table, method)
		require.NotEmpty(t, want.Network.Edges())
		rapid.Check(t, func(r *rapid.T) {
			u := unitChange{Rows: upTo(table.N), Columns: upTo(table.D), Shift: make([]float64, table.D)}
			for range table.D {
				u.Scale = append(u.Scale, math.Ldexp(1, rapid.IntRange(-398, 398).Draw(r, "exponent")))
			}
			got := estimatedNetwork(r, u.apply(table), method)
			require.Equal(r, partials(want), partials(got))
			require.Equal(r, want.Verdict, got.Verdict)
			require.Equal(r, want.Loss, got.Loss)
		})
	}
}

// Decimal units, another origin and another order of rows and columns only round otherwise.
// The iterations stop where they would move an element by less than 0.003 in 50 more: which
// of them is the last may turn on a rounding, hence the tolerance.
func TestNetworkInOtherUnits(t *testing.T) {
	for _, method := range unitMethods {
		table := unitsTable(t, method)
		want := estimatedNetwork(t, table, method)
		rapid.Check(t, func(r *rapid.T) {
			u := unitChange{Rows: rapid.Permutation(upTo(table.N)).Draw(r, "rows"), Columns: rapid.Permutation(upTo(table.D)).Draw(r, "columns")}
			for range table.D {
				u.Scale = append(u.Scale, math.Pow(10, rapid.Float64Range(-120, 120).Draw(r, "decade")))
				u.Shift = append(u.Shift, rapid.Float64Range(-1e4, 1e4).Draw(r, "shift"))
			}
			got := estimatedNetwork(r, u.apply(table), method)
			require.Equal(r, want.Converged, got.Converged)
			a, b := partials(want), partials(got)
			require.ElementsMatch(r, slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
			for pair, v := range a {
				require.InDelta(r, v, b[pair], 1e-6, pair)
			}
		})
	}
}

// A Gaussian fit in units of other powers of two is the same fit: its parameters times powers of two.
func TestFitInOtherBinaryUnits(t *testing.T) {
	for _, method := range []string{"exact", "zeroed", "full", "em-exact"} {
		table := unitsTable(t, method)
		fitted := func(t require.TestingT, table *data.Table) (*trainers.Result, []float64, *mat.SymDense) {
			r, err := trainers.Estimate(context.Background(), table, trainers.Spec{
				Steps: engine.Config{Method: method}}, trainers.Run{})
			require.NoError(t, err)
			m := r.Model.Model.(*model.Gaussian)
			return r, m.Mean(), m.Precision()
		}
		want, mean, precision := fitted(t, table)
		rapid.Check(t, func(r *rapid.T) {
			u := unitChange{Rows: upTo(table.N), Columns: upTo(table.D), Shift: make([]float64, table.D)}
			for range table.D {
				u.Scale = append(u.Scale, math.Ldexp(1, rapid.IntRange(-398, 398).Draw(r, "exponent")))
			}
			got, otherMean, otherPrecision := fitted(r, u.apply(table))
			require.Equal(r, want.Loss, got.Loss)
			for j, s := range u.Scale {
				require.InEpsilon(r, mean[j], otherMean[j]/s, 1e-12)
				for k, v := range u.Scale {
					require.InEpsilon(r, precision.At(j, k), otherPrecision.At(j, k)*s*v, 1e-9)
				}
			}
		})
	}
}
