package networks

import (
	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
)

const cutOff = 0.2 // share of a column below its bound

// The support is nil for R^d.
func (k kind) simulate(law gaps.Law, seed uint64) (truth simulate.Gaussian, support *domain.Domain, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if k.Graph == "star" {
		truth, err = simulate.Star(k.Columns, rng)
	} else {
		truth, err = graphs.Random(k.Columns, rng)
	}
	if err != nil {
		return truth, nil, nil, err
	}
	if k.Below > 0 {
		if support, err = truth.TruncateBelow(k.Below, cutOff); err != nil {
			return truth, nil, nil, err
		}
	}
	if t, err = truth.SampleInside(support, k.Rows, rng); err != nil {
		return truth, nil, nil, err
	}
	t, err = law.Hide(t, seed)
	return truth, support, t, err
}
