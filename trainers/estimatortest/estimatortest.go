// Package estimatortest is what every estimator has to pass. A new one's test is one line:
//
//	func TestMine(t *testing.T) { estimatortest.Run(t, "mine") }
package estimatortest

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/data/transform"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/estimator"
	"missingscore/trainers/regpath"
	"missingscore/trainers/source"
)

// Run checks the estimator of that name: without a gap it is ordinary score
// matching, the number under a missing cell has no influence, neither have the
// order of rows and columns where nothing is random, results do not depend on
// the number of workers, and a run that is cut and taken up gives the same bytes;
// the last three also on a box and a half-space, where without a gap it is
// ordinary truncated score matching. All of it by the fixed schedule, and by the
// accelerated one where that can be. An estimator of one matrix has a schedule of its own,
// and no loss of rows.
func Run(t *testing.T, name string) {
	e, err := estimator.ByName(name)
	require.NoError(t, err)
	if e.OfMatrix() {
		c := config(e)
		c.Network = &regpath.Config{Lambdas: 8, StopTol: 1e-12, Tolerance: 1e-9}
		schedule(t, e, c, nil)
		return
	}
	t.Run("no gap is ordinary score matching", func(t *testing.T) { noGap(t, e) })
	supports := map[string]*domain.Domain{"box": box(), "half-space": half()}
	for name, support := range supports {
		_, err := e.Source.New(source.Setting{Model: model.NewGaussian(4, model.Natural), Table: sample(t, e, support), Imputer: nets.NewNormalImputer(4, nets.NormalOptions{}, stream.New(1)), Batch: 16, Draws: 4, ProposalSD: 1, Domain: support})
		if err != nil || e.Fallback == "" && e.Loss.Check(model.NewGaussian(4, model.Natural), losses.ObjectiveFor(support, domain.Weight{})) != nil { // it says that it does not know supports
			delete(supports, name)
			continue
		}
		t.Run(name+" draws inside", func(t *testing.T) { inside(t, e, support) })
		t.Run(name, func(t *testing.T) { truncatedNoGap(t, e, support) })
	}
	t.Run("fixed", func(t *testing.T) { schedule(t, e, config(e), supports) })
	if e.Deterministic() && e.Minimises() {
		t.Run("accelerated", func(t *testing.T) {
			c := config(e)
			c.Network.Schedule, c.Network.InitialIter, c.Network.IterPerLambda = regpath.Accelerated, 0, 0
			if e.Fallback != "" { // another estimator's there
				supports = nil
			}
			schedule(t, e, c, supports)
		})
	}
}

// schedule makes a run without a support and one on each, and compares others with it.
func schedule(t *testing.T, e estimator.Estimator, c trainers.Spec, supports map[string]*domain.Domain) {
	table := sample(t, e, nil)
	want := estimate(t, table, on(c, nil))
	t.Run("nothing under a missing cell counts", func(t *testing.T) { underTheMask(t, table, on(c, nil), want) })
	if !e.Draws() {
		t.Run("order does not count", func(t *testing.T) { order(t, table, on(c, nil), want) })
	}
	t.Run("workers do not count", func(t *testing.T) { workers(t, table, on(c, nil), want) })
	t.Run("cut and resumed is never cut", func(t *testing.T) { resumed(t, e, table, on(c, nil), want) })
	for name, support := range supports {
		t.Run(name, func(t *testing.T) {
			table, c := sample(t, e, support), on(c, support)
			want := estimate(t, table, c)
			underTheMask(t, table, c, want)
			workers(t, table, c, want)
			resumed(t, e, table, c, want)
		})
	}
}

// tolerance is loose on a domain: these runs are compared, not used.
func tolerance(support *domain.Domain) float64 {
	if support == nil {
		return 0
	}
	return 0.5
}

func box() *domain.Domain {
	s := domain.All(4)
	s.Lower[0], s.Upper[2] = -1.2, 1
	return s
}

func half() *domain.Domain {
	s := domain.All(4)
	s.Half = []domain.HalfSpace{{A: []float64{1, 0.5, 0, -0.5}, B: 1}}
	return s
}

// sample is a small table, incomplete unless the estimator is for complete ones, of ordered
// categories if it is for these.
func sample(t *testing.T, e estimator.Estimator, support *domain.Domain) *data.Table {
	t.Helper()
	rng := stream.New(5, 5)
	g, err := simulate.Star(4, rng)
	require.NoError(t, err)
	table, err := g.SampleInside(support, 60, rng)
	require.NoError(t, err)
	if e.NeedsOrdinal() {
		for i, x := range table.Values { // four categories
			table.Values[i] = max(1, min(4, math.Round(x+2.5)))
		}
	}
	if e.NeedsCompleteRows() {
		return table
	}
	table, err = data.HideMCAR(table, 0.4, stream.New(5, stream.Hide))
	require.NoError(t, err)
	return table
}

