package mar

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/data/network"
)

// ErrorColumn is the one that WithErrors adds.
const ErrorColumn = "partial_correlation_error"

// WithErrors adds to each cell how far its partial correlations are from the design's,
// √(Σ (ρ̂ − ρ)²/k) over the k pairs; "-" where a fit gave none.
func WithErrors(r cells.Results) (cells.Results, error) {
	design, err := r.Column(designColumn)
	if err != nil {
		return r, err
	}
	partials, err := r.Column(partialColumn)
	if err != nil {
		return r, err
	}
	out := cells.Results{Columns: append(slices.Clone(r.Columns), ErrorColumn)}
	for _, line := range r.Lines {
		truth, ok := designs[line[design]]
		if !ok {
			return r, fmt.Errorf("there is no design %q", line[design])
		}
		text := "-"
		if line[partials] != "-" {
			distance, err := rootMeanSquare(strings.Fields(line[partials]), network.PartialCorrelations(truth.precision))
			if err != nil {
				return r, fmt.Errorf("column %s: %w", partialColumn, err)
			}
			text = strconv.FormatFloat(distance, 'g', 6, 64)
		}
		out.Lines = append(out.Lines, append(slices.Clone(line), text))
	}
	return out, nil
}

// rootMeanSquare is that of the differences between numbers in text and true ones.
func rootMeanSquare(found []string, truth []float64) (float64, error) {
	if len(found) != len(truth) {
		return 0, fmt.Errorf("%d numbers for %d pairs", len(found), len(truth))
	}
	sum := 0.0
	for i, text := range found {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		sum += (v - truth[i]) * (v - truth[i])
	}
	return math.Sqrt(sum / float64(len(truth))), nil
}
