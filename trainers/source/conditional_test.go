package source

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
)

var (
	testMean      = []float64{1, -0.5, 0.3, 2}
	testPrecision = mat.NewSymDense(4, []float64{2, 0.6, -0.4, 0, 0.6, 1.5, 0.3, -0.2, -0.4, 0.3, 1, 0.5, 0, -0.2, 0.5, 1.8})
	testRow       = []float64{0.2, 0, -0.7, 0}
)

func oracle(t *testing.T) *distmv.Normal {
	joint, ok := distmv.NewNormalPrecision(testMean, testPrecision, nil)
	require.True(t, ok)
	c, ok := joint.ConditionNormal([]int{0, 2}, []float64{0.2, -0.7}, nil)
	require.True(t, ok)
	return c
}

func TestConditionalNeedsADefiniteBlock(t *testing.T) {
	p := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 2, 0, 2, 1})
	c := Conditional{Mean: make([]float64, 3), Precision: p}
	require.NoError(t, c.Condition([]float64{0, 1, 1}), "the block of column 0 alone is fine")
	require.ErrorIs(t, c.Condition([]float64{1, 0, 0}), losses.ErrNotPositiveDefinite)
	require.ErrorIs(t, c.Condition([]float64{1, 0, 0}), losses.ErrNotPositiveDefinite, "and again")
	require.NoError(t, c.Condition([]float64{1, 1, 1}))
}

func testModel(t *testing.T) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(4, model.FreeSymmetric)
	require.NoError(t, m.SetPrecision(testPrecision))
	m.SetMean(testMean)
	return m
}

func testBatch(size int) *data.Batch {
	table := &data.Table{Names: []string{"a", "b", "c", "d"}, N: 1, D: 4, Values: testRow, Observed: []bool{true, false, true, false}}
	b := data.NewBatch(size, 4)
	b.Fill(table, []int{0}, 1)
	return b
}

var testSources = map[string]func(Setting) (Source, error){"proposal": newProposal, "variational": newImputer, "exact": newExact}

// N(0, a² sd² + σ²) and c e^{βℓ + γℓ²} σ_φ.
func TestSourcesAtLevels(t *testing.T) {
	const r, a, sigma = 20000, 0.6, 0.5
	imputer := nets.NewNormalImputer(4, nets.NormalOptions{NoiseConditional: true, InitialLogS: 0.3}, stream.New(2, 2))
	copy(imputer.Params()[7].Value, []float64{0.7, -0.4})
	level := 0.25 * math.Log(sigma/a)
	for name, want := range map[string]float64{
		"proposal":    math.Sqrt(a*a*2*2 + sigma*sigma),
		"variational": math.Hypot(a, sigma) * math.Exp(0.3+0.7*level-0.4*level*level),
	} {
		t.Run(name, func(t *testing.T) {
			batch := testBatch(1)
			batch.Signal, batch.Noise = []float64{a}, []float64{sigma}
			source, err := testSources[name](Setting{Model: testModel(t), Imputer: imputer, Batch: 1, Draws: r, ProposalSD: 2})
			require.NoError(t, err)
			x, log := slice(r*4), slice(r)
			require.NoError(t, source.Complete(batch, x, log, new(stream.Stream).At(3, 3)))
			gap, z := slice(r), slice(r)
			for k := range r {
				gap[k] = x[k*4+1]
			}
			_, sd := stat.MeanStdDev(gap, nil)
			require.InEpsilon(t, want, sd, 4.5/math.Sqrt(2*r))
			for k := range r { // given the network's means, the density has that deviation
				z[k] = log[k] + distuv.Normal{Sigma: want}.LogProb(0)*-2
			}
			_, spread := stat.MeanStdDev(z, nil)
			// −½(z² + z²) of two cells is exponential: the variance of its sample deviation is
			// about (9 − 1)/4r, and the largest of r is below −20/r with probability e^−20.
			require.InDelta(t, 1, spread, 4.5*math.Sqrt(2./r))
			require.InDelta(t, 0, floats.Max(z), 20./r)
		})
	}
}

func slice(n int) []float64 { return make([]float64, n) }

// Draws in float32 have the moments of those in float64, and the log density of gonum's distuv at
// the mean and deviation that their moments show.
func TestSingleSources(t *testing.T) {
	const d, r = 4, 40000
	imputer := nets.NewNormalImputer(d, nets.NormalOptions{Hidden: 8}, new(Stream).At(3, 1).Rand)
	batch := testBatch(2) // one row of padding
	for _, name := range []string{"proposal", "variational"} {
		s, err := testSources[name](Setting{Model: testModel(t), Imputer: imputer, Batch: 2, Draws: r, ProposalSD: 1.7, DType: graph.Float32})
		require.NoError(t, err)
		x, logs, singles, singleLogs := slice(2*r*d), slice(2*r), make([]float32, 2*r*d), make([]float32, 2*r)
		require.NoError(t, s.Complete(batch, x, logs, new(Stream).At(1, 2)))
		require.NoError(t, s.(SingleSource).CompleteSingle(batch, singles, singleLogs, new(Stream).At(1, 2)))
		for _, v := range singles[r*d:] {
			require.Zero(t, v, "padding")
		}
		want := slice(r)
		for _, j := range []int{1, 3} {
			var wide, narrow []float64
			for k := range r {
				wide, narrow = append(wide, x[k*d+j]), append(narrow, float64(singles[k*d+j]))
			}
			mean, sd := stat.MeanStdDev(wide, nil)
			single, singleSD := stat.MeanStdDev(narrow, nil)
			require.InDelta(t, mean, single, 4.5*sd*math.Sqrt(2./r), name)
			require.InEpsilon(t, sd, singleSD, 4.5/math.Sqrt(r), name)
			for k := range r {
				want[k] += distuv.Normal{Mu: mean, Sigma: sd}.LogProb(narrow[k])
			}
		}
		for k := range r {
			require.Equal(t, []float32{0.2, -0.7}, []float32{singles[k*d], singles[k*d+2]})
			require.InDelta(t, want[k], singleLogs[k], 0.03+0.03*math.Abs(want[k]), name)
		}
	}
}