func config(e estimator.Estimator) trainers.Spec {
	s := trainers.Spec{
		Steps:   engine.Config{Method: e.Name, Seed: 3, Batch: 16, Draws: 4, ImputerSteps: 2, Imputer: engine.ImputerSpec{Options: []byte(`{"hidden":20}`)}},
		Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 20, IterPerLambda: 2, Lambdas: 8},
	}
	if e.NeedsOrdinal() {
		s.Transform = transform.Spec{Others: transform.OrdinalKind}
	}
	return s
}

// on is c on a support, with the tolerance for it.
func on(c trainers.Spec, support *domain.Domain) trainers.Spec {
	n := *c.Network
	c.Domain, c.Network = support, &n
	n.Tolerance = tolerance(support)
	return c
}

func estimate(t *testing.T, table *data.Table, c trainers.Spec) *trainers.Result {
	t.Helper()
	r, err := trainers.Estimate(context.Background(), table, c, trainers.Run{})
	require.NoError(t, err)
	return r
}

// noGap compares with −2 tr P + ‖P(x−μ)‖² and its gradient, written out with gonum/mat.
func noGap(t *testing.T, e estimator.Estimator) {
	rng := stream.New(6, 6)
	g, err := simulate.Star(4, rng)
	require.NoError(t, err)
	table, err := g.Sample(37, rng) // not a multiple of the batch
	require.NoError(t, err)
	m := model.NewGaussian(4, model.FreeSymmetric)
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	require.NoError(t, m.SetPrecision(p))
	m.SetMean([]float64{0.1, -0.2, 0.3, 0})
	loss, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.Classical{}}, config(e).Steps, 0)
	require.NoError(t, err)

	want, gradP, gradMu := -2*mat.Trace(p), mat.NewDense(4, 4, nil), mat.NewVecDense(4, nil)
	for j := range 4 {
		gradP.Set(j, j, -2)
	}
	for i := range table.N {
		r := mat.NewVecDense(4, nil)
		r.SubVec(mat.NewVecDense(4, table.Values[i*4:i*4+4]), mat.NewVecDense(4, m.Mean()))
		var y, py mat.VecDense
		y.MulVec(p, r)
		py.MulVec(p, &y)
		want += mat.Dot(&y, &y) / float64(table.N)
		gradP.RankOne(gradP, 2/float64(table.N), &y, r)
		gradMu.AddScaledVec(gradMu, -2/float64(table.N), &py)
	}
	require.InDelta(t, want, loss, 1e-10)
	require.InDeltaSlice(t, gradMu.RawVector().Data, grads[0], 1e-10)
	for j := range 4 {
		for k := j; k < 4; k++ {
			w := gradP.At(j, k)
			if k > j {
				w += gradP.At(k, j)
			}
			require.InDelta(t, w, grads[1][graph.PackedIndex(4, j, k)], 1e-10, "P[%d,%d]", j, k)
		}
	}
}

// truncatedNoGap compares with Σ_j g_j(−2P_jj + s_j²) + 2∂_jg_j s_j and its gradient by
// P_jk, written out for s = η − Px.
func truncatedNoGap(t *testing.T, e estimator.Estimator, support *domain.Domain) {
	rng := stream.New(7, 7)
	g, err := simulate.Star(4, rng)
	require.NoError(t, err)
	table, err := g.SampleInside(support, 37, rng)
	require.NoError(t, err)
	m := model.NewGaussian(4, model.Natural)
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	require.NoError(t, m.SetPrecision(p))
	eta := []float64{0.1, -0.2, 0.3, 0}
	copy(m.Location.Value, eta)
	loss, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(support, domain.Weight{}), Domain: support}, config(e).Steps, 0)
	require.NoError(t, err)

	want, gradP, gradEta := 0.0, mat.NewDense(4, 4, nil), make([]float64, 4)
	weight, slope := make([]float64, 4), make([]float64, 4)
	for i := range table.N {
		x := table.Values[i*4 : i*4+4]
		domain.Weight{}.At(support, x, []float64{1, 1, 1, 1}, weight, slope, &domain.Tangent{})
		for j := range 4 {
			s := eta[j]
			for k := range 4 {
				s -= p.At(j, k) * x[k]
			}
			want += weight[j]*(-2*p.At(j, j)+s*s) + 2*slope[j]*s
			force := 2*weight[j]*s + 2*slope[j] // derivative by s_j
			gradEta[j] += force
			gradP.Set(j, j, gradP.At(j, j)-2*weight[j])
			for k := range 4 {
				gradP.Set(j, k, gradP.At(j, k)-force*x[k])
			}
		}
	}
	n := float64(table.N)
	require.InDelta(t, want/n, loss, 1e-10)
	for j := range 4 {
		require.InDelta(t, gradEta[j]/n, grads[0][j], 1e-10)
		for k := j; k < 4; k++ {
			w := gradP.At(j, k)
			if k > j {
				w += gradP.At(k, j)
			}
			require.InDelta(t, w/n, grads[1][graph.PackedIndex(4, j, k)], 1e-10, "P[%d,%d]", j, k)
		}
	}
}

