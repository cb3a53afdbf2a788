package replicate

import (
	"context"

	"missingscore/data"
	"missingscore/data/network"
	"missingscore/trainers"
	"missingscore/trainers/regpath"
)

// Network is an estimated network in short.
type Network struct {
	Weights   []float64 // partial correlations of pairs j < k in column order, 0 where there is no edge
	Converged bool
}

// Estimate makes the network that trainers.Estimate makes of a table, by one worker, without
// what the latter says of table and result.
func Estimate(ctx context.Context, t *data.Table, s trainers.Spec) (Network, error) {
	s.Steps.Workers, s.Steps.Observe = 1, nil
	p, err := trainers.Prepare(t, s)
	if err != nil {
		return Network{}, err
	}
	q, err := p.Problem()
	if err != nil {
		return Network{}, err
	}
	n, err := regpath.New(q, p.Spec.Steps, *p.Spec.Network, &regpath.State{})
	if err != nil {
		return Network{}, err
	}
	if _, err := n.Estimate(ctx, func() error { return nil }); err != nil {
		return Network{}, err
	}
	d := p.Table.D
	edges := regpath.Adjacency(n.Model().Packed.Value, d, n.Config.Threshold)
	made, err := network.New(p.Table.Names, n.Model().Precision(), edges)
	if err != nil {
		return Network{}, err
	}
	weights, err := Weights(made)
	return Network{weights, n.State.Refine.Converged}, err
}

// Weights are the partial correlations of pairs j < k in column order, 0 where a network
// has no edge.
func Weights(n *network.Network) ([]float64, error) {
	ends, err := n.Places()
	if err != nil {
		return nil, err
	}
	d := len(n.Nodes)
	out := make([]float64, d*(d-1)/2)
	for i, e := range n.Edges {
		j, k := min(ends[i][0], ends[i][1]), max(ends[i][0], ends[i][1])
		out[j*(2*d-j-1)/2+k-j-1] = e.PartialCorrelation
	}
	return out, nil
}
