package regpath

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/testtables"
	"missingscore/internal/trainers/engine"
	"missingscore/losses"
)

func partsOf(r *Run) []rowPart { return r.Config.Select.parts(r.Table.N, r.Engine.Config.Seed) }

func TestPartsOfTheRows(t *testing.T) {
	folds := Selection{Kind: "cv", Folds: 4}.parts(10, 1)
	seen := map[int]int{}
	for _, p := range folds {
		require.Len(t, p.fit, 10-len(p.heldOut))
		require.IsIncreasing(t, p.fit)
		require.IsIncreasing(t, p.heldOut)
		for _, i := range p.heldOut {
			seen[i]++
			require.NotContains(t, p.fit, i)
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
	for rows, left := range map[int]int{20: 0, 21: 1} {
		halves := Selection{Kind: "stability"}.parts(rows, 3)
		require.Len(t, halves, 100)
		for k := 0; k < 100; k += 2 {
			both := slices.Concat(halves[k].fit, halves[k+1].fit)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(both))), rows-left)
			require.Len(t, halves[k].fit, 10)
		}
		require.NotEqual(t, halves[0].fit, halves[2].fit)
	}
}

// Per cell: the marginal loss, −2 log L, or tr(PSP) − 2 tr P with the moments of the held-out rows.
func TestHeldOutLosses(t *testing.T) {
	const d = 6
	_, table := testtables.Star(t, d, 90, 0.3)
	work, _ := data.Standardise(table)
	for _, method := range []string{"exact", "em-exact", "pairwise"} {
		config := Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 5, Select: Selection{Kind: "cv", Folds: 3}}
		whole := started(t, work, method, config, &State{})
		p := partsOf(whole)[1]
		r, heldOut, err := part(t.Context(), whole.walk, p)
		require.NoError(t, err)
		require.Len(t, heldOut, 5)
		rows := testtables.Must(work.Rows(p.heldOut))
		for l, q := range r.State.Points {
			want, m := 0., model.NewGaussian(d, model.FreeSymmetric)
			copy(m.Packed.Value, q.Packed())
			switch method {
			case "exact":
				want, _ = gradientAt(t, engine.Problem{Table: rows}, engine.Config{Method: "exact"}, nil, q.Packed(), 0)
			case "em-exact":
				want = -2 * logLikelihood(work, p.heldOut, q.mean(), m.Precision()) / float64(len(p.heldOut))
			case "pairwise":
				of, err := losses.GaussianPairwise.(losses.OfMatrix).Matrix(t.Context(), work, p.heldOut, nil, 1, false)
				require.NoError(t, err)
				var ps, psp mat.Dense
				ps.Mul(m.Precision(), mat.NewDense(d, d, of.S))
				psp.Mul(&ps, m.Precision())
				want = mat.Trace(&psp) - 2*mat.Trace(m.Precision())
			}
			require.InDelta(t, want/d, heldOut[l], 1e-9, method)
		}
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
	at := func(table *data.Table, kind string) (*Run, error) {
		config := Config{Penalty: Penalty{Kind: "l1"}, Lambdas: 20, Select: Selection{Kind: kind, Beta: 0.3}}
		r := startedOf(t, engine.Problem{Table: table}, engine.Config{Method: "em-exact", Seed: 3, Workers: 2}, config, &State{})
		_, err := r.Estimate(t.Context(), func() error { return nil })
		return r, err
	}
	for kind, yes := range map[string]int{"cv": 2, "stars": 3, "stability": 4} {
		table := rare(yes)
		r, err := at(table, kind)
		require.NoError(t, err)
		want, first := 0, -1
		for k, p := range partsOf(r) {
			if p.fit[0] >= yes {
				if want++; first < 0 {
					first = k
				}
			}
		}
		failed, told := r.State.Resampled.failed(kind)
		require.Equal(t, want, failed, kind)
		require.Equal(t, want > 0, told != "")
		if want > 0 {
			require.Contains(t, r.Warnings(), fmt.Sprintf("%d of the %d samples of %s have no result; the first, number %d: "+
				"column %q has no variation in its rows", want, len(partsOf(r)), kind, first+1, table.Names[3]))
		}
		require.Positive(t, r.chosenEdges(), kind)
	}
	_, err := at(rare(1), "stability")
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
