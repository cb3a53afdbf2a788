package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/markdown"
	"missingscore/benchmarks/reproduce"
)

const secondsColumn, pathColumn = "seconds", "path_seconds"

// coreHours is what the committed cells have cost: the sum of their seconds where they store
// them, and else an estimate, seconds of a cell of each method (seconds.csv) times their number.
func coreHours(folder string) (markdown.Table, error) {
	t := markdown.Table{Name: "core hours", Header: []string{"experiment", "cells", "core-hours", "how"}}
	prices, err := readPrices(folder)
	if err != nil {
		return t, err
	}
	sum := map[bool]float64{}
	for _, e := range reproduce.Experiments {
		l, err := harness.Load(e, filepath.Join(folder, "results"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", e.Name, err)
		}
		stored, how := slices.Contains(l.Results.Columns, secondsColumn), "estimate"
		cost := prices.estimate
		if stored {
			cost, how = storedSeconds, "stored"
		}
		seconds, err := cost(e.Name, l.Results)
		if err != nil {
			return t, fmt.Errorf("%s: %w", e.Name, err)
		}
		sum[stored] += seconds
		t.Lines = append(t.Lines, []string{"`" + e.Name + "`", strconv.Itoa(len(l.Results.Lines)), hours(seconds), how})
	}
	t.Lines = append(t.Lines, []string{"all that store seconds", "", hours(sum[true]), "stored"}, []string{"all others", "", hours(sum[false]), "estimate"},
		[]string{"**together**", "", "**" + hours(sum[true]+sum[false]) + "**", "about"})
	return t, nil
}

func hours(seconds float64) string { return fmt.Sprintf("%.2f", seconds/3600) }

// storedSeconds sums those of the cells. A path is told by each of the cells that shared it, and
// counts once.
func storedSeconds(_ string, r cells.Results) (sum float64, err error) {
	at, err := r.Column(secondsColumn)
	if err != nil {
		return 0, err
	}
	method, err := r.Column("method")
	if err != nil {
		return 0, err
	}
	path := slices.Index(r.Columns, pathColumn)
	paths := map[string]bool{}
	for _, line := range r.Lines {
		columns := []int{at}
		if table := strings.Join(line[:method], "\x00"); path >= 0 && !paths[table] {
			paths[table] = true
			columns = append(columns, path)
		}
		for _, k := range columns {
			v, err := strconv.ParseFloat(line[k], 64)
			if err != nil {
				return 0, fmt.Errorf("column %s: %w", r.Columns[k], err)
			}
			sum += v
		}
	}
	return sum, nil
}

// prices are seconds of a cell, by experiment and method; "" are all methods that are not named.
type prices map[[2]string]float64

// readPrices reads seconds.csv, whose lines may have several experiments, between spaces, and
// several methods, between semicolons.
func readPrices(folder string) (prices, error) {
	r, err := read(folder, "seconds.csv")
	if err != nil {
		return nil, err
	}
	lines, err := r.Values("experiments", "methods", secondsColumn)
	if err != nil {
		return nil, err
	}
	p := prices{}
	for _, line := range lines {
		seconds, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			return nil, fmt.Errorf("seconds.csv: %w", err)
		}
		for _, experiment := range strings.Fields(line[0]) {
			for _, method := range strings.Split(line[1], "; ") {
				key := [2]string{experiment, method}
				if _, twice := p[key]; twice {
					return nil, fmt.Errorf("seconds.csv: %s, %q stands there twice", experiment, method)
				}
				p[key] = seconds
			}
		}
	}
	return p, nil
}

// estimate is the sum over the cells.
func (p prices) estimate(experiment string, r cells.Results) (sum float64, err error) {
	method, err := r.Column("method")
	if err != nil {
		return 0, err
	}
	for _, line := range r.Lines {
		seconds, ok := p[[2]string{experiment, line[method]}]
		if !ok {
			seconds, ok = p[[2]string{experiment, ""}]
		}
		if !ok {
			return 0, fmt.Errorf("seconds.csv has no seconds of a cell of %s", line[method])
		}
		sum += seconds
	}
	return sum, nil
}
