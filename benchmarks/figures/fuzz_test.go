package figures_test

import (
	"testing"

	"missingscore/benchmarks/figures"
	"missingscore/internal/fuzztest"
)

// Whatever a cell of coordinates holds is read, and comes again as it is written, or is refused.
func FuzzParsePoints(f *testing.F) {
	fuzztest.Reader[[]float64]{
		Read:    figures.ParsePoints,
		Write:   func(xy []float64) (string, error) { return figures.FormatPoints(xy), nil },
		Accepts: []string{"", "1 2", " 0.5\t-1e-300\n3 4 ", "1e308 -0"},
		Refuses: []string{"x", "1,2", "1 2 3 four", "1e999"},
	}.Fuzz(f)
}
