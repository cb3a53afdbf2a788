// Package calibration ranks true values among draws of every sampler and source, of those that
// are said to draw from the law itself and of those with an error that goes by a size
// (trainers/calibration), many times.
package calibration

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/harness"
	"missingscore/trainers/calibration"
)

//go:embed config.json
var config []byte

// Experiment has a cell for each case and replicate.
var Experiment = harness.Experiment{
	Name: "calibration", Title: "Ranks of true values among draws", Source: "benchmarks/calibration/README.md",
	Settings: config, Grid: grid, Figures: draw, Tables: tables, Claims: statements,
}

// settings are one size of config.json; the cases are those of trainers/calibration.
type settings struct {
	Replicates int      `json:"replicates"`
	Rows       int      `json:"rows"` // true values of a cell, fewer of a case of some cost
	Ours       []string `json:"ours"`
}

const (
	commandColumn = "command"
	modelColumn   = "model"
	ranksColumn   = "ranks" // how often each of 0 to calibration.Draws came
)

func decode(text json.RawMessage) (s settings, err error) {
	err = harness.Decode(text, &s)
	return s, cmp.Or(err, harness.CheckAtLeast(2, "rows", s.Rows))
}

func grid(text json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := decode(text)
	if err != nil {
		return cells.Grid{}, err
	}
	g := cells.Grid{Key: []string{commandColumn, modelColumn, "replicate", "method"}, Value: []string{ranksColumn}}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, c := range all() {
			g.Cells = append(g.Cells, cells.Cell{
				Key: []string{c.Command, c.Model, strconv.Itoa(replicate), c.Way()},
				Run: func(ctx context.Context) ([]string, error) {
					ranks, err := c.Ranks(ctx, s.Rows, uint64(replicate))
					if err != nil {
						return nil, err
					}
					return []string{strings.Trim(fmt.Sprint(calibration.Counts(ranks)), "[]")}, nil
				},
			})
		}
	}
	return g, nil
}

// all are the cases, those of approximations and those that are wrong.
func all() []calibration.Case {
	list := slices.Clone(calibration.Cases)
	for _, a := range approximations() {
		list = append(list, a.Cases...)
	}
	return list
}

// approximations are those, and at the end what is wrong at every size.
func approximations() []calibration.Approximation {
	return append(slices.Clone(calibration.Approximations), calibration.Approximation{Error: "parameters held at their estimate: does not vanish", Cases: calibration.Wrong})
}

// read gives how often each rank of a case came, by replicate.
func read(r cells.Results, c calibration.Case) (counts [][]int, err error) {
	of, err := r.Only(map[string]string{commandColumn: c.Command, modelColumn: c.Model, "method": c.Way()})
	if err != nil {
		return nil, err
	}
	lines, err := of.Values(ranksColumn)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if line[0] == "-" { // the cell failed
			continue
		}
		var one []int
		for word := range strings.FieldsSeq(line[0]) {
			n, err := strconv.Atoi(word)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name(), err)
			}
			one = append(one, n)
		}
		if len(one) != calibration.Draws+1 {
			return nil, fmt.Errorf("%s: a line counts %d ranks, not %d", c.Name(), len(one), calibration.Draws+1)
		}
		counts = append(counts, one)
	}
	return counts, nil
}

// together are the counts of all replicates.
func together(counts [][]int) (sum []int) {
	for _, one := range counts {
		if sum == nil {
			sum = slices.Clone(one)
			continue
		}
		for k, n := range one {
			sum[k] += n
		}
	}
	return sum
}

func total(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
