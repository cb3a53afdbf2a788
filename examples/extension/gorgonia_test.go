package extension_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"example.com/extension"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

// A method's loss in a graph of Gorgonia's own: its machine computes the loss and its gradient,
// and its solver trains the model in place.
func Example_gorgonia() {
	table, err := data.NewTable([]string{"a", "b"}, []float64{0.3, 1, -1, 0.5, 2, 0, 0, -0.7}, []bool{true, true, true, true, true, false, false, true})
	if err != nil {
		log.Fatal(err)
	}
	m := extension.NewTwoLayers(table.D, 3, rand.New(rand.NewPCG(1, 1)))

	// Placeholders for the rows, two draws of each, and for the mask of observed cells.
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2*table.N, table.D), gorgonia.WithName("x"))
	mask := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(table.N, table.D), gorgonia.WithName("mask"))
	loss, err := losses.Extend(x, mask, losses.Marginal, losses.SelfNormalised, m, losses.Classical)
	if err != nil {
		log.Fatal(err)
	}
	var trained gorgonia.Nodes
	for _, p := range m.Params() {
		trained = append(trained, loss.Params[p])
	}
	if _, err := gorgonia.Grad(loss.Surrogate, trained...); err != nil {
		log.Fatal(err)
	}
	machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(trained...))
	defer machine.Close()
	solver := gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.05))

	// Rows 3 and 4 have a gap each, filled by two draws of N(0, 1).
	rows := []float64{0.3, 1, 0.3, 1, -1, 0.5, -1, 0.5, 2, -0.2, 2, 0.9, 0.1, -0.7, -1.2, -0.7}
	batch := data.NewBatch(table.N, table.D)
	batch.Fill(table, []int{0, 1, 2, 3}, 1.0/float64(table.N))
	for i, v := range []float64{-0.2, 0.9, 0.1, -1.2} {
		loss.Input(losses.InputLogProposal)[4+i] = distuv.UnitNormal.LogProb(v)
	}
	for range 3 {
		machine.Reset()
		if err := errors.Join(
			gorgonia.Let(x, tensor.New(tensor.WithShape(2*table.N, table.D), tensor.WithBacking(rows))),
			gorgonia.Let(mask, tensor.New(tensor.WithShape(table.N, table.D), tensor.WithBacking(batch.Mask))),
		); err != nil {
			log.Fatal(err)
		}
		loss.Bind(batch, nil)
		if err := machine.RunAll(); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f ", loss.Reported.Value().Data())
		if err := solver.Step(gorgonia.NodesToValueGrads(trained)); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// -1.28 -1.32 -1.35
}

