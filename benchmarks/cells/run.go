package cells

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Hooks report the progress of a run. Each may be nil; calls do not overlap.
type Hooks struct {
	Progress func(done, total int)         // of the missing cells, from 0
	Failed   func(key []string, err error) // other cells still run
	Absent   func(key []string, err error) // the cell failed with ErrAbsent
}

// Run runs the cells without a line in the file path and appends their lines. It returns the lines of
// all finished cells in the order of the cells. A cell that fails or panics is reported to a hook and
// does not stop the run; a failed write does. Run truncates an incomplete last line first.
func Run(ctx context.Context, path string, header []string, cells []Cell, workers int, hooks Hooks) ([][]string, error) {
	if len(cells) == 0 {
		return nil, nil
	}
	if err := mend(path); err != nil {
		return nil, err
	}
	lines, err := ReadLines(path, header)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() == 0 {
		if err := appendLine(f, header); err != nil {
			return nil, err
		}
	}
	have := byKey(cells, lines)
	missing := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return have[c.Name()] != nil })
	if hooks.Progress != nil && len(missing) > 0 {
		hooks.Progress(0, len(missing))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &running{file: f, columns: len(header), total: len(missing), have: have, hooks: hooks, stop: stop}
	queue := make(chan Cell)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range queue {
				values, err := c.attempt(ctx)
				r.finish(ctx, c, values, err)
			}
		})
	}
	feed(ctx, queue, missing)
	wg.Wait()
	return inOrder(cells, have), context.Cause(ctx)
}

// feed sends the cells until the context ends.
func feed(ctx context.Context, queue chan<- Cell, cells []Cell) {
	defer close(queue)
	for _, c := range cells {
		select {
		case queue <- c:
		case <-ctx.Done():
			return
		}
	}
}

// running is shared by the workers of a run.
type running struct {
	file           *os.File
	columns, total int
	hooks          Hooks
	stop           context.CancelCauseFunc

	mu   sync.Mutex
	have map[string][]string
	done int
}

// finish writes a cell's line, or reports its error.
func (r *running) finish(ctx context.Context, c Cell, values []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := slices.Concat(c.Key, values)
	if err == nil && len(line) != r.columns {
		err = fmt.Errorf("%d values for %d columns", len(values), r.columns-len(c.Key))
	}
	if err != nil {
		hook := r.hooks.Failed
		if errors.Is(err, ErrAbsent) {
			hook = r.hooks.Absent
		}
		if ctx.Err() == nil && hook != nil {
			hook(c.Key, err)
		}
	} else if err := appendLine(r.file, line); err != nil {
		r.stop(err)
	} else {
		r.have[c.Name()] = line
	}
	if r.done++; ctx.Err() == nil && r.hooks.Progress != nil {
		r.hooks.Progress(r.done, r.total)
	}
}

// appendLine writes a line by one system call.
func appendLine(f *os.File, line []string) error {
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll([][]string{line}); err != nil {
		return err
	}
	_, err := f.Write(text.Bytes())
	return err
}
