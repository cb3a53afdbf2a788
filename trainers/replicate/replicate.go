// Package replicate estimates networks of many permuted or simulated tables in parallel. A
// replicate depends on its number only; finished ones are saved.
package replicate

import (
	"cmp"
	"context"
	"errors"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/checkedfile"
	"missingscore/internal/data/network"
	"missingscore/internal/panics"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
)

// Config configures Run.
type Config struct {
	Workers int                   // threads; 1
	Observe func(done, total int) // called after each replicate, one at a time; may be nil
	Save    func() error          // called after each replicate, one at a time, and when ctx is cancelled; may be nil
}

// Run makes the unfinished replicates 0 … total−1 and returns all in order. If ctx is cancelled it
// saves and returns ctx's error; an error of a replicate stops the run.
func Run[T any](ctx context.Context, total int, c Config, done *Done[T], one func(ctx context.Context, k int) (T, error)) ([]T, error) {
	save := func() error {
		if c.Save == nil {
			return nil
		}
		return c.Save()
	}
	all := make([]T, total)
	var left []int
	for k := range all {
		made, ok := done.Get(k)
		if all[k] = made; !ok {
			left = append(left, k)
		}
	}
	err := panics.Collect(ctx, c.Workers, left, one, func(k int, made T) error {
		all[k] = made
		done.Put(k, made)
		if c.Observe != nil {
			c.Observe(done.Count(), total)
		}
		return save()
	})
	if ctx.Err() != nil {
		return nil, cmp.Or(save(), ctx.Err())
	}
	return all, err
}

// Done are the finished replicates of a run, by number.
type Done[T any] = checkedfile.Parts[T]

const doneMark = "missingscore replicates 1\n"

// NewDone returns an empty Done; of names the run, see Identity.
func NewDone[T any](of string) *Done[T] { return checkedfile.NewParts[T](doneMark, of) }

// ErrOtherRun means that saved replicates belong to another run.
var ErrOtherRun = errors.New("the saved results belong to other tables or settings: use the same, or start again without resuming")

// Load fails with ErrOtherRun for another run, and with an error naming the file if its checksum is
// wrong.
func Load[T any](path, of string) (*Done[T], error) {
	return checkedfile.LoadParts[T](path, doneMark, of, "saved replicates", ErrOtherRun)
}

// Identity names a run by its settings, its tables and the library of matrix products.
func Identity(settings any, tables ...*data.Table) (string, error) {
	library, err := graph.BLAS()
	if err != nil {
		return "", err
	}
	return trainers.Fingerprint([]any{settings, library}, tables...)
}

// Network is the summary of an estimated network.
type Network struct {
	Weights   []float64 // partial correlations of pairs j < k in column order, 0 without an edge
	Converged bool
}

// Estimate returns the network of a table by Prepared.Again.
func Estimate(ctx context.Context, t *data.Table, s trainers.Spec) (Network, error) {
	s.Steps.Workers, s.Steps.Observe = 1, nil
	p, err := trainers.Prepare(t, s)
	if err != nil {
		return Network{}, err
	}
	n, err := p.Again(ctx)
	if err != nil {
		return Network{}, err
	}
	q := len(n.Nodes())
	return Network{inference.FitOf(n).Weights(q * (q - 1) / 2), n.State.Refine.Converged}, nil
}

// Weights returns the partial correlations of pairs j < k in column order, 0 without an edge.
func Weights(n *network.Network) []float64 {
	d := len(n.Nodes)
	out := make([]float64, d*(d-1)/2)
	for i, pair := range n.PairsOfEdges() {
		out[pair] = n.Edges[i].PartialCorrelation
	}
	return out
}
