package regpath

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
)

func partsOf(r *Run) []rowPart { return r.Config.Select.parts(r.Table.N, r.Engine.Config.Seed) }

func TestPartsOfTheRows(t *testing.T) {
	folds := folds(4, 10, 1)
	seen := map[int]int{}
	for _, p := range folds {
		fit := p.fitted([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
		require.Len(t, fit, 10-len(p.heldOut))
		require.IsIncreasing(t, fit)
		require.IsIncreasing(t, p.heldOut)
		for _, i := range p.heldOut {
			seen[i]++
			require.NotContains(t, fit, i)
		}
	}
	require.Len(t, folds, 4)
	require.Len(t, seen, 10, "each row is held out")
	for _, n := range seen {
		require.Equal(t, 1, n, "once")
	}
	for n, size := range map[int]int{100: 80, 144: 115, 400: 200} {
		parts := Selection{Kind: "stars"}.parts(n, 1)
		require.Len(t, parts, 20)
		require.NotEqual(t, parts[0].fit, parts[1].fit)
		for _, p := range parts {
			require.Len(t, p.fit, size)
		}
	}
}

// −2 tr Q + ‖Q x‖², Q from the inverse of a block of P⁻¹, row by row.
func TestHeldOutLossByItsFormula(t *testing.T) {
	_, table := testtables.Star(t, 6, 90, 0.3)
	work, _ := data.Standardise(table)
	whole, err := New(engine.Problem{Table: work}, engine.Config{Method: "exact", Seed: 1, Workers: 1}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 5}, &State{})
	require.NoError(t, err)
	p := folds(3, table.N, 1)[1]
	r, heldOut, err := part(context.Background(), whole.walk, p)
	require.NoError(t, err)
	require.Len(t, heldOut, 5)
	for l, q := range r.State.Points {
		var sigma mat.Dense
		require.NoError(t, sigma.Inverse(graph.Unpack(6, q.Packed)))
		want := 0.0
		for _, i := range p.heldOut {
			var seen []int
			for j := range 6 {
				if work.Observed[i*6+j] {
					seen = append(seen, j)
				}
			}
			if len(seen) == 0 {
				continue
			}
			block, x := mat.NewDense(len(seen), len(seen), nil), mat.NewVecDense(len(seen), nil)
			for a, j := range seen {
				x.SetVec(a, work.Values[i*6+j])
				for b, k := range seen {
					block.Set(a, b, sigma.At(j, k))
				}
			}
			var marginal mat.Dense
			require.NoError(t, marginal.Inverse(block))
			var s mat.VecDense
			s.MulVec(&marginal, x)
			want += -2*mat.Trace(&marginal) + mat.Dot(&s, &s)
		}
		require.InDelta(t, want/float64(6*len(p.heldOut)), heldOut[l], 1e-10)
	}
}

// A part with a constant column has no result.
func TestPartsWithoutVariation(t *testing.T) {
	rare := func(yes int) *data.Table {
		_, table := testtables.Star(t, 4, 120, 0.1)
		for i := range table.N {
			table.Values[i*4+3], table.Observed[i*4+3] = 0, true
			if i < yes {
				table.Values[i*4+3] = 1
			}
		}
		table, _ = data.Standardise(table)
		return table
	}
	for _, method := range []string{"em-exact", "exact"} {
		for kind, yes := range map[string]int{"cv": 2, "stars": 3, "stability": 4} {
			table := rare(yes)
			at := func(table *data.Table) (*Run, error) {
				r, err := New(engine.Problem{Table: table}, engine.Config{Method: method, Seed: 3, Workers: 2}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 20, Select: Selection{Kind: kind, Beta: 0.3}}, &State{})
				require.NoError(t, err)
				_, err = r.Estimate(context.Background(), func() error { return nil })
				return r, err
			}
			r, err := at(table)
			require.NoError(t, err)
			want, first := 0, -1
			for k, p := range partsOf(r) {
				if rows := p.fitted(table.AllRows()); rows[0] >= yes {
					if want++; first < 0 {
						first = k
					}
				}
			}
			failed, told := r.State.Resampled.failed(kind)
			require.Equal(t, want, failed, kind)
			if want > 0 {
				require.Contains(t, r.Warnings(), fmt.Sprintf("%d of the %d samples of %s have no result; the first, number %d: column %q has no variation in its rows", want, len(partsOf(r)), kind, first+1, table.Names[3]))
			} else {
				require.Empty(t, told)
			}
			require.Positive(t, r.chosenEdges(), "%s %s", kind, method)
		}
	}
	r, err := New(engine.Problem{Table: rare(1)}, engine.Config{Method: "em-exact", Seed: 3, Workers: 2}, Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 20, Select: Selection{Kind: "stability"}}, &State{})
	require.NoError(t, err)
	_, err = r.Estimate(context.Background(), func() error { return nil })
	require.ErrorContains(t, err, "50 of the 100 samples of stability have no result")
	require.ErrorContains(t, err, "leave out the column")
}

// Two pairs, five parts: θ = 1/5, 0 → 2·(0.16+0)/2; then 2/5, 5/5 → 0.24; then 1, 1 → 0, kept at
// the largest.
func TestInstabilityByHand(t *testing.T) {
	f := Resampled{Done: make([]bool, 5), Failed: make([]string, 5), Points: []int{3, 3, 4, 4, 3}, Counts: [][]int{{1, 0}, {2, 5}, {5, 5}}}
	require.InDeltaSlice(t, []float64{0.16, 0.24, 0.24}, f.instability(2), 1e-15)
	require.InDeltaSlice(t, []float64{0.32, 0.48, 0.48}, f.instability(1), 1e-15, "of the pairs one is of a covariate")
}

func TestPartsWithoutResultDoNotCount(t *testing.T) {
	f := Resampled{Done: make([]bool, 3), Failed: []string{"", "no variation", ""}, Points: []int{2, 0, 3}, Counts: [][]int{{1}, {2}, {1}}, Losses: [][]float64{{3, 5, 1}, nil, {6, 8}}}
	scores := f.crossValidated([]rowPart{{heldOut: []int{0, 2}}, {heldOut: []int{3}}, {heldOut: []int{1}}})
	require.InDeltaSlice(t, []float64{4, 6}, scores[:2], 1e-15)
	require.True(t, math.IsInf(scores[2], 1))
	instability := f.instability(1)
	require.InDeltaSlice(t, []float64{0.5, 0.5}, instability[:2], 1e-15)
	require.True(t, math.IsInf(instability[2], 1))
}
