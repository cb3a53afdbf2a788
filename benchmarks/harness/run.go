package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"missingscore/benchmarks/cells"
)

// Run runs the missing cells and writes Out/NAME/cells.csv; results do not depend on interruptions
// or workers. Failed cells are logged and counted. Settings and folders are checked first.
func Run(ctx context.Context, experiments []Experiment, o Options) (failed int, err error) {
	if o.Config != nil && len(experiments) != 1 {
		return 0, errors.New("--config needs exactly one experiment")
	}
	if o.Workers == 0 {
		o.Workers = runtime.NumCPU()
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	var plan []planned
	for _, e := range experiments {
		p, err := o.plan(e)
		if errors.Is(err, cells.ErrAbsent) && len(experiments) > 1 {
			fmt.Fprintf(o.Log, "%s is skipped: %v\n", e.Name, err)
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", e.Name, err)
		}
		plan = append(plan, p)
	}
	for _, p := range plan {
		for _, note := range p.grid.Notes {
			fmt.Fprintf(o.Log, "%s, %s\n", p.manifest.Experiment, note)
		}
		n, err := o.cells(ctx, p)
		failed += n
		if err != nil {
			return failed, fmt.Errorf("%s: %w", p.manifest.Experiment, err)
		}
	}
	return failed, nil
}

type planned struct {
	manifest manifest
	grid     cells.Grid
	cells    []cells.Cell // the shard, or the one cell
	dir      string
}

func (o Options) plan(e Experiment) (planned, error) {
	m, err := newManifest(e, o)
	if err != nil {
		return planned{}, err
	}
	grid, err := m.grid(e)
	if err == nil && grid.Present != nil {
		err = grid.Present()
	}
	if err != nil {
		return planned{}, err
	}
	p := planned{manifest: m, grid: grid, dir: filepath.Join(o.Out, e.Name)}
	if p.cells, err = o.part(grid.Cells); err != nil {
		return planned{}, err
	}
	before, err := readManifest(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return planned{}, err
	default:
		p.manifest.Replicates = max(p.manifest.Replicates, before.Replicates)
		err = before.same(m, p.dir)
		return p, err
	}
	return p, nil
}

func (o Options) part(all []cells.Cell) (out []cells.Cell, err error) {
	if o.Cell != "" {
		for _, c := range all {
			if c.Name() == o.Cell {
				return []cells.Cell{c}, nil
			}
		}
		return nil, fmt.Errorf("there is no cell %s; the first is %s", o.Cell, all[0].Name())
	}
	if o.Shards == 0 {
		return all, nil
	}
	for i := o.Shard - 1; i < len(all); i += o.Shards {
		out = append(out, all[i])
	}
	return out, nil
}

func (o Options) cells(ctx context.Context, p planned) (failed int, err error) {
	file := "cells.csv"
	if o.Shards > 0 {
		file = fmt.Sprintf("cells-%d-of-%d.csv", o.Shard, o.Shards)
	}
	path, header := filepath.Join(p.dir, file), p.grid.Columns()
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return 0, err
	}
	lock, err := cells.Lock(path)
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	if err := p.manifest.write(p.dir); err != nil {
		return 0, err
	}
	name, absent := p.manifest.Experiment, false
	hooks := cells.Hooks{
		Failed: func(key []string, err error) {
			failed++
			fmt.Fprintf(o.Log, "%s, replicate %s failed: %v\n  again: --cell '%s'\n", name, key[slices.Index(p.grid.Key, replicateColumn)], err, strings.Join(key, ","))
		},
		Absent: func(key []string, err error) {
			if !absent {
				fmt.Fprintf(o.Log, "%s, %s and similar cells are skipped: %v\n", name, strings.Join(key, ","), err)
			}
			absent = true
		},
	}
	if o.Progress != nil {
		hooks.Progress = func(done, total int) { o.Progress(name, done, total) }
	}
	_, err = cells.Run(ctx, path, header, p.cells, o.Workers, hooks)
	return failed, err
}
