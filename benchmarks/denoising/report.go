package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks"
	"missingscore/data"
	"missingscore/internal/picture"
)

// report prints the table in Markdown: means over the replicates with the half widths
// of their 95 % t-intervals.
func report(names []string, r benchmarks.Results) error {
	fmt.Print("| | KS of a column | worst KS | correlation error | energy distance of two columns | of the rows | draws that count | seconds |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, name := range names {
		column := map[string][]float64{}
		for _, c := range value {
			series, err := r.Training(benchmarks.Measure{Column: c}, []string{name})
			if err != nil {
				return err
			}
			if len(series[0].Values) > 0 {
				column[c] = series[0].Values[0]
			}
		}
		if len(column["ks"]) == 0 {
			continue
		}
		fmt.Printf("| %s |", picture.MethodTitle(name))
		for _, c := range []string{"ks", "worst_ks", "correlation", "pairs", "energy_distance"} {
			fmt.Printf(" %s |", interval(column[c]))
		}
		fmt.Printf(" %.1f | %.0f |\n", stat.Mean(column["effective_size"], nil), stat.Mean(column["seconds"], nil))
	}
	return nil
}

func interval(x []float64) string {
	if len(x) == 1 {
		return fmt.Sprintf("%.3g", x[0])
	}
	mean, half := benchmarks.MeanInterval(x)
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

// drawnPairs are the columns whose joint distribution is drawn.
var drawnPairs = [][2]string{{"raf", "mek"}, {"erk", "akt"}, {"pkc", "p38"}}

// picture draws rows of the first replicate.
func (s settings) picture(names []string, first uint64) error {
	var planes []picture.Plane
	_, held, _, err := s.split(first)
	if err != nil {
		return err
	}
	_, units := data.Standardise(held)
	for _, pair := range drawnPairs {
		if !slices.Contains(s.columns, pair[0]) || !slices.Contains(s.columns, pair[1]) {
			continue
		}
		j, k := slices.Index(s.columns, pair[0]), slices.Index(s.columns, pair[1])
		for _, name := range names {
			t, title := held, "held out"
			if name != "floor" {
				if t, err = data.ReadCSV(s.path(name), data.ReadOptions{}); err != nil {
					return err
				}
				title = picture.MethodTitle(name)
			}
			x := standardised(t, units)
			var points []float64
			for i := range min(t.N, 500) {
				points = append(points, x.At(i, j), x.At(i, k))
			}
			planes = append(planes, picture.Plane{Title: fmt.Sprintf("%s: %s, %s", title, pair[0], pair[1]), Points: points})
		}
	}
	p, err := picture.Planes("Two columns of 500 rows, standardised", planes, len(names), 0, 0, 8, 1)
	if err != nil {
		return err
	}
	return picture.Save(filepath.Join(s.out, "pairs.svg"), p, vg.Length(len(names))*3.2*vg.Centimeter, vg.Length(len(drawnPairs))*4*vg.Centimeter)
}
