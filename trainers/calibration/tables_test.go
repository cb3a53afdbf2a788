package calibration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/posterior"
)

// tableKind is how tables are made that hidden cells are ranked of.
type tableKind struct {
	rows   int
	hidden float64 // how likely a cell is hidden

	// mean ranks the mean of a column's hidden cells, which goes by what is not known of the
	// law more than a cell does.
	mean bool
}

// ofTables ranks a hidden cell, or a mean of some, of each of many tables, one number of each
// so that ranks are independent, among draws (Draws) of them.
func ofTables(c Case, kind tableKind, simulate func(rng *rand.Rand) ([]float64, error), fill func(ctx context.Context, gaps *data.Table, seed uint64) ([][]float64, error)) Case {
	if kind.mean {
		c.Model += ", mean of gaps"
	}
	c.ranks = func(ctx context.Context, n int, seed uint64) ([]int, error) {
		ranks := make([]int, n)
		for i := range n {
			rng := stream.New(seed, stream.Simulate, uint64(i))
			values, err := simulate(rng)
			if err != nil {
				return nil, err
			}
			gaps := kind.hide(values, rng)
			drawn, err := fill(ctx, gaps, rng.Uint64())
			if err != nil {
				return nil, err
			}
			of := kind.number(gaps, rng)
			truth := of(missing(gaps, values))
			for _, draw := range drawn {
				if of(draw) < truth {
					ranks[i]++
				}
			}
		}
		return ranks, nil
	}
	return c
}

// hide makes gaps at random, until there is one and each column has two observed cells.
func (k tableKind) hide(values []float64, rng *rand.Rand) *data.Table {
	t := &data.Table{Names: []string{"x1", "x2", "x3"}, N: k.rows, D: columns, Values: values, Observed: make([]bool, len(values))}
	for {
		seen := make([]int, columns)
		for at := range t.Observed {
			if t.Observed[at] = rng.Float64() >= k.hidden; t.Observed[at] {
				seen[at%columns]++
			}
		}
		if t.Missing() > 0 && slices.Min(seen) >= 2 {
			return t
		}
	}
}

// number is one of a table's hidden cells: one of them, or the mean of those in its column.
func (k tableKind) number(gaps *data.Table, rng *rand.Rand) func(cells []float64) float64 {
	var columnOf []int
	for at, seen := range gaps.Observed {
		if !seen {
			columnOf = append(columnOf, at%columns)
		}
	}
	one := rng.IntN(len(columnOf))
	if !k.mean {
		return func(cells []float64) float64 { return cells[one] }
	}
	return func(cells []float64) (mean float64) {
		n := 0.0
		for a, v := range cells {
			if columnOf[a] == columnOf[one] {
				n++
				mean += (v - mean) / n
			}
		}
		return mean
	}
}

// missing are the numbers in a table's gaps, row by row.
func missing(gaps *data.Table, values []float64) (out []float64) {
	for at, seen := range gaps.Observed {
		if !seen {
			out = append(out, values[at])
		}
	}
	return out
}

// ofPrior is of tables whose law is drawn from the prior of package posterior, among draws of
// that package: uniform exactly, whatever the number of rows, but for chains that have not met.
func ofPrior(name string, kind tableKind, c posterior.Config) Case {
	return ofTables(Case{Command: "table", Model: name, Sampler: "posterior"}, kind,
		func(rng *rand.Rand) ([]float64, error) {
			return newPriorLaw(c.Components, rng).rows(kind.rows, rng), nil
		},
		func(ctx context.Context, gaps *data.Table, seed uint64) ([][]float64, error) {
			c := c
			c.Draws, c.Seed = Draws, seed
			d, err := posterior.Draw(ctx, gaps, c)
			if err != nil {
				return nil, err
			}
			return d.Gaps, nil
		})
}

// ofLaw is of tables of one Gaussian law.
func ofLaw(sampler string, kind tableKind, fill func(ctx context.Context, gaps *data.Table, seed uint64) (*fitted.Imputed, error)) Case {
	return ofTables(Case{Command: "table", Model: "gaussian", Sampler: sampler, Size: fmt.Sprintf("%d rows", kind.rows)}, kind,
		func(rng *rand.Rand) ([]float64, error) {
			g, err := gaussian(nil)
			if err != nil {
				return nil, err
			}
			return model.SampleRows(g.Model, kind.rows, nil, rng)
		},
		func(ctx context.Context, gaps *data.Table, seed uint64) ([][]float64, error) {
			r, err := fill(ctx, gaps, seed)
			if err != nil {
				return nil, err
			}
			draws := make([][]float64, Draws)
			for _, cell := range r.Gaps(gaps) {
				for k, v := range cell {
					draws[k] = append(draws[k], v)
				}
			}
			return draws, nil
		})
}

// drawnAlong are draws of the cells and of their law, as impute has them from a table alone.
func drawnAlong(kind tableKind) Case {
	return ofLaw("posterior", kind, func(ctx context.Context, gaps *data.Table, seed uint64) (*fitted.Imputed, error) {
		r, err := fitted.Posterior(ctx, gaps, nil, posterior.Config{Draws: Draws, Seed: seed})
		if err != nil {
			return nil, err
		}
		return &r.Imputed, nil
	})
}

// held are draws given the parameters of a fit, as impute has them from a model.
func held(kind tableKind) Case {
	return ofLaw("exact of a fit", kind, func(ctx context.Context, gaps *data.Table, seed uint64) (*fitted.Imputed, error) {
		r, err := trainers.Estimate(ctx, gaps, trainers.Spec{}, trainers.Run{})
		if err != nil {
			return nil, err
		}
		f, err := r.Model.Fitted()
		if err != nil {
			return nil, err
		}
		return fitted.Impute(ctx, f, gaps, fitted.ImputeConfig{Sampler: "exact", Draws: Draws, Seed: seed})
	})
}
