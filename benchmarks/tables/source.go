package tables

import (
	"context"
	"fmt"
	"sync"

	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/network"
)

// source describes the file of a real table and the part that is read.
type source struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Kind    string   `json:"kind"`    // "closing" or "returns" (long price tables with Kaggle's columns), or "expression"
	Names   []string `json:"names"`   // columns in this order; empty: all
	Present float64  `json:"present"` // least observed share of a column
	Rows    int      `json:"rows"`    // number of complete rows from the first; 0: all
	Note    string   `json:"note"`    // difference from the paper's table
}

// read returns the complete rows of the columns with enough observed cells.
func (f source) read(path string) (t *data.Table, err error) {
	columns, chosen := data.PriceColumns{Date: "date", Name: "Name", Price: "close"}, data.ReadOptions{Columns: f.Names}
	switch f.Kind {
	case "closing":
		t, err = data.ReadClosingPrices(path, columns, chosen)
	case "returns":
		t, err = data.ReadPrices(path, columns, chosen)
	case "expression":
		t, err = data.ReadCSV(path, chosen)
	default:
		return nil, fmt.Errorf("table %q has kind %q; choose closing, returns or expression", f.Name, f.Kind)
	}
	if err != nil {
		return nil, err
	}
	if t, err = data.Present(t, f.Present); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t, err = t.CompleteRows(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if 0 < f.Rows && f.Rows < t.N {
		return data.NewTable(t.Names, t.Values[:f.Rows*t.D], nil)
	}
	return t, nil
}

// open returns a table without reading its file.
func (s settings) open(from source) *table {
	return &table{source: from, path: harness.DataPath(s.Folder, from.File)}
}

// table is a real table. The first cell that needs it reads it and estimates its true networks.
type table struct {
	source
	path string

	mu       sync.Mutex
	complete *data.Table
	found    estimate // on the complete table, by ordinary score matching
	networks []network.Adjacency
}

// truths returns the complete table and, for each density, the nearest network of its path by ordinary
// score matching.
func (t *table) truths(ctx context.Context, s settings) (*data.Table, []network.Adjacency, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.networks != nil {
		return t.complete, t.networks, nil
	}
	complete, err := t.read(t.path)
	if err != nil {
		return nil, nil, err
	}
	found, err := s.estimate(ctx, complete, full, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("table %q, complete: %w", t.Name, err)
	}
	var networks []network.Adjacency
	for _, density := range s.Densities {
		truth, err := nearest(found.networks, density)
		if err != nil {
			return nil, nil, fmt.Errorf("table %q, complete: %w", t.Name, err)
		}
		networks = append(networks, truth)
	}
	t.complete, t.found, t.networks = complete, found, networks
	return complete, networks, nil
}
