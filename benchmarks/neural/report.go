package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
	"missingscore/benchmarks/figures"
	"missingscore/benchmarks/markdown"
	"missingscore/benchmarks/training"
	"missingscore/internal/picture"
)

var last = claims.Measure{Column: "fisher_divergence"}

// report prints a density's table in Markdown: means over the replicates, with the half
// widths of their 95 % t-intervals. Ratios are taken within replicates.
func (s settings) report(density string, names []string, r cells.Results) error {
	fmt.Printf("| %s | after %d passes | of E‖s‖² | over Marg-IW's | least | at pass | draws that count | seconds | replicates |\n|%s\n", density, s.epochs, strings.Repeat(" --- |", 9))
	for _, name := range names {
		var end, relative, ratio, least, pass, size, seconds []float64
		for _, line := range r.Lines {
			if line[2] != name {
				continue
			}
			v := numbers(r, line)
			end, least, pass = append(end, v["fisher_divergence"]), append(least, v["least"]), append(pass, v["least_epoch"])
			relative = append(relative, v["fisher_divergence"]/v["score_size"])
			size, seconds = append(size, v["effective_size"]), append(seconds, v["seconds"])
			for _, other := range r.Lines {
				if other[1] == line[1] && other[2] == "iw" {
					ratio = append(ratio, v["fisher_divergence"]/numbers(r, other)["fisher_divergence"])
				}
			}
		}
		if len(end) == 0 {
			continue
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %.0f | %s | %.0f | %d |\n", picture.MethodTitle(name), markdown.Interval(end), markdown.Interval(relative), markdown.Interval(ratio), markdown.Interval(least),
			stat.Mean(pass, nil), markdown.MeanDraws(size), stat.Mean(seconds, nil), len(end))
	}
	fmt.Println()
	return nil
}

// numbers are a line's values by column, of a trace the last; NaN for none.
func numbers(r cells.Results, line []string) map[string]float64 {
	out := map[string]float64{}
	for i, text := range line[len(key):] {
		v := math.NaN()
		if trace := strings.Fields(text); len(trace) > 0 {
			if x, err := strconv.ParseFloat(trace[len(trace)-1], 64); err == nil {
				v = x
			}
		}
		out[r.Columns[len(key)+i]] = v
	}
	return out
}

// figures draws the error along training, and planes.
func (s settings) figures(ctx context.Context, density string, names []string, r cells.Results, first uint64) error {
	var at []float64
	for _, epoch := range training.Epochs(s.epochs) {
		at = append(at, float64(epoch))
	}
	series, err := r.Training(last, names)
	if err != nil {
		return err
	}
	p, err := figures.Bands("Fisher divergence along training: "+density, "epoch", "Fisher divergence", at, series)
	if err != nil {
		return err
	}
	if err := picture.Save(filepath.Join(s.out, density+"-fisher-divergence.svg"), p, 16*vg.Centimeter, 11*vg.Centimeter); err != nil {
		return err
	}
	return s.planes(ctx, density, names, first)
}
