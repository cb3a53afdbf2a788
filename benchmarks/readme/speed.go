package main

import (
	"fmt"
	"strconv"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/markdown"
)

// contest is our time against PyTorch's in seconds, and the ratio with its range; it is
// missing where the setting was not measured.
type contest struct {
	ours, peer, ratio, low, high float64
	found                        bool
}

// contestOf reads a setting. Columns stand twice under the name "peer" in these files, so
// they are taken by their places from the end.
func contestOf(r cells.Results, of map[string]string) (c contest, err error) {
	chosen, err := r.Only(of)
	if err != nil || len(chosen.Lines) == 0 {
		return c, err
	}
	line := chosen.Lines[0]
	n := len(line)
	for at, to := range map[int]*float64{n - 9: &c.ours, n - 6: &c.peer, n - 3: &c.ratio, n - 2: &c.low, n - 1: &c.high} {
		if *to, err = strconv.ParseFloat(line[at], 64); err != nil {
			return c, err
		}
	}
	c.found = true
	return c, nil
}

// share is the ratio with its range; "–" where nothing was measured.
func (c contest) share() string {
	if !c.found {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", c.ratio, c.low, c.high)
}

func speedRatios(folder string) ([]markdown.Table, error) {
	r, err := read(folder, "speed", "results.csv")
	if err != nil {
		return nil, err
	}
	types := []string{"float64", "float32"}
	methods := []string{"variw", "iw", "em", "exact", "zeroed", "full"}
	first := markdown.Table{Name: "speed var", Header: []string{"experiment", "d", "`var` float64, ms ours / PyTorch", "ratio", "`var` float32, ms", "ratio"}}
	others := markdown.Table{Name: "speed others", Header: []string{"experiment", "d", "type"}}
	for _, m := range methods {
		others.Header = append(others.Header, "`"+m+"`")
	}
	for _, experiment := range []string{"normal", "quartic", "star"} {
		for _, d := range []string{"10", "50", "100"} {
			line := []string{experiment, d}
			for _, t := range types {
				c, err := contestOf(r, where("experiment", experiment, "d", d, "dtype", t, "method", "var"))
				if err != nil {
					return nil, err
				}
				line = append(line, fmt.Sprintf("%.3g / %.3g", 1e3*c.ours, 1e3*c.peer), c.share())
				other := []string{experiment, d, t}
				for _, m := range methods {
					c, err := contestOf(r, where("experiment", experiment, "d", d, "dtype", t, "method", m))
					if err != nil {
						return nil, err
					}
					other = append(other, c.share())
				}
				others.Lines = append(others.Lines, other)
			}
			first.Lines = append(first.Lines, line)
		}
	}
	return []markdown.Table{first, others}, nil
}

func speedPaths(folder string) ([]markdown.Table, error) {
	r, err := read(folder, "speed", "paths.csv")
	if err != nil {
		return nil, err
	}
	t := markdown.Table{Name: "speed paths", Header: []string{"d = 50, n = 1000", "ours, s", "PyTorch, s", "ratio"}}
	for _, m := range []string{"var", "variw", "iw", "em", "exact", "full", "zeroed"} {
		c, err := contestOf(r, where("method", m))
		if err != nil {
			return nil, err
		}
		t.Lines = append(t.Lines, []string{"`" + m + "`", fmt.Sprintf("%#.3g", c.ours), fmt.Sprintf("%#.3g", c.peer), fmt.Sprintf("%.2f", c.ratio)})
	}
	return []markdown.Table{t}, nil
}

// speedCurves have a line for each value of what varies: milliseconds, in brackets those
// of the matrix products alone, and megabytes.
func speedCurves(folder string) (out []markdown.Table, err error) {
	r, err := read(folder, "speed", "curves.csv")
	if err != nil {
		return nil, err
	}
	for _, c := range [][2]string{{"d", "columns"}, {"batch", "rows in a batch"}, {"r", "imputations per row"}, {"n", "rows of the table"}} {
		t, err := curve(r, c[0], c[1])
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// curve is the table of one thing that varies: a column, in words.
func curve(r cells.Results, column, title string) (markdown.Table, error) {
	t := markdown.Table{Name: "speed curve " + column, Header: []string{title}}
	for _, m := range []string{"var", "iw", "exact"} {
		for _, dtype := range []string{"float64", "float32"} {
			t.Header = append(t.Header, m+" "+dtype+", ms", "MB")
		}
	}
	chosen, err := r.Only(where("curve", column))
	if err != nil {
		return t, err
	}
	places, err := chosen.Distinct(column)
	if err != nil {
		return t, err
	}
	for _, place := range places {
		line := []string{place}
		for _, m := range []string{"var", "iw", "exact"} {
			for _, dtype := range []string{"float64", "float32"} {
				of, err := chosen.Only(where(column, place, "method", m, "dtype", dtype))
				if err != nil {
					return t, err
				}
				both, err := timeAndMemory(of)
				if err != nil {
					return t, err
				}
				line = append(line, both...)
			}
		}
		t.Lines = append(t.Lines, line)
	}
	return t, nil
}

// timeAndMemory are those of one setting; "–" where it was not measured.
func timeAndMemory(r cells.Results) ([]string, error) {
	texts, err := r.Values("median", "floor", "peak_kilobytes")
	if err != nil || len(texts) == 0 {
		return []string{"–", "–"}, err
	}
	var v [3]float64
	for i, text := range texts[0] {
		if v[i], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, err
		}
	}
	time := fmt.Sprintf("%.3g", 1e3*v[0])
	if v[1] > 0 {
		time += fmt.Sprintf(" (%.3g)", 1e3*v[1])
	}
	return []string{time, fmt.Sprintf("%.0f", v[2]/1024)}, nil
}
