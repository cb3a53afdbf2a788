package harness

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"missingscore/internal/atomicfile"
	"missingscore/internal/panics"
)

// Fill runs the cells without a line in the file path, appends their lines and returns all lines in
// the order of the cells. finished is told each cell's error and never called concurrently; a cell
// that fails does not stop the others. Fill fails if another run writes the file.
func Fill(ctx context.Context, path string, header []string, cells []Cell, workers int, finished func(c Cell, done, missing int, err error)) ([][]string, error) {
	lock := flock.New(path, flock.SetPermissions(0o666))
	if ours, err := lock.TryLock(); err != nil || !ours {
		return nil, errors.Join(err, fmt.Errorf("%s is being written by another run: wait until it ends, or choose another folder", path))
	}
	defer lock.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, whole, err := readLines(f, header)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil && whole == 0 {
		err = appendLine(f, header)
	}
	if err != nil {
		return nil, err
	}
	have := byKey(cells, lines)
	missing := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return have[c.Name()] != nil })
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // guards the file, have and done
	done := 0
	finish := func(c Cell, values []string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		line := slices.Concat(c.Key, values)
		if err == nil && len(line) != len(header) {
			err = fmt.Errorf("%d values for %d columns", len(values), len(header)-len(c.Key))
		}
		if err == nil {
			if err := appendLine(f, line); err != nil {
				stop(err)
			}
			have[c.Name()] = line
		}
		done++
		finished(c, done, len(missing), err)
	}
	free := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for _, c := range missing {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			var values []string
			err := panics.Caught(func() (err error) { values, err = c.Run(ctx); return err })
			if panicked, ok := errors.AsType[*panics.Error](err); ok {
				err = fmt.Errorf("%w\n%s", err, panicked.Stack)
			}
			finish(c, values, err)
			<-free
		})
	}
	wg.Wait()
	return inOrder(cells, have), context.Cause(ctx)
}

// readLines returns the complete lines of a results file without the header, and their length. It
// fails if the columns differ from header.
func readLines(f *os.File, header []string) (lines [][]string, whole int64, err error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, 0, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // a killed run leaves an incomplete line
	lines, err = csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if len(lines) == 0 {
		return nil, 0, nil
	}
	if !slices.Equal(lines[0], header) {
		return nil, 0, fmt.Errorf("%s has the columns %v, this run writes %v: choose another file", f.Name(), lines[0], header)
	}
	return lines[1:], int64(len(text)), nil
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

func WriteLines(path string, header []string, lines [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(slices.Insert(slices.Clone(lines), 0, header))
	})
}

func byKey(cells []Cell, lines [][]string) map[string][]string {
	have := map[string][]string{}
	for _, line := range lines {
		have[strings.Join(line[:len(cells[0].Key)], ",")] = line
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
