package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"

	"missingscore/benchmarks/timing"
	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/trainers"
)

// accuracy runs the same L1 paths in float64 and in float32 and shows what float32
// changes: the largest difference of an entry of the standardised precision at any λ, of
// the AUC, and beside them what another seed of the draws changes. Methods that draw do
// so otherwise in float32, which is then one more seed; of the others it is the rounding.
func accuracy(ctx context.Context, w io.Writer, all []timing.Setting, replicates int) error {
	fmt.Fprintln(w, "| method | d | largest difference of a precision entry | of the AUC | AUC in float64 | another seed: precision entry | AUC |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range all {
		var entry, auc, level, seedEntry, seedAUC float64
		for k := range replicates {
			s.Seed = uint64(k + 1)
			g, t, err := s.Simulate()
			if err != nil {
				return err
			}
			var paths [3]*trainers.NetworkResult
			var aucs [3]float64
			for i, dtype := range []graph.DType{graph.Float64, graph.Float32, graph.Float64} {
				s := s
				if s.DType = dtype; i == 2 {
					s.Seed += 1000 // of the draws; the table is the same
				}
				if paths[i], err = fit(ctx, t, s); err != nil {
					return err
				}
				rates, err := paths[i].Rates(network.Threshold(g.Precision, 1e-12))
				if err != nil {
					return err
				}
				aucs[i] = network.AUC(rates)
			}
			far := func(a, b *trainers.NetworkResult) (most float64) {
				for l := range a.Points {
					most = max(most, floats.Distance(a.Points[l].Packed, b.Points[l].Packed, math.Inf(1)))
				}
				return most
			}
			entry, seedEntry = max(entry, far(paths[0], paths[1])), max(seedEntry, far(paths[0], paths[2]))
			auc, seedAUC = max(auc, math.Abs(aucs[0]-aucs[1])), max(seedAUC, math.Abs(aucs[0]-aucs[2]))
			level += aucs[0] / float64(replicates)
		}
		fmt.Fprintf(w, "| `%s` | %d | %.1g | %.1g | %.3f | %.1g | %.1g |\n", s.Method, s.D, entry, auc, level, seedEntry, seedAUC)
	}
	return nil
}
