// Package cells runs grids of cells. Each finished cell is a line of a CSV file, so a restarted run
// computes only missing cells.
package cells

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"missingscore/internal/atomicfile"
	"missingscore/internal/panics"
)

// ErrAbsent: the table or program of a cell is not installed; other cells still run.
var ErrAbsent = errors.New("not found")

// Cell is one run of a grid. Key identifies it; Run returns the value columns and may be called
// concurrently with other cells.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Name is the key as --cell takes it.
func (c Cell) Name() string { return strings.Join(c.Key, ",") }

// attempt turns a panic into an error.
func (c Cell) attempt(ctx context.Context) (values []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = panics.Caught(func() (err error) { values, err = c.Run(ctx); return err })
	var panicked *panics.Error
	if errors.As(err, &panicked) {
		err = fmt.Errorf("%w\n%s", err, panicked.Stack)
	}
	return values, err
}

type Grid struct {
	Key, Value []string // column names
	Cells      []Cell
	Present    func() error // ErrAbsent if the data of all cells is missing; may be nil
	Notes      []string     // printed before a run
}

func (g Grid) Columns() []string { return slices.Concat(g.Key, g.Value) }

func (g Grid) Check() error {
	if len(g.Cells) == 0 {
		return errors.New("there are no cells: a list of settings is empty")
	}
	seen := map[string]bool{}
	for _, c := range g.Cells {
		if seen[c.Name()] {
			return fmt.Errorf("two cells are called %s (%s): give each method its own \"name\" and list no value twice", c.Name(), strings.Join(g.Key, ","))
		}
		seen[c.Name()] = true
	}
	return nil
}

// ReadLines returns the lines of a results file without its header and an incomplete last line. A
// missing file has none. It fails if the columns differ from header.
func ReadLines(path string, header []string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text[:whole(text)])).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("%s has the columns %v, this run writes %v: choose another file", path, lines[0], header)
	}
	return lines[1:], nil
}

func WriteLines(path string, header []string, lines [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(slices.Insert(slices.Clone(lines), 0, header))
	})
}

// whole returns the length of the complete lines.
func whole(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }

// Lock fails if another run holds the lock.
func Lock(path string) (*flock.Flock, error) {
	f := flock.New(path, flock.SetPermissions(0o666))
	ours, err := f.TryLock()
	if err == nil && !ours {
		err = fmt.Errorf("%s is being written by another run: wait until it ends, or choose another folder", path)
	}
	return f, err
}

type Results struct {
	Columns []string
	Lines   [][]string
}

func (r Results) Column(name string) (int, error) {
	if i := slices.Index(r.Columns, name); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("there is no column %q among %s", name, strings.Join(r.Columns, ", "))
}

func (r Results) Distinct(column string) ([]string, error) {
	i, err := r.Column(column)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range r.Lines {
		if !slices.Contains(out, line[i]) {
			out = append(out, line[i])
		}
	}
	return out, nil
}

// Select returns lines in the order of the cells; the first of several lines counts.
func Select(cells []Cell, lines [][]string) [][]string { return inOrder(cells, byKey(cells, lines)) }

func byKey(cells []Cell, lines [][]string) map[string][]string {
	have := map[string][]string{}
	for _, line := range lines {
		key := strings.Join(line[:len(cells[0].Key)], ",")
		if have[key] == nil {
			have[key] = line
		}
	}
	return have
}

func inOrder(cells []Cell, have map[string][]string) (out [][]string) {
	for _, c := range cells {
		if line := have[c.Name()]; line != nil {
			out = append(out, line)
		}
	}
	return out
}

// Hooks may be nil; calls do not overlap.
type Hooks struct {
	Progress func(done, total int)         // of the missing cells, from 0
	Failed   func(key []string, err error) // other cells still run
	Absent   func(key []string, err error) // the cell failed with ErrAbsent
}

// Run runs the cells without a line in the file path, appends their lines and returns all in the
// order of the cells. Failed cells are reported to a hook and do not stop the run.
func Run(ctx context.Context, path string, header []string, cells []Cell, workers int, hooks Hooks) ([][]string, error) {
	if len(cells) == 0 {
		return nil, nil
	}
	f, lines, err := open(path, header)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	have := byKey(cells, lines)
	missing := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return have[c.Name()] != nil })
	if hooks.Progress != nil && len(missing) > 0 {
		hooks.Progress(0, len(missing))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // guards the file, have, done and the hooks
	done := 0
	finish := func(c Cell, values []string, err error) {
		mu.Lock()
		defer mu.Unlock()
		line := slices.Concat(c.Key, values)
		if err == nil && len(line) != len(header) {
			err = fmt.Errorf("%d values for %d columns", len(values), len(header)-len(c.Key))
		}
		if err != nil {
			hook := hooks.Failed
			if errors.Is(err, ErrAbsent) {
				hook = hooks.Absent
			}
			if ctx.Err() == nil && hook != nil {
				hook(c.Key, err)
			}
		} else if err := appendLine(f, line); err != nil {
			stop(err)
		} else {
			have[c.Name()] = line
		}
		if done++; ctx.Err() == nil && hooks.Progress != nil {
			hooks.Progress(done, len(missing))
		}
	}
	free := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for _, c := range missing {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			values, err := c.attempt(ctx)
			finish(c, values, err)
			<-free
		})
	}
	wg.Wait()
	return inOrder(cells, have), context.Cause(ctx)
}

// open truncates an incomplete last line, which a killed run leaves.
func open(path string, header []string) (f *os.File, lines [][]string, err error) {
	if lines, err = ReadLines(path, header); err != nil {
		return nil, nil, err
	}
	if f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(f)
	if err == nil {
		err = f.Truncate(int64(whole(text)))
	}
	if err == nil && whole(text) == 0 {
		err = appendLine(f, header)
	}
	if err != nil {
		f.Close()
	}
	return f, lines, err
}

// By one system call.
func appendLine(f *os.File, line []string) error {
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll([][]string{line}); err != nil {
		return err
	}
	_, err := f.Write(text.Bytes())
	return err
}
