package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/losses"
)

// Steps over condensed rows equal steps over all rows.
func TestStepsOverCondensedRows(t *testing.T) {
	for method, kind := range map[string]model.Parameterisation{
		"exact": model.FreeSymmetric, "em-exact": model.Natural, "full": model.Natural,
	} {
		_, table := testtables.Normal(t, 1500, 5)
		copy(table.Observed, []bool{false, false, true, false})
		for i := 4; i < len(table.Observed); i += 4 { // the pattern of the first row is of one row
			table.Observed[i+1] = table.Observed[i+1] || !table.Observed[i]
		}
		if method == "full" {
			table.Observed = slices.Repeat([]bool{true}, len(table.Observed))
		}
		m := model.NewGaussian(4, kind)
		require.NoError(t, m.SetPrecision(mat.NewSymDense(4, []float64{2, -0.3, 0, 0.1, -0.3, 1.5, 0.2, 0, 0, 0.2, 1, -0.4, 0.1, 0, -0.4, 2})))
		m.SetMean([]float64{0.1, -0.2, 0.3, 0})
		var first Step
		for _, workers := range []int{1, 3} {
			_, want, got := beforeAndAfter(t, Problem{Table: table, Model: m, Objective: losses.Classical}, Config{Method: method, Batch: 10, Workers: workers})
			require.InEpsilon(t, want.Loss, got.Loss, 1e-11, method)
			for i, g := range want.Grads {
				require.InDeltaSlice(t, g, got.Grads[i], 1e-9*float64(table.N), method)
			}
			if method == "em-exact" {
				require.InDeltaSlice(t, want.Moments, got.Moments, 1e-9*float64(table.N))
				require.InEpsilon(t, want.LogLikelihood, got.LogLikelihood, 1e-11)
			}
			if workers == 1 {
				first = got
			}
			require.Equal(t, first.Loss, got.Loss)
			require.Equal(t, first.Moments, got.Moments)
		}
	}
}

func beforeAndAfter(t *testing.T, p Problem, c Config) (in condensed, want, got Step) {
	t.Helper()
	e, err := New(p, c)
	require.NoError(t, err)
	e.Counts = nil
	for i := range p.Table.N {
		e.Counts = append(e.Counts, float64(1+i%2))
	}
	rows := e.Table.AllRows()
	step := func() Step {
		s, err := e.Gradient(0, rows, 0.5)
		require.NoError(t, err)
		grads := s.Grads
		s.Grads = nil
		for _, g := range grads {
			s.Grads = append(s.Grads, slices.Clone(g))
		}
		if g, ok := p.Model.(*model.Gaussian); ok && c.Method == "em-exact" {
			of, err := e.Moments(rows, g.Location.Value, mat.DenseCopyOf(g.Precision()).RawMatrix().Data, nil)
			require.NoError(t, err)
			s.Moments, s.LogLikelihood = slices.Clone(of.Moments), of.LogLikelihood
		}
		return s
	}
	want = step()
	e.Condense(rows)
	in = e.instead(rows)
	require.Less(t, len(in.rows), 100)
	require.Len(t, e.instead(rows[1:]).rows, p.Table.N-1, "other rows are taken as they are")
	return in, want, step()
}

func TestWhatIsNotCondensed(t *testing.T) {
	m, sliced := model.NewGaussian(4, model.FreeSymmetric), losses.Sliced{}
	sliced, err := sliced.WithDefaults()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		method    string
		objective losses.Objective
		n         int
	}{
		"draws":  {"iw", losses.Classical, 1500},
		"few":    {"exact", losses.Classical, 999},
		"sliced": {"em-full", sliced, 1500},
	} {
		_, table := testtables.Normal(t, c.n, 5)
		e, err := New(Problem{Table: table, Model: m, Objective: c.objective}, Config{Method: c.method})
		require.NoError(t, err)
		rows := e.Table.AllRows()
		e.Condense(rows)
		require.Len(t, e.instead(rows).rows, c.n, name)
	}
	_, singular := testtables.Normal(t, 1500, 5)
	singular.Observed = slices.Repeat([]bool{true}, len(singular.Observed))
	for i := 0; i < len(singular.Values); i += 4 {
		singular.Values[i+1] = 0
	}
	made := condense(singular, singular.AllRows(), nil)
	require.Len(t, made.rows, 4, "columns of rank 3")
	require.False(t, math.IsNaN(made.table.Values[0]))
}
