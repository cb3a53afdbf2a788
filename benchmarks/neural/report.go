package main

import (
	"context"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks"
	"missingscore/internal/picture"
)

var last = benchmarks.Measure{Column: "fisher_divergence"}

// report prints a density's table in Markdown: means over the replicates, with the half
// widths of their 95 % t-intervals.
func (s settings) report(density string, names []string, r benchmarks.Results) error {
	numbers := func(column, method string) ([]float64, error) {
		series, err := r.Training(benchmarks.Measure{Column: column}, []string{method})
		if err != nil || len(series[0].Values) == 0 {
			return nil, err
		}
		return series[0].Values[len(series[0].Values)-1], nil
	}
	fmt.Printf("| %s | after %d passes | relative | to Full's, paired ratio | least | at pass | draws that count | seconds |\n|%s\n", density, s.epochs, " --- | --- | --- | --- | --- | --- | --- | --- |")
	full, err := numbers("fisher_divergence", "full")
	if err != nil {
		return err
	}
	for _, name := range names {
		column := map[string][]float64{}
		for _, c := range value {
			if column[c], err = numbers(c, name); err != nil {
				return err
			}
		}
		end, size := column["fisher_divergence"], column["score_size"]
		if len(end) == 0 {
			continue
		}
		relative, ratio := make([]float64, len(end)), make([]float64, 0, len(end))
		for i, v := range end {
			relative[i] = v / size[i]
			if len(full) == len(end) {
				ratio = append(ratio, v/full[i])
			}
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %.0f | %.1f | %.0f |\n", picture.MethodTitle(name), interval(end), interval(relative), interval(ratio), interval(column["least"]),
			stat.Mean(column["least_epoch"], nil), stat.Mean(column["effective_size"], nil), stat.Mean(column["seconds"], nil))
	}
	fmt.Println()
	return nil
}

func interval(x []float64) string {
	switch len(x) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.3g", x[0])
	}
	mean, half := benchmarks.MeanInterval(x)
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

// figures draws the error along training, and planes.
func (s settings) figures(ctx context.Context, density string, names []string, r benchmarks.Results, first uint64) error {
	var at []float64
	for _, epoch := range benchmarks.Epochs(s.epochs) {
		at = append(at, float64(epoch))
	}
	series, err := r.Training(last, names)
	if err != nil {
		return err
	}
	p, err := benchmarks.Bands("Fisher divergence along training: "+density, "epoch", "Fisher divergence", at, series)
	if err != nil {
		return err
	}
	if err := picture.Save(filepath.Join(s.out, density+"-fisher-divergence.svg"), p, 16*vg.Centimeter, 11*vg.Centimeter); err != nil {
		return err
	}
	return s.planes(ctx, density, names, first)
}
