package path

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/trainers/engine"
	"missingscore/trainers/internal/testtables"
)

func TestLogLikelihoodAgainstDistmv(t *testing.T) {
	testMean := []float64{1, -0.5, 0.3, 2}
	testPrecision := mat.NewSymDense(4, []float64{2, 0.6, -0.4, 0, 0.6, 1.5, 0.3, -0.2, -0.4, 0.3, 1, 0.5, 0, -0.2, 0.5, 1.8})
	joint, ok := distmv.NewNormalPrecision(testMean, testPrecision, nil)
	require.True(t, ok)
	table := &data.Table{Names: []string{"a", "b", "c", "d"}, N: 3, D: 4,
		Values:   []float64{0.2, math.NaN(), -0.7, math.NaN(), 1, 2, 3, 4, math.NaN(), 0.5, 0.5, 0.5},
		Observed: []bool{true, false, true, false, true, true, true, true, false, true, true, true}}
	marginal, ok := joint.MarginalNormal([]int{0, 2}, nil)
	require.True(t, ok)
	rest, ok := joint.MarginalNormal([]int{1, 2, 3}, nil)
	require.True(t, ok)
	want := marginal.LogProb([]float64{0.2, -0.7}) + joint.LogProb([]float64{1, 2, 3, 4}) + rest.LogProb([]float64{0.5, 0.5, 0.5})
	require.InDelta(t, want, LogLikelihood(table, []int{0, 1, 2}, testMean, testPrecision), 1e-10)
	require.True(t, math.IsInf(LogLikelihood(table, []int{0}, testMean, mat.NewSymDense(4, nil)), -1))
}

func TestEBICByItsFormula(t *testing.T) {
	_, table := testtables.Star(t, 6, 200, 0.3)
	standard, _ := data.Standardise(table)
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	both := 0.0
	for i := range table.N {
		for j := range 6 {
			for k := range j {
				if table.Observed[i*6+j] && table.Observed[i*6+k] {
					both++
				}
			}
		}
	}
	r, scores := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "exact"}, Config{Select: Selection{Kind: "ebic", Gamma: new(0.7)}})
	require.Len(t, scores, 100)
	best := 0
	for i, p := range r.State.Points {
		m := model.NewGaussian(6, model.FreeSymmetric)
		copy(m.Packed.Value, p.Packed)
		edges := float64(p.Edges)
		want := -2*LogLikelihood(standard, rows, make([]float64, 6), m.Precision()) + edges*math.Log(both/15) + 4*0.7*edges*math.Log(6)
		require.InDelta(t, want, scores[i], 1e-8)
		if scores[i] < scores[best] {
			best = i
		}
	}
	require.Equal(t, best, r.State.Refine.Index)
}

// Where η is fitted along, the likelihood is at μ = P⁻¹η, not at the observed means.
func TestEBICAtTheFittedMean(t *testing.T) {
	_, table := testtables.Star(t, 4, 200, 0.3)
	standard, _ := data.Standardise(table)
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	r, scores := estimate(t, engine.Problem{Table: standard}, engine.Config{Method: "em-exact"},
		Config{Lambdas: 5, Select: Selection{Kind: "ebic", Gamma: new(0.)}, PathOnly: true})
	apart := 0.0
	for i, p := range r.State.Points {
		m := model.NewGaussian(4, model.FreeSymmetric)
		copy(m.Packed.Value, p.Packed)
		var mean mat.VecDense
		require.NoError(t, mean.SolveVec(m.Precision(), mat.NewVecDense(4, p.Linear)))
		fitted := -2 * LogLikelihood(standard, rows, mean.RawVector().Data, m.Precision())
		held := -2 * LogLikelihood(standard, rows, make([]float64, 4), m.Precision())
		apart = max(apart, math.Abs(fitted-held))
		require.InDelta(t, float64(p.Edges)*math.Log(meanPairCount(standard)), scores[i]-fitted, 1e-8)
	}
	require.Greater(t, apart, 1e-2)
}

// The criterion on a domain: the loss over all rows and columns, and the price of edges.
func TestEBICOnADomain(t *testing.T) {
	g, table := testtables.Normal(t, 200, 25)
	s := domain.All(4)
	s.Lower[0] = g.Mean[0] - 6
	standard, scale := data.Standardise(table)
	r, scores := estimate(t, engine.Problem{Table: standard, Domain: s.Standardised(scale.Mean, scale.Deviation)}, engine.Config{Method: "zeroed"},
		Config{Schedule: Fixed, Lambdas: 5, InitialIter: 20, Select: Selection{Kind: "ebic", Gamma: new(0.5)}, Tolerance: 1e9})
	pairs, n := 0., 0.
	for j := range 4 {
		for k := j + 1; k < 4; k++ {
			for i := range table.N {
				if table.Observed[i*4+j] && table.Observed[i*4+k] {
					n++
				}
			}
			pairs++
		}
	}
	for i, p := range r.State.Points {
		e := float64(p.Edges)
		require.InDelta(t, p.Loss*float64(table.N*4)+e*(math.Log(n/pairs)+2*math.Log(4)), scores[i], 1e-9)
	}
	require.Len(t, r.State.Points[0].Linear, 4)
}
