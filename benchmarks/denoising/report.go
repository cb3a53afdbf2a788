package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/markdown"
	"missingscore/data"
	"missingscore/internal/picture"
)

// report prints the table in Markdown: means over the replicates with the half widths
// of their 95 % t-intervals. Differences are taken within replicates.
func report(names []string, r cells.Results) error {
	fmt.Printf("| | KS of a column | worst KS | correlation error | energy distance of two columns | of the rows | less Marg-IW's: KS | correlation error | energy distance | draws that count | seconds | replicates |\n|%s\n", strings.Repeat(" --- |", 12))
	for _, name := range names {
		of := map[string]map[string]float64{} // column, replicate
		for _, c := range value {
			var err error
			if of[c], err = numbers(r, c, name); err != nil {
				return err
			}
		}
		if len(of["ks"]) == 0 {
			continue
		}
		fmt.Printf("| %s |", picture.MethodTitle(name))
		for _, c := range []string{"ks", "worst_ks", "correlation", "pairs", "energy_distance"} {
			fmt.Printf(" %s |", markdown.Interval(slices.Collect(maps.Values(of[c]))))
		}
		for _, c := range []string{"ks", "correlation", "energy_distance"} {
			base, err := numbers(r, c, "iw")
			if err != nil {
				return err
			}
			var gaps []float64
			for replicate, v := range of[c] {
				if other, ok := base[replicate]; ok && name != "iw" {
					gaps = append(gaps, v-other)
				}
			}
			fmt.Printf(" %s |", markdown.Interval(gaps))
		}
		fmt.Printf(" %s | %.0f | %d |\n", markdown.MeanDraws(slices.Collect(maps.Values(of["effective_size"]))), stat.Mean(slices.Collect(maps.Values(of["seconds"])), nil), len(of["ks"]))
	}
	return nil
}

// numbers are a method's by replicate; NaN for none.
func numbers(r cells.Results, column, method string) (map[string]float64, error) {
	out := map[string]float64{}
	at := slices.Index(r.Columns, column)
	for _, line := range r.Lines {
		if line[1] != method {
			continue
		}
		v := math.NaN()
		if line[at] != "-" {
			var err error
			if v, err = strconv.ParseFloat(line[at], 64); err != nil {
				return nil, err
			}
		}
		out[line[0]] = v
	}
	return out, nil
}

// What is drawn: rows of these methods in two pairs of columns.
var (
	drawnMethods = []string{"floor", "full", "iw", "var", "missdiff", "gaussian"}
	drawnPairs   = [][2]string{{"raf", "mek"}, {"pkc", "p38"}}
)

const drawnRows = 250

// picture draws rows of the first replicate, as far as they are there.
func (s settings) picture(first uint64) error {
	_, held, _, err := s.split(first)
	if err != nil {
		return err
	}
	_, units := data.Standardise(held)
	var planes []picture.Plane
	perRow := 0
	for _, pair := range drawnPairs {
		j, k := slices.Index(s.columns, pair[0]), slices.Index(s.columns, pair[1])
		if j < 0 || k < 0 {
			continue
		}
		before := len(planes)
		for _, name := range drawnMethods {
			t, title := held, "held out"
			if name != "floor" {
				title = picture.MethodTitle(name)
				t, err = data.ReadCSV(s.path(name), data.ReadOptions{})
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return err
				}
			}
			x := standardised(t, units)
			var points []float64
			for i := range min(t.N, drawnRows) {
				points = append(points, x.At(i, j), x.At(i, k))
			}
			planes = append(planes, picture.Plane{Title: title, Points: points})
		}
		perRow = len(planes) - before
	}
	if perRow == 0 {
		return nil
	}
	p, err := picture.Planes("Rows held out and drawn: "+pairTitles(), planes, perRow, 0, 0, 7, 1)
	if err != nil {
		return err
	}
	return picture.Save(filepath.Join(s.out, "pairs.svg"), p, vg.Length(perRow)*3.2*vg.Centimeter, 9*vg.Centimeter)
}

func pairTitles() string {
	var out []string
	for _, pair := range drawnPairs {
		out = append(out, pair[1]+" over "+pair[0])
	}
	return strings.Join(out, ", below ")
}
