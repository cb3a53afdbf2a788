package engine_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph/model"
	"missingscore/internal/slowtest"
	"missingscore/internal/stream"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func threeColumns(t *testing.T) map[string]model.Model {
	t.Helper()
	models := map[string]model.Model{}
	for _, kind := range []string{"gaussian", "quartic", "mixture", "energy"} {
		m, err := model.New(kind, 3, map[string][]byte{"mixture": []byte(`{"components":2}`), "energy": []byte(`{"hidden":[5]}`)}[kind], stream.New(4))
		require.NoError(t, err)
		rng := stream.New(9)
		for _, p := range m.Params() {
			for i := range p.Value {
				p.Value[i] += 0.3 * rng.NormFloat64()
			}
		}
		models[kind] = m
	}
	return models
}

func threeDomains() map[string]*domain.Domain {
	box, half, both := domain.All(3), domain.All(3), domain.All(3)
	box.Lower[0], box.Lower[1], box.Upper[2] = -1, -0.4, 0.9
	half.Half = []domain.HalfSpace{{A: []float64{0.5, 0.7, 0.6}, B: 0.5}}
	both.Lower[1], both.Half = -0.4, half.Half
	return map[string]*domain.Domain{"everywhere": nil, "box": box, "half-space": half, "box and half-space": both}
}

// completeData returns U(θ) of one row by quadrature with n nodes per missing cell.
func completeData(t *testing.T, p engine.Problem, row []float64, observed []bool, n int) []float64 {
	t.Helper()
	mask := make([]float64, 3)
	for j, seen := range observed {
		if seen {
			mask[j] = 1
		}
	}
	x, w := testtables.Nodes(p.Domain, row, mask, 6, n)
	v, err := model.NewEvaluator(p.Model, len(w), false)
	require.NoError(t, err)
	log, _, err := v.At(x)
	require.NoError(t, err)
	for i, each := range log {
		w[i] *= math.Exp(each - floats.Max(log))
	}
	floats.Scale(1/floats.Sum(w), w)
	p.Table = &data.Table{
		Names: []string{"a", "b", "c"}, N: len(w), D: 3, Values: x, Weights: w,
		Observed: slices.Repeat([]bool{true}, len(x)),
	}
	e, err := engine.New(p, engine.Config{Method: "full"})
	require.NoError(t, err)
	s, err := e.Gradient(0, e.Table.AllRows(), 1)
	require.NoError(t, err)
	return slices.Concat(s.Grads...)
}

// The mean of gradients is that of quadrature, with each source of draws.
func TestCompleteDataAgainstQuadrature(t *testing.T) {
	row := []float64{0.4, -0.2, 0.3}
	for where, s := range threeDomains() {
		if (where == "box" || where == "half-space") && !slowtest.Set() {
			continue
		}
		for kind, m := range threeColumns(t) {
			for _, observed := range [][]bool{{true, true, false}, {true, false, false}} {
				p := engine.Problem{Model: m, Domain: s, Objective: losses.ObjectiveFor(s, domain.Weight{})}
				n := map[bool]int{false: 2000, true: 70}[!observed[1]] // weights of cells have kinks
				want, coarse := completeData(t, p, row, observed, n), completeData(t, p, row, observed, n/2)
				methods := []string{"em-full"}
				if s == nil || slowtest.Set() { // chains on domains take most of the time
					methods = append(methods, "em-chains")
				}
				if kind == "gaussian" {
					methods = append(methods, "em-exact-mc")
				}
				for _, method := range methods {
					t.Run(fmt.Sprintf("%s, %s, %v, %s", where, kind, observed, method), func(t *testing.T) {
						mean, se := drawnData(t, p, row, observed, method)
						for i, v := range want { // many elements; t with 29 degrees of freedom
							require.InDelta(t, v, mean[i], 5*se[i]+math.Abs(v-coarse[i])+1e-6, "element %d of %d", i, len(want))
						}
					})
				}
			}
		}
	}
}

// drawnData returns the mean gradient of steps over copies of a row, and its standard error.
func drawnData(t *testing.T, p engine.Problem, row []float64, observed []bool, method string) (mean, se []float64) {
	copies, steps, c := 40, 1, engine.Config{Method: method, Draws: 8, Seed: 2, ProposalSD: 1.5}
	switch method {
	case "em-full": // many draws: the bias of the weights depends on their number
		copies, c.Draws = 4, 3000
	case "em-chains": // steps are correlated along chains; on domains many moves are rejected
		if steps = 15; p.Domain != nil {
			steps = 60
		}
	}
	c.Batch = copies
	p.Table = &data.Table{Names: []string{"a", "b", "c"}, N: copies, D: 3, Values: slices.Repeat(row, copies), Observed: slices.Repeat(observed, copies)}
	e, err := engine.New(p, c)
	require.NoError(t, err)
	iteration := 0
	gradient := func(int) (sum []float64) {
		for range steps {
			s, err := e.Gradient(iteration, e.Table.AllRows(), 1/float64(copies*steps))
			require.NoError(t, err)
			iteration++
			if of := slices.Concat(s.Grads...); sum == nil {
				sum = of
			} else {
				floats.Add(sum, of)
			}
		}
		return sum
	}
	if method == "em-chains" {
		for range 3 {
			gradient(0)
		}
	}
	return testtables.MeanSE(30, gradient)
}
