// Package estimatortest is what every estimator has to pass. A new one's test is one line:
//
//	func TestMine(t *testing.T) { estimatortest.Run(t, "mine") }
package estimatortest

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/simulate"
	"missingscore/internal/data/transform"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
	"missingscore/trainers/source"
)

// Run checks an estimator on R^d, a box and a half-space: ordinary score matching without gaps,
// draws inside the domain, and independence of placeholders, workers and interruptions.
func Run(t *testing.T, name string) {
	e, err := estimator.ByName(name)
	require.NoError(t, err)
	if e.OfMatrix() {
		c := config(e)
		c.Network = &regpath.Config{Lambdas: 8, StopTol: 1e-12, Tolerance: 1e-9}
		schedule(t, e, c, nil)
		return
	}
	t.Run("no gap is ordinary score matching", func(t *testing.T) { noGap(t, e, nil) })
	c := config(e)
	schedule(t, e, c, nil)
	for name, support := range map[string]*domain.Domain{"box": box(), "half-space": half()} {
		m := model.NewGaussian(4, model.Natural)
		if _, err := newSource(t, e, m, support); err != nil || e.Fallback == "" && e.Loss.Check(m, losses.ObjectiveFor(support, domain.Weight{})) != nil {
			continue // it says that it does not know supports
		}
		t.Run(name, func(t *testing.T) {
			inside(t, e, support)
			noGap(t, e, support)
			if name == "box" {
				schedule(t, e, c, support)
			}
		})
	}
}

// schedule: three workers, NaN under missing cells and interruptions do not change a network.
func schedule(t *testing.T, e estimator.Estimator, c trainers.Spec, support *domain.Domain) {
	table, network := sample(t, e, support), *c.Network
	c.Domain, c.Network = support, &network
	if support != nil { // these runs are compared, not used
		network.Tolerance = 0.5
	}
	want, err := trainers.Estimate(t.Context(), table, c, trainers.Run{})
	require.NoError(t, err)
	for i, seen := range table.Observed {
		if !seen {
			table.Values[i] = math.NaN()
		}
	}
	c.Steps.Workers = 3
	file, state := filepath.Join(t.TempDir(), "state"), &trainers.State{}
	for steps := 2; ; steps *= 2 {
		ctx, cancel := context.WithCancel(t.Context())
		left := steps
		c.Steps.Observe = func(engine.Progress) {
			if left--; left == 0 {
				cancel()
			}
		}
		got, err := trainers.Estimate(ctx, table, c, trainers.Run{State: state, Save: func(s *trainers.State) error { return s.Save(file) }})
		cancel()
		if err == nil {
			require.Greater(t, steps, 2, "never cut")
			require.Equal(t, want.Network.Precision, got.Network.Precision)
			require.Equal(t, want.Loss, got.Loss)
			require.Equal(t, want.Verdict, got.Verdict)
			require.Equal(t, fmt.Sprint(want.Network.Points), fmt.Sprint(got.Network.Points)) // NaN included
			return
		}
		require.ErrorIs(t, err, context.Canceled)
		state, err = trainers.LoadState(file)
		require.NoError(t, err)
	}
}

func newSource(t *testing.T, e estimator.Estimator, m *model.Gaussian, support *domain.Domain) (source.Source, error) {
	table := sample(t, e, support)
	s := source.Setting{Model: m, Table: table, Imputer: nets.NewNormalImputer(4, nets.NormalOptions{}, stream.New(1)), Batch: table.N, Draws: 4, ProposalSD: 1, Domain: support}
	if e.Source.Memory != nil {
		var err error
		s.Memory, err = e.Source.Memory(s)
		require.NoError(t, err)
	}
	return e.Source.New(s)
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
		Steps:   engine.Config{Method: e.Name, Seed: 3, Batch: 16},
		Network: &regpath.Config{Schedule: regpath.Fixed, InitialIter: 20, IterPerLambda: 2, Lambdas: 8},
	}
	if e.Draws() {
		s.Steps.Draws = 4
	}
	if e.Trains() {
		s.Steps.ImputerSteps, s.Steps.Imputer.Options = 2, []byte(`{"hidden":20}`)
	}
	if e.NeedsOrdinal() {
		s.Transform = transform.Spec{Others: transform.OrdinalKind}
	}
	return s
}

// noGap compares with Σ_j g_j(−2P_jj + s_j²) + 2∂_jg_j s_j and its gradient, s = −P(x − μ), or s =
// η − Px on a support.
func noGap(t *testing.T, e estimator.Estimator, support *domain.Domain) {
	rng := stream.New(7, 7)
	g, err := simulate.Star(4, rng)
	require.NoError(t, err)
	table, err := g.SampleInside(support, 37, rng) // not a multiple of the batch
	require.NoError(t, err)
	kind, mean, eta := model.FreeSymmetric, []float64{0.1, -0.2, 0.3, 0}, make([]float64, 4)
	location := mean
	if support != nil {
		kind, mean, eta = model.Natural, eta, mean
	}
	m := model.NewGaussian(4, kind)
	p := mat.NewSymDense(4, []float64{1.5, 0.2, 0, -0.3, 0.2, 1, 0.1, 0, 0, 0.1, 0.8, 0.2, -0.3, 0, 0.2, 1.2})
	require.NoError(t, m.SetPrecision(p))
	copy(m.Location.Value, location)
	loss, grads, err := engine.Gradient(engine.Problem{Table: table, Model: m, Objective: losses.ObjectiveFor(support, domain.Weight{}), Domain: support}, config(e).Steps, 0)
	require.NoError(t, err)

	want, gradP, gradMean, gradEta := 0.0, mat.NewDense(4, 4, nil), make([]float64, 4), make([]float64, 4)
	for i := range table.N {
		x, weight, slope := table.Values[i*4:i*4+4], []float64{1, 1, 1, 1}, make([]float64, 4)
		if support != nil {
			domain.Weight{}.At(support, x, []float64{1, 1, 1, 1}, weight, slope, &domain.Tangent{})
		}
		for j := range 4 {
			s := eta[j]
			for k := range 4 {
				s -= p.At(j, k) * (x[k] - mean[k])
			}
			want += weight[j]*(-2*p.At(j, j)+s*s) + 2*slope[j]*s
			force := 2*weight[j]*s + 2*slope[j] // derivative by s_j
			gradEta[j] += force
			gradP.Set(j, j, gradP.At(j, j)-2*weight[j])
			for k := range 4 {
				gradP.Set(j, k, gradP.At(j, k)-force*(x[k]-mean[k]))
				gradMean[k] += force * p.At(j, k)
			}
		}
	}
	gradLocation := gradMean
	if support != nil {
		gradLocation = gradEta
	}
	n := float64(table.N)
	require.InDelta(t, want/n, loss, 1e-10)
	for j := range 4 {
		require.InDelta(t, gradLocation[j]/n, grads[0][j], 1e-10)
		for k := j; k < 4; k++ {
			w := gradP.At(j, k)
			if k > j {
				w += gradP.At(k, j)
			}
			require.InDelta(t, w/n, grads[1][graph.PackedIndex(4, j, k)], 1e-10, "P[%d,%d]", j, k)
		}
	}
}

// Draws lie inside the support; observed cells stay.
func inside(t *testing.T, e estimator.Estimator, support *domain.Domain) {
	table := sample(t, e, support)
	const r = 4
	if !e.Draws() {
		return
	}
	b := data.NewBatch(table.N, table.D)
	b.Fill(table, table.AllRows(), 1)
	from, err := newSource(t, e, model.NewGaussian(4, model.Natural), support)
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
