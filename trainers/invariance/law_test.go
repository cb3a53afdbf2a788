package invariance

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
)

// Laws are the cases whose draws go by the places of rows and columns: a change of order
// changes the draws, and only their law stays. They are of the default model, for draws do not
// ask which model it is.
func Laws() ([]Case, error) {
	all, err := Cases()
	var cases []Case
	for _, c := range all {
		if c.Model == trainers.DefaultModel && drawsByRow(c) != "" {
			cases = append(cases, c)
		}
	}
	return cases, err
}

// SameLaw says how far what a case says of a table, averaged over so many seeds, moves when
// rows and columns come in another order and the graphs are in float32: the worst |z| of the
// differences, standard normals where the law is the same, and how many there are. Draws behind
// ordered categories go by the places of the rows and by no seed: there it is said how far another
// order of columns moves an estimate, by the deviation among orders of rows.
func SameLaw(ctx context.Context, c Case, seeds int) (worst float64, numbers int, err error) {
	first, err := c.statistics(ctx, c.same(), 0, seeds, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.Name(), err)
	}
	w := c.same()
	w.rows, w.columns = stream.New(seed, stream.Permute).Perm(rows), []int{2, 0, 1}
	second, err := c.statistics(ctx, w, seeds, seeds, func(s *trainers.Spec) { s.Steps.DType = graph.Float32 })
	if err != nil {
		return 0, 0, fmt.Errorf("%s: in another order: %w", c.Name(), err)
	}
	for k := range first {
		a, b := stat.Mean(first[k], nil), stat.Mean(second[k], nil)
		se := math.Sqrt(stat.Variance(first[k], nil) + stat.Variance(second[k], nil))
		if !c.ordinal() {
			se /= math.Sqrt(float64(seeds))
		}
		switch gap := math.Abs(a - b); {
		case gap <= 1e-5*math.Max(math.Abs(a), 1): // no noise but rounding
		case math.IsNaN(gap):
			return math.Inf(1), len(first), nil
		default:
			worst = math.Max(worst, gap/se)
		}
	}
	return worst, len(first), nil
}

// statistics are those of so many seeds from one on: statistic k of each in slice k. Of ordered
// categories a seed is an order of rows.
func (c Case) statistics(ctx context.Context, w rewriting, from, seeds int, change func(*trainers.Spec)) (out [][]float64, err error) {
	for k := range seeds {
		if c.ordinal() {
			w.rows = stream.New(uint64(from+k), stream.Permute).Perm(rows)
		}
		numbers, err := c.statistic(ctx, w, func(s *trainers.Spec) {
			s.Steps.Seed = uint64(from + k)
			if change != nil {
				change(s)
			}
		})
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([][]float64, len(numbers))
		}
		for i, v := range numbers {
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// statistic is the loss of a fit's first step and the sum of squares of each parameter's
// gradient, which does not depend on the order of its elements; where the draws are not those of
// a step, the loss of the estimate and the sum of squares of what it says of each column.
func (c Case) statistic(ctx context.Context, w rewriting, change func(*trainers.Spec)) ([]float64, error) {
	if !c.Network && !c.ordinal() {
		loss, blocks, err := c.gradient(w, change)
		numbers := []float64{loss}
		for _, block := range blocks {
			numbers = append(numbers, floats.Dot(block, block))
		}
		return numbers, err
	}
	o, err := c.fit(ctx, w, change)
	sums := make([]float64, columns)
	for i, v := range o.numbers {
		sums[i%columns] += v * v
	}
	return append(sums, o.loss), err
}
