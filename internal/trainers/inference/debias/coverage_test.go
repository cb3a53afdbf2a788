package debias

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/gaussian/em"
	"missingscore/internal/trainers/inference"
	"missingscore/losses"
)

// refitted is maximum likelihood with the edges of another network.
func refitted(t *testing.T, table *data.Table, truth *mat.SymDense) *model.Gaussian {
	t.Helper()
	d := table.D
	m := model.NewGaussian(d, model.Natural)
	e, err := engine.New(engine.Problem{Table: table, Model: m, Objective: losses.Classical}, engine.Config{Method: "em-exact", Batch: 250, Workers: 1})
	require.NoError(t, err)
	start := make([]float64, d*(d+1)/2)
	for j := range d {
		for k := j; k < d; k++ {
			if truth.At(j, k) != 0 {
				start[graph.PackedIndex(d, j, k)] = 0.01
			}
		}
	}
	support, turns := em.NewSupport(start, d), em.Turns{Engine: e, Model: m, Rows: e.Table.AllRows()}
	var s em.State
	for s.Count == 0 || s.Relative > 1e-3 {
		require.NoError(t, turns.Turn(t.Context(), &s, support.Minimise))
		require.Less(t, s.Count, 500)
	}
	turns.Settle(&s)
	return m
}

// hide hides cells of a table: by 0.3, or at random, by 0.4 in the mean, columns 2 and 4
// where the first one and the third are large.
func hide(t *data.Table, atRandom bool, seed uint64) {
	rng := stream.New(seed, stream.Hide)
	for i := range t.N {
		row, seen := t.Values[i*t.D:(i+1)*t.D], t.Observed[i*t.D:(i+1)*t.D]
		for j := range row {
			p := 0.3
			if atRandom {
				if p = 0; j%2 == 1 {
					p = 1 / (1 + math.Exp(0.4-2*row[j-1]))
				}
			}
			seen[j] = rng.Float64() >= p
		}
	}
}

// 95 % intervals cover 95 % for edges and absent edges: within four standard errors between tables
// and 0.015 for the bias of one step (1000 tables each: 0.952 and 0.956 by the model, 0.954 and
// 0.964 robust for the marginal loss). Variances off by a factor 2 would give 0.83 or 0.994.
func TestCoverage(t *testing.T) {
	slowtest.Skip(t, "3 s")
	const tables, d, n = 300, 5, 300
	chain := mat.NewSymDense(d, nil)
	for j := range d {
		chain.SetSym(j, j, 1)
		if j > 0 {
			chain.SetSym(j-1, j, 0.4)
		}
	}
	g := simulate.Gaussian{Mean: make([]float64, d), Precision: chain}
	truth := partials(chain)
	for _, c := range []struct {
		name     string
		atRandom bool
		p        Problem
	}{
		{"likelihood, by the model", false, Problem{}},
		{"marginal, by the rows", false, Problem{Equation: Marginal, Robust: true}},
		{"at random", true, Problem{Robust: true, Own: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var edges, others []float64
			for seed := range uint64(tables) {
				table, err := g.Sample(n, stream.New(seed, stream.Simulate))
				require.NoError(t, err)
				hide(table, c.atRandom, seed)
				c.p.Table, _ = data.Standardise(table)
				start := refitted(t, c.p.Table, chain)
				c.p.Mean, c.p.Precision = start.Mean(), start.Precision()
				e, err := Step(c.p)
				require.NoError(t, err)
				var covered, pairs [2]float64
				for i, rho := range truth {
					at := 0
					if rho != 0 {
						at = 1
					}
					pairs[at]++
					if u := inference.Normal(e.Partial[i], e.SE[i], 0.95, n); u.Low <= rho && rho <= u.High {
						covered[at]++
					}
				}
				edges, others = append(edges, covered[1]/pairs[1]), append(others, covered[0]/pairs[0])
			}
			for _, shares := range [][]float64{edges, others} {
				mean, sd := stat.MeanStdDev(shares, nil)
				se := sd / math.Sqrt(tables)
				require.Less(t, se, 0.0075)
				require.InDelta(t, 0.95, mean, 4*se+0.015)
			}
		})
	}
}
