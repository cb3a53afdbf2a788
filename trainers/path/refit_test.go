package path

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

// With every edge and without gaps a refit is the inverse of the covariances S, divisor n, and its
// loss a column, (−2 tr P + tr PSP)/d, is −tr S⁻¹/d.
func TestLossOfARefit(t *testing.T) {
	const d, n = 4, 200
	_, table := testtables.Star(t, d, n, 0)
	table, _ = data.Standardise(table)
	r, _ := estimate(t, engine.Problem{Table: table}, engine.Config{Method: "em-exact"},
		Config{Lambdas: 5, LambdaMin: 1e-7, Threshold: 1e-9, Select: Selection{Kind: "none"}, Refit: new(true)})
	require.True(t, r.State.Refine.Refit)
	require.Equal(t, d*(d-1)/2, r.chosenEdges())
	var s mat.SymDense
	stat.CovarianceMatrix(&s, mat.NewDense(n, d, table.Values), nil)
	s.ScaleSym((n-1.)/n, &s)
	var inverse mat.Dense
	require.NoError(t, inverse.Inverse(&s))
	require.InDelta(t, -mat.Trace(&inverse)/d, r.State.Refine.Loss, 1e-4)
}