// inside looks at the draws: rows are completed inside the support, observed cells as
// they are.
func inside(t *testing.T, e estimator.Estimator, support *domain.Domain) {
	table := sample(t, e, support)
	const r = 4
	if !e.Draws() {
		t.Skip("does not draw")
	}
	b := data.NewBatch(table.N, table.D)
	rows := make([]int, table.N)
	for i := range rows {
		rows[i] = i
	}
	b.Fill(table, rows, 1)
	from, err := e.Source.New(source.Setting{Model: model.NewGaussian(4, model.Natural), Table: sample(t, e, support), Imputer: nets.NewNormalImputer(4, nets.NormalOptions{}, stream.New(1)), Batch: table.N, Draws: r, ProposalSD: 1, Domain: support})
	require.NoError(t, err)
	x, log := make([]float64, table.N*r*4), make([]float64, table.N*r)
	require.NoError(t, from.Complete(b, x, log, new(stream.Stream).At(2)))
	for i := range table.N * r {
		row := x[i*4 : i*4+4]
		require.True(t, support.Contains(row), "row %d: %v", i/r, row)
		for j := range row {
			if table.Observed[i/r*4+j] {
				require.Equal(t, table.Values[i/r*4+j], row[j])
			}
		}
	}
}

func underTheMask(t *testing.T, table *data.Table, c trainers.Spec, want *trainers.Result) {
	poisoned := *table
	poisoned.Values = append([]float64(nil), table.Values...)
	for i, seen := range table.Observed {
		if !seen {
			poisoned.Values[i] = math.NaN()
		}
	}
	got := estimate(t, &poisoned, c)
	require.Equal(t, want.Network.Precision, got.Network.Precision)
	require.Equal(t, want.Loss, got.Loss)
}

func order(t *testing.T, table *data.Table, c trainers.Spec, want *trainers.Result) {
	n, d := table.N, table.D
	perm := []int{2, 0, 3, 1}
	mixed := &data.Table{N: n, D: d, Values: make([]float64, n*d), Observed: make([]bool, n*d)}
	for _, k := range perm {
		mixed.Names = append(mixed.Names, table.Names[k])
	}
	for i := range n {
		from := (i*7 + 3) % n
		for j, k := range perm {
			mixed.Values[i*d+j], mixed.Observed[i*d+j] = table.Values[from*d+k], table.Observed[from*d+k]
		}
	}
	got := estimate(t, mixed, c)
	for a, j := range perm {
		for b, k := range perm {
			require.InDelta(t, want.Network.Precision.At(j, k), got.Network.Precision.At(a, b), 1e-9, "P[%d,%d]", j, k)
		}
	}
}

func workers(t *testing.T, table *data.Table, c trainers.Spec, want *trainers.Result) {
	c.Steps.Workers = 3
	got := estimate(t, table, c)
	requireSamePoints(t, want.Network.Points, got.Network.Points)
	require.Equal(t, want.Network.Precision, got.Network.Precision)
}

// resumed cuts at several iterations, through a file as the command line does.
func resumed(t *testing.T, e estimator.Estimator, table *data.Table, c trainers.Spec, want *trainers.Result) {
	file := filepath.Join(t.TempDir(), "state")
	state := &trainers.State{}
	cut := 0
	for {
		ctx, cancel := context.WithCancel(context.Background())
		c := c
		left := 13 // parameter steps till the next cut: inside blocks, path and refinement
		if c.Network.Schedule == regpath.Accelerated {
			left = 5 // it needs fewer
		} else if e.OfMatrix() {
			left = 2 // one report a λ
		} else if c.Domain.Bounded() && cut == 0 {
			left = 4 // inside the first block; what comes after the path is a refit, made in one go
		}
		c.Steps.Observe = func(engine.Progress) {
			if left--; left == 0 {
				cancel()
			}
		}
		got, err := trainers.Estimate(ctx, table, c, trainers.Run{State: state, Save: func(s *trainers.State) error { return s.Save(file) }})
		cancel()
		if err == nil {
			require.Greater(t, cut, 3)
			require.Equal(t, want.Network.Precision, got.Network.Precision)
			require.Equal(t, want.Loss, got.Loss)
			require.Equal(t, want.Verdict, got.Verdict)
			requireSamePoints(t, want.Network.Points, got.Network.Points)
			return
		}
		require.True(t, errors.Is(err, context.Canceled), "%v", err)
		cut++
		state, err = trainers.LoadState(file)
		require.NoError(t, err)
	}
}

// requireSamePoints is require.Equal that takes NaN for NaN.
func requireSamePoints(t *testing.T, want, got []regpath.Point) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, w := range want {
		g := got[i]
		require.Equal(t, math.IsNaN(w.EffectiveSize), math.IsNaN(g.EffectiveSize))
		if math.IsNaN(w.EffectiveSize) {
			w.EffectiveSize, g.EffectiveSize = 0, 0
		}
		require.Equal(t, w, g)
	}
}
