// Package benchmarks runs grids of experiments whose every finished cell is one
// line of a CSV file: stopped and started again it does only what is missing.
package benchmarks

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Cell is one run of a grid: Key names it, Run gives its numbers.
type Cell struct {
	Key []string
	Run func(context.Context) ([]string, error)
}

// Run appends to path what is missing of the cells, on so many workers, and
// returns all lines of the file in the order of the cells. A cell that fails is
// reported to failed and does not stop the rest.
func Run(ctx context.Context, path string, header []string, cells []Cell, workers int, failed func(key []string, err error)) ([][]string, error) {
	done, err := read(path, header)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var mu sync.Mutex
	write := func(record []string) error {
		_, err := f.WriteString(strings.Join(record, ",") + "\n") // one write: whole or not at all
		return err
	}
	if len(done) == 0 {
		if info, err := f.Stat(); err != nil {
			return nil, err
		} else if info.Size() == 0 {
			if err := write(header); err != nil {
				return nil, err
			}
		}
	}
	key := func(k []string) string { return strings.Join(k, ",") }
	have := map[string][]string{}
	for _, record := range done {
		have[key(record[:len(cells[0].Key)])] = record
	}
	queue := make(chan Cell)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range queue {
				values, err := c.Run(ctx)
				mu.Lock()
				if err == nil {
					record := slices.Concat(c.Key, values)
					if err = write(record); err == nil {
						have[key(c.Key)] = record
					}
				}
				if err != nil && ctx.Err() == nil {
					failed(c.Key, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range cells {
		mu.Lock()
		_, ok := have[key(c.Key)]
		mu.Unlock()
		if !ok && ctx.Err() == nil {
			queue <- c
		}
	}
	close(queue)
	wg.Wait()
	var out [][]string
	for _, c := range cells {
		if record, ok := have[key(c.Key)]; ok {
			out = append(out, record)
		}
	}
	return out, ctx.Err()
}

func read(path string, header []string) ([][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 {
		return nil, nil
	}
	if !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("%s has the columns %v, this run writes %v: choose another file", path, records[0], header)
	}
	return records[1:], nil
}

// MeanInterval is the mean and the half width of its 95 % t-interval.
func MeanInterval(x []float64) (mean, half float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	return mean, t.Quantile(0.975) * stat.StdErr(sd, n)
}
