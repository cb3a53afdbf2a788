package invariance

import (
	"fmt"
	"math"

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
		if c.Model == trainers.DefaultModel && !c.Network && drawsByRow(c) != "" && !c.ordinal() {
			cases = append(cases, c)
		}
	}
	return cases, err
}

// SameLaw says how far the first step's loss and squared gradients, averaged over so many
// seeds, move when rows and columns come in another order and the graphs are in float32: the
// worst |z| of the differences, standard normals where the law is the same, and how many there
// are. Squares of a parameter's gradient do not depend on the order of its elements.
func SameLaw(c Case, seeds int) (worst float64, numbers int, err error) {
	first, err := c.statistics(same(rows, columns), 0, seeds, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.Name(), err)
	}
	w := same(rows, columns)
	w.rows, w.columns = stream.New(seed, stream.Permute).Perm(rows), []int{2, 0, 1}
	second, err := c.statistics(w, seeds, seeds, func(s *trainers.Spec) { s.Steps.DType = graph.Float32 })
	if err != nil {
		return 0, 0, fmt.Errorf("%s: in another order: %w", c.Name(), err)
	}
	for k := range first {
		a, b := stat.Mean(first[k], nil), stat.Mean(second[k], nil)
		se := math.Sqrt((stat.Variance(first[k], nil) + stat.Variance(second[k], nil)) / float64(seeds))
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

// statistics are those of so many seeds from one on: statistic k of each in slice k.
func (c Case) statistics(w rewriting, from, seeds int, change func(*trainers.Spec)) (out [][]float64, err error) {
	for k := range seeds {
		loss, blocks, err := c.gradient(w, func(s *trainers.Spec) {
			s.Steps.Seed = uint64(from + k)
			if change != nil {
				change(s)
			}
		})
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([][]float64, 1+len(blocks))
		}
		out[0] = append(out[0], loss)
		for i, block := range blocks {
			sum := 0.0
			for _, v := range block {
				sum += v * v
			}
			out[1+i] = append(out[1+i], sum)
		}
	}
	return out, nil
}
