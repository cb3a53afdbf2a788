package likelihood

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"missingscore/benchmarks/outside"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/graph/model"
)

//go:embed emglasso.R
var script []byte

var program = outside.R("emglasso.R", script, "glasso")

// likelihood runs the R script, whose precisions are judged as ours are.
func (s settings) likelihood(ctx context.Context, table *data.Table, truth simulate.Gaussian) (r result, err error) {
	numbers, printed, err := program.Run(ctx, table, strconv.Itoa(s.Lambdas), strconv.FormatFloat(s.Ratio, 'g', -1, 64))
	if err != nil {
		return r, err
	}
	if _, err := fmt.Sscan(printed, &r.seconds, &r.iterations); err != nil {
		return r, fmt.Errorf("emglasso.R wrote %q: %w", printed, err)
	}
	path, err := precisions(numbers, table.D)
	if err != nil {
		return r, err
	}
	var rates []network.Rate
	for _, m := range path {
		found := network.Threshold(m.Precision(), 0.002)
		r.edges = found.Count()
		rate, err := network.Compare(network.Threshold(truth.Precision, 1e-12), found)
		if err != nil {
			return r, err
		}
		rates = append(rates, rate)
	}
	r.auc = network.AUC(rates)
	return r, nil
}

// precisions are of d columns, a line each, packed by rows of the upper triangle.
func precisions(lines [][]float64, d int) (path []*model.Gaussian, err error) {
	for _, line := range lines {
		m := model.NewGaussian(d, model.FreeSymmetric)
		if len(line) != len(m.Packed.Value) {
			return nil, fmt.Errorf("emglasso.R wrote %d numbers a line, not %d", len(line), len(m.Packed.Value))
		}
		copy(m.Packed.Value, line)
		path = append(path, m)
	}
	return path, nil
}
