package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"missingscore/benchmarks/cells"
)

// read reads a CSV file of whatever columns.
func read(path ...string) (cells.Results, error) {
	f, err := os.Open(filepath.Join(path...))
	if err != nil {
		return cells.Results{}, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return cells.Results{}, fmt.Errorf("%s: no lines, or %w", f.Name(), err)
	}
	return cells.Results{Columns: lines[0], Lines: lines[1:]}, nil
}

// where are conditions on columns: name, value, name, value, …
func where(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// values are a column of the chosen lines, by another one that tells them apart.
func values(r cells.Results, column, by string, of map[string]string) (map[string]float64, error) {
	chosen, err := r.Only(of)
	if err != nil {
		return nil, err
	}
	lines, err := chosen.Values(by, column)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, line := range lines {
		if out[line[0]], err = strconv.ParseFloat(line[1], 64); err != nil {
			return nil, fmt.Errorf("column %s: %w", column, err)
		}
	}
	return out, nil
}
