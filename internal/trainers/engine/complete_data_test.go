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

// completeData returns U(θ) of one row by the midpoint rule with n steps per missing cell.
func completeData(t *testing.T, p engine.Problem, row []float64, observed []bool, n int) []float64 {
	t.Helper()
	const edge = 6.
	type node struct {
		x []float64
		w float64
	}
	nodes := []node{{slices.Clone(row), 1}}
	mask := []float64{1, 1, 1}
	for j, seen := range observed {
		if seen {
			continue
		}
		mask[j] = 0
		var next []node
		for _, from := range nodes {
			low, high := -edge, edge
			if p.Domain != nil {
				// A half-space bounds the last cell that it involves.
				var s domain.Section
				later := slices.Clone(mask)
				for k := range j {
					later[k] = 1
				}
				p.Domain.Section(&s, from.x, later)
				low, high = max(low, s.Lower[j]), min(high, s.Upper[j])
				if last := j == 2 || !slices.Contains(observed[j+1:], false); last {
					a, b := s.Interval(from.x, j)
					low, high = max(low, a), min(high, b)
				}
			}
			if low >= high {
				continue
			}
			h := (high - low) / float64(n)
			for i := range n {
				x := slices.Clone(from.x)
				x[j] = low + (float64(i)+0.5)*h
				next = append(next, node{x, from.w * h})
			}
		}
		nodes = next
	}
	table := &data.Table{Names: []string{"a", "b", "c"}, N: len(nodes), D: 3, Observed: slices.Repeat([]bool{true}, 3*len(nodes))}
	for _, at := range nodes {
		table.Values = append(table.Values, at.x...)
	}
	v, err := model.NewEvaluator(p.Model, len(nodes), false)
	require.NoError(t, err)
	log, _, err := v.At(table.Values)
	require.NoError(t, err)
	w := make([]float64, len(nodes))
	for i, at := range nodes {
		w[i] = math.Exp(log[i]-floats.Max(log)) * at.w
	}
	floats.Scale(1/floats.Sum(w), w)
	p.Table = table
	e, err := engine.New(p, engine.Config{Method: "full", Batch: 1})
	require.NoError(t, err)
	var mean []float64
	for i := range nodes {
		if w[i] < 1e-12 {
			continue
		}
		s, err := e.Gradient(0, []int{i}, w[i])
		require.NoError(t, err)
		if g := slices.Concat(s.Grads...); mean == nil {
			mean = g
		} else {
			floats.Add(mean, g)
		}
	}
	return mean
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
				steps := 2000
				if !observed[1] {
					steps = 70
				}
				want, coarse := completeData(t, p, row, observed, steps), completeData(t, p, row, observed, steps/2)
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
