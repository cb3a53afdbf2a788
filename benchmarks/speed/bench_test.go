package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"missingscore/benchmarks/timing"
	"missingscore/graph"
)

// BenchmarkIteration is one parameter iteration; benchstat reads the names.
func BenchmarkIteration(b *testing.B) {
	for _, s := range settings(timing.Experiments, allMethods, []int{10, 50, 100}, []graph.DType{graph.Float64, graph.Float32}) {
		b.Run(fmt.Sprintf("experiment=%s/method=%s/d=%d/dtype=%v", s.Experiment, s.Method, s.D, s.DType), func(b *testing.B) {
			step, err := s.Stepper()
			require.NoError(b, err)
			require.NoError(b, step(), "the first allocates")
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, step())
			}
		})
	}
}