// To the last digit; a step of Gorgonia's Adam but for rounding.
func TestMethodsInGorgoniasGraph(t *testing.T) {
	const n, d = 5, 3
	values, observed := make([]float64, n*d), make([]bool, n*d)
	for i := range values {
		values[i], observed[i] = 1+math.Abs(math.Sin(float64(3*i))), i%4 != 1
	}
	table, err := data.NewTable([]string{"a", "b", "c"}, values, observed)
	require.NoError(t, err)
	half := domain.All(d)
	half.Lower[0] = 0
	half.Half = []domain.HalfSpace{{A: []float64{1, 1, 1}, B: 20}}
	tried := 0
	for _, e := range estimator.All {
		if e.OfMatrix() || e.NeedsCompleteRows() {
			continue // of a table, not of rows; and Complete on a complete table
		}
		for _, c := range []struct {
			kind, options string
			domain        *domain.Domain
		}{{kind: "classical"}, {kind: "sliced"}, {kind: "denoising", options: `{"noise": {"kind": "fixed"}}`}, {kind: "truncated", domain: half}, {kind: "sliced", domain: half}} {
			o, err := losses.NewObjective(c.kind, losses.ObjectiveSetting{Dim: d, Domain: c.domain, Options: []byte(c.options)})
			require.NoError(t, err)
			m := extension.NewTwoLayers(d, 3, rand.New(rand.NewPCG(1, 1)))
			r := 3
			if e.NeedsNormal() {
				m = model.NewGaussian(d, model.CholeskyFactor)
			}
			if !e.Draws() {
				r = 1
			}
			if e.Check(m, o, c.domain) != nil {
				continue
			}
			tried++
			batch := data.NewBatch(n, d)
			batch.Fill(table, []int{0, 1, 2, 3, 4}, 0.2)
			if noising, ok := o.(losses.Noising); ok {
				noising.AddNoise(batch, rand.New(rand.NewPCG(2, 2)))
			}
			rows, proposal := make([]float64, n*r*d), make([]float64, n*r)
			for i := range rows {
				from := i/(r*d)*d + i%d
				if rows[i] = batch.X[from]; batch.Mask[from] == 0 && e.Draws() {
					rows[i] = 1 + math.Cos(float64(i))
				}
			}
			for i := range proposal {
				proposal[i] = -math.Sin(float64(i))
			}

			p, err := losses.New(graph.Float64, e.Loss, e.Weighting, m, o, n, r)
			require.NoError(t, err)
			copy(p.Input(losses.InputX), rows)
			copy(p.Input(losses.InputLogProposal), proposal)
			losses.Bind(p, e.Loss, o, batch, rand.New(rand.NewPCG(3, 3)))
			require.NoError(t, p.Run())

			g := gorgonia.NewGraph()
			x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(n*r, d), gorgonia.WithName("x"), gorgonia.WithValue(tensor.New(tensor.WithShape(n*r, d), tensor.WithBacking(rows))))
			mask := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(n, d), gorgonia.WithName("mask"), gorgonia.WithValue(tensor.New(tensor.WithShape(n, d), tensor.WithBacking(batch.Mask))))
			loss, err := losses.Extend(x, mask, e.Loss, e.Weighting, m, o)
			require.NoError(t, err)
			copy(loss.Input(losses.InputLogProposal), proposal)
			loss.Bind(batch, rand.New(rand.NewPCG(3, 3)))
			var trained gorgonia.Nodes
			for _, q := range m.Params() {
				trained = append(trained, loss.Params[q])
			}
			_, err = gorgonia.Grad(loss.Surrogate, trained...)
			require.NoError(t, err)
			machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(trained...))
			require.NoError(t, machine.RunAll())
			require.Equal(t, p.Output(losses.OutputReported)[0], loss.Reported.Value().Data(), "%s %s", e.Name, c.kind)
			var want [][]float64
			for i, q := range m.Params() {
				grad, err := trained[i].Grad()
				require.NoError(t, err)
				require.Equal(t, p.Grad(q), grad.Data(), "%s %s %s", e.Name, c.kind, q.Name)
				copied := &graph.Param{Name: q.Name, Rows: q.Rows, Cols: q.Cols, Value: slices.Clone(q.Value)}
				adam := trainers.Adam{Rate: 0.05}
				adam.Step([]*graph.Param{copied}, [][]float64{p.Grad(q)})
				want = append(want, copied.Value)
			}
			require.NoError(t, gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.05)).Step(gorgonia.NodesToValueGrads(trained)))
			for i, q := range m.Params() {
				require.InDeltaSlice(t, want[i], q.Value, 1e-14)
			}
			require.NoError(t, machine.Close())
		}
	}
	require.Greater(t, tried, 40)

	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(4, 2), gorgonia.WithName("x"))
	m := extension.NewTwoLayers(2, 3, rand.New(rand.NewPCG(1, 1)))
	_, err = losses.Extend(x, x, losses.Marginal, losses.LeaveOneOut, m, losses.Classical)
	require.ErrorContains(t, err, "at least 3 draws")
	mask := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(3, 2), gorgonia.WithName("mask"))
	_, err = losses.Extend(x, mask, losses.Marginal, losses.Uniform, m, losses.Classical)
	require.ErrorContains(t, err, "(b·r, d)")
	_, err = graph.Extend(gorgonia.NewGraph(), func(b *graph.Builder) { b.Failf("no") })
	require.ErrorContains(t, err, "no")
}
