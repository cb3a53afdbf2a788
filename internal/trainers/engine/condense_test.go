package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
)

func gappy(n int, share float64) *data.Table {
	const d = 4
	rng := stream.New(5, 1)
	t := &data.Table{Names: []string{"a", "b", "c", "d"}, N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			t.Values[i*d+j] = 0.3*float64(j) + common + rng.NormFloat64()
			t.Observed[i*d+j] = rng.Float64() >= share
		}
		if i > 0 && !t.Observed[i*d] { // the first row has only c
			t.Observed[i*d+1] = true
		}
	}
	copy(t.Observed, []bool{false, false, true, false})
	return t
}

// Steps over condensed rows equal steps over all rows.
func TestStepsOverCondensedRows(t *testing.T) {
	for method, share := range map[string]float64{"exact": 0.2, "em-exact": 0.2, "full": 0} {
		table := gappy(1500, share)
		if share == 0 {
			table.Observed = slices.Repeat([]bool{true}, len(table.Observed))
		}
		m := model.NewGaussian(4, map[string]model.Parameterisation{"exact": model.FreeSymmetric, "em-exact": model.Natural, "full": model.Natural}[method])
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
		e, err := New(Problem{Table: gappy(c.n, 0.2), Model: m, Objective: c.objective}, Config{Method: c.method})
		require.NoError(t, err)
		rows := e.Table.AllRows()
		e.Condense(rows)
		require.Len(t, e.instead(rows).rows, c.n, name)
	}
	singular := gappy(1500, 0)
	for i := range singular.N {
		singular.Observed[i*4+1], singular.Observed[i*4+2], singular.Observed[i*4+3] = true, true, true
		singular.Observed[i*4] = true
		singular.Values[i*4+1] = singular.Values[i*4]
	}
	made := condense(singular, singular.AllRows(), nil)
	require.Len(t, made.rows, 4, "columns of rank 3")
	require.False(t, math.IsNaN(made.table.Values[0]))
}
