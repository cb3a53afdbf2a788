package star

import (
	_ "embed"
	"math/rand/v2"

	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
)

// truth is the network of d nodes.
func (s settings) truth(d, centres int, rng *rand.Rand) (simulate.Gaussian, error) {
	switch s.Graph {
	case "star":
		return simulate.Stars(d, centres, rng)
	case "dense":
		return simulate.Dense(d, rng)
	}
	return graphs.Colliders(d)
}

// simulate makes a replicate's network, the side of a plane that its rows lie on, and
// the complete rows.
func (s settings) simulate(at setting, seed uint64) (truth simulate.Gaussian, support *domain.Domain, table *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = s.truth(at.columns, at.centres, rng); err != nil {
		return truth, nil, nil, err
	}
	if support, err = truth.TruncateAcross(s.Outside, stream.New(seed, stream.Simulate, 1)); err != nil {
		return truth, nil, nil, err
	}
	table, err = truth.SampleInside(support, s.Rows, rng)
	return truth, support, table, err
}

// hide hides the cells of a replicate.
func hide(table *data.Table, at setting, seed uint64) (*data.Table, error) {
	return data.HideMCAR(table, at.missing, stream.New(seed, stream.Hide))
}
