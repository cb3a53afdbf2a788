// Package benchmarks is what the experiments of the paper have in common: grids of
// cells whose every finished one is a line of a CSV file, so that a run that is cut and
// started again does only what is missing; numbers along training; and the tests of
// the paper's sentences.
package benchmarks

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/internal/atomicfile"
	"missingscore/internal/panics"
)

// Cell is one run of a grid: Key names it, Run gives its numbers.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Name is the key in one word, as --cell takes it.
func (c Cell) Name() string { return strings.Join(c.Key, ",") }

// Hooks are told how a run goes; each may be nil. They are called one at a time.
type Hooks struct {
	Progress func(done, total int)         // of the cells that were missing; first 0
	Failed   func(key []string, err error) // a cell that failed; the rest goes on
}

// Check refuses a grid without cells, and one with two cells of one key, whose lines could
// not be told apart.
func (g Grid) Check() error {
	if len(g.Cells) == 0 {
		return errors.New("there are no cells: a list that they are made of is empty")
	}
	seen := map[string]bool{}
	for _, c := range g.Cells {
		if seen[c.Name()] {
			return fmt.Errorf("two cells are called %s (%s): give methods a \"name\" each to tell them apart, and name nothing twice", c.Name(), strings.Join(g.Key, ","))
		}
		seen[c.Name()] = true
	}
	return nil
}

// InTurn runs what is missing of a grid one cell after another, into the file path, and
// logs what fails.
func (g Grid) InTurn(ctx context.Context, path string) (Results, error) {
	r := Results{Columns: slices.Concat(g.Key, g.Value)}
	if err := g.Check(); err != nil {
		return r, err
	}
	f, err := Lock(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	r.Lines, err = Run(ctx, path, r.Columns, g.Cells, 1, Hooks{
		Failed: func(key []string, err error) { log.Printf("%s: %v", strings.Join(key, ", "), err) },
	})
	return r, err
}

// Run appends to path what is missing of the cells, on so many workers, and
// returns the finished ones' lines in the order of the cells. A cell that fails or
// panics is told to the hook and does not stop the rest; a line that cannot be
// written does. A line torn by a crash is cut off first.
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
	write := func(line []string) error {
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll([][]string{line}); err != nil {
			return err
		}
		_, err := f.Write(text.Bytes()) // one call: whole or not at all
		return err
	}
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() == 0 {
		if err := write(header); err != nil {
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
	queue := make(chan Cell)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range workers {
		wg.Go(func() {
			for c := range queue {
				values, err := c.attempt(ctx)
				mu.Lock()
				line := slices.Concat(c.Key, values)
				switch {
				case err == nil && len(line) != len(header):
					err = fmt.Errorf("it gave %d numbers for %d columns", len(values), len(header)-len(c.Key))
					fallthrough
				case err != nil:
					if ctx.Err() == nil && hooks.Failed != nil {
						hooks.Failed(c.Key, err)
					}
				default:
					if err := write(line); err != nil {
						stop(err)
						break
					}
					have[c.Name()] = line
				}
				if done++; ctx.Err() == nil && hooks.Progress != nil {
					hooks.Progress(done, len(missing))
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range missing {
		select {
		case queue <- c:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wg.Wait()
	return inOrder(cells, have), context.Cause(ctx)
}

// attempt runs the cell; a panic must not lose the rest.
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

// Select are the lines of cells in their order, out of those in any order; the first
// line of a cell counts.
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

// mend cuts off a last line without its end, which a killed run leaves behind.
func mend(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := whole(text); n < len(text) {
		return os.Truncate(path, int64(n))
	}
	return nil
}

// whole is the length of the lines that have their ends.
func whole(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }

// ReadLines are the whole lines of a results file; none if it does not exist. It
// fails if its columns are others.
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

// WriteLines writes a results file, whole or not at all.
func WriteLines(path string, header []string, lines [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(slices.Insert(slices.Clone(lines), 0, header))
	})
}

// MeanInterval is the mean and the half width of its 95 % t-interval.
func MeanInterval(x []float64) (mean, half float64) { return meanInterval(x, 0.95) }

func meanInterval(x []float64, level float64) (mean, half float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	return mean, t.Quantile((1+level)/2) * stat.StdErr(sd, n)
}

// Interval shows a mean with the half width of its 95 % t-interval; the number itself
// where there is one only, nothing where there is none.
func Interval(x []float64) string {
	switch len(x) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.3g", x[0])
	}
	mean, half := MeanInterval(x)
	return fmt.Sprintf("%.3g ± %.2g", mean, half)
}

// MeanDraws shows the mean effective number of draws; nothing where a method makes none.
func MeanDraws(x []float64) string {
	if mean := stat.Mean(x, nil); !math.IsNaN(mean) {
		return fmt.Sprintf("%.1f", mean)
	}
	return ""
}
