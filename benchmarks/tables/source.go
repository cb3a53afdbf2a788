package tables

import (
	"missingscore/benchmarks/harness"

	"context"
	"fmt"
	"sync"

	"missingscore/data"
	"missingscore/data/network"
)

// source is where a complete table comes from.
type source struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Kind    string   `json:"kind"`    // "closing", "returns" (of long price tables, Kaggle's columns) or "expression"
	Names   []string `json:"names"`   // columns to read, in this order; empty: all
	Present float64  `json:"present"` // share of the rows in which a column must be observed
	Rows    int      `json:"rows"`    // the first so many complete rows; 0: all
	Note    string   `json:"note"`    // how it differs from the paper's table
}

// read gives the complete rows.
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
		return nil, fmt.Errorf("table %q is of kind %q; kinds are closing, returns, expression", f.Name, f.Kind)
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

// open names the file of a table, which is read when it is needed.
func (s settings) open(from source) *table {
	return &table{source: from, path: harness.DataPath(s.Folder, from.File)}
}

// table is read, and its true networks found, by the first cell that needs them.
type table struct {
	source
	path string

	mu       sync.Mutex
	complete *data.Table
	found    estimate // on it, by ordinary score matching
	networks []network.Adjacency
}

// truths are the complete table and, for each of the densities, the network on its
// path by ordinary score matching that comes nearest.
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
