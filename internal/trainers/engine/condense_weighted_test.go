package engine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/losses"
)

// inside moves the rows of a table into a box above 0 and below 3, and into a half-space.
func inside(t *data.Table) *domain.Domain {
	s := domain.All(4)
	s.Lower[0], s.Upper[0], s.Lower[2] = 0, 3, -1
	s.Half = []domain.HalfSpace{{A: []float64{0.5, 0.5, 0, -1}, B: 4}}
	for i := range t.N {
		x := t.Values[i*4 : (i+1)*4]
		x[0], x[2] = 1.5+1.4*math.Tanh(x[0]), math.Abs(x[2])-0.9
		x[3] = math.Abs(x[3]) + x[1]/2 - 0.5
	}
	return s
}

func everywhere(t *data.Table) {
	for i := range t.Observed {
		t.Observed[i] = true
	}
}

// weightedModel is a normal model with a dense precision.
func weightedModel(t *testing.T) *model.Gaussian {
	t.Helper()
	m := model.NewGaussian(4, model.Natural)
	require.NoError(t, m.SetPrecision(mat.NewSymDense(4, []float64{2, -0.3, 0.2, 0.1, -0.3, 1.5, 0.2, 0.1, 0.2, 0.2, 1, -0.4, 0.1, 0.1, -0.4, 2})))
	m.SetMean([]float64{0.1, -0.2, 0.3, 0})
	return m
}

// On a domain steps on moments equal steps over all rows, for each g, also with zeros for missing
// cells, with counts, and for any number of workers.
func TestStepsByWeightedMoments(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		weight domain.Weight
		share  float64
		sets   int // quadratic moments
	}{
		"one g a coordinate": {"full", domain.Weight{}, 0, 4},
		"one g a row":        {"full", domain.Weight{Scalar: true}, 0, 1},
		"gaps":               {"zeroed", domain.Weight{NoTangent: true}, 0.3, 4},
		"gaps, one g a row":  {"zeroed", domain.Weight{NoTangent: true, Scalar: true}, 0.3, 4},
		"gaps, no bounds":    {"zeroed", domain.Weight{}, 0.3, 4},
	} {
		t.Run(name, func(t *testing.T) {
			table := gappy(1500, c.share)
			if c.share == 0 {
				everywhere(table)
			}
			s, m := inside(table), weightedModel(t)
			if name == "gaps, no bounds" {
				s = domain.All(4)
			}
			var first Step
			for _, workers := range []int{1, 3} {
				in, want, got := beforeAndAfter(t, Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, c.weight), Domain: s, Weight: c.weight}, Config{Method: c.method, Batch: 10, Workers: workers})
				require.Len(t, in.weighted.Quadratic, c.sets)
				require.InEpsilon(t, want.Loss, got.Loss, 1e-11)
				for i, g := range want.Grads {
					require.InDeltaSlice(t, g, got.Grads[i], 1e-11*float64(table.N))
				}
				if workers == 1 {
					first = got
				}
				require.Equal(t, first.Loss, got.Loss)
			}
		})
	}
}

// Engines of another loss have their own entries in a shared cache; with tangential scores, or
// without savings, rows are unchanged.
func TestWeightedMomentsAreOfTheirLoss(t *testing.T) {
	table := gappy(1500, 0)
	everywhere(table)
	s, m := inside(table), weightedModel(t)
	shared := NewCondensed()
	weighted, err := New(Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s, Condensed: shared}, Config{Method: "full"})
	require.NoError(t, err)
	plain, err := New(Problem{Table: table, Model: m, Objective: losses.Classical, Condensed: shared}, Config{Method: "full"})
	require.NoError(t, err)
	rows := table.AllRows()
	weighted.Condense(rows)
	require.Len(t, plain.instead(rows).rows, table.N)
	plain.Condense(rows)
	require.Len(t, plain.instead(rows).rows, 5)
	require.NotNil(t, weighted.instead(rows).weighted)
	require.Nil(t, plain.instead(rows).weighted)
	_, err = weighted.Gradient(0, rows, 1)
	require.NoError(t, err)
	shared.forget(rows)
	require.Len(t, weighted.instead(rows).rows, table.N)
	require.Len(t, plain.instead(rows).rows, table.N)

	gaps := gappy(1500, 0.3)
	s = inside(gaps)
	tangents, err := New(Problem{Table: gaps, Model: m, Objective: losses.ObjectiveFor(s, domain.Weight{}), Domain: s}, Config{Method: "zeroed"})
	require.NoError(t, err)
	tangents.Condense(rows)
	require.Len(t, tangents.instead(rows).rows, gaps.N)

	require.Nil(t, condenseWeighted(weighted.Problem, rows[:7], nil, 1), "fewer than two rows for a column")
	require.NotNil(t, condenseWeighted(weighted.Problem, rows[:8], nil, 1))
}
