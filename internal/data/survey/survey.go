// Package survey computes summaries of a file's table in passes over its rows.
//
//	Take     a pass over the rows: columns, pairs, a checksum, a sample of the rows
//	Columns  a pass over transformed rows: sums of columns
//	Held     selection of held-out rows
package survey

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"

	"missingscore/data"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
)

// Survey summarises a file's table.
type Survey struct {
	Columns []data.ColumnSums
	Before  []int       // number of rows with a value before each block of the file
	Sample  *data.Table // of rows drawn from all, with Sampled. Its checksum does not depend on the file format
}

type Options struct {
	Seed     uint64
	Workers  int                    // blocks read in parallel; results do not depend on it
	Progress func(read, size int64) // as in ReadOptions, of one pass; may be nil
}

// Take fails where NewTable would fail for the whole table, and if a column is constant in the sample.
func Take(ctx context.Context, f *data.RowFile, o Options) (*Survey, error) {
	d := len(f.Names)
	s := &Survey{Columns: make([]data.ColumnSums, d)}
	pairs, drawn, sum := make([]int, d*(d-1)/2), &sample{seed: o.Seed, most: min(max(sampleCells/d, leastSampleRows), mostSampleRows), below: math.MaxUint64}, sha256.New()
	n, gaps, dropped, bytes := 0, 0, 0, make([]byte, 0, 9*d)
	err := blocks(ctx, f, o, firstOf, func(t *data.Table, of first) error {
		s.Before = append(s.Before, n)
		dropped += t.Dropped
		merge(s.Columns, of.columns)
		for k, n := range of.pairs {
			pairs[k] += n
		}
		for i := range t.N {
			drawn.offer(t, i, n+i)
			if slices.Contains(t.Observed[i*d:(i+1)*d], false) {
				gaps++
			}
			bytes = hashRow(sum, t, i, bytes)
		}
		n += t.N
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n < 2 {
		return nil, fmt.Errorf("%s: only %d rows have a value; at least 2 are needed", f.Path, n)
	}
	if err := f.Refusal(s.Columns); err != nil {
		return nil, err
	}
	s.Sample = drawn.table(f.Names)
	s.Sample.Dropped = dropped
	s.Sample.Sampled = &data.Sampled{Rows: n, Gaps: gaps, Pairs: pairs, Checksum: hex.EncodeToString(sum.Sum(nil))}
	for j, c := range s.Columns {
		s.Sample.Sampled.Own = append(s.Sample.Sampled.Own, c.Number)
		if x := s.Sample.Column(j); len(x) == 0 || slices.Min(x) == slices.Max(x) {
			return nil, fmt.Errorf("%s: column %q has a value in %d of %d rows and is constant in a sample of %d rows: leave it out (ReadOptions.Exclude)", f.Path, f.Names[j], c.Number, n, s.Sample.N)
		}
	}
	return s, nil
}

type first struct {
	columns []data.ColumnSums
	pairs   []int // PairCounts
}

func firstOf(t *data.Table) (first, error) {
	return first{data.SumColumns(t, 1), t.PairCounts()}, nil
}

func merge(sums, of []data.ColumnSums) {
	for j := range sums {
		sums[j].Merge(of[j])
	}
}

func hashRow(h hash.Hash, t *data.Table, i int, bytes []byte) []byte {
	bytes = bytes[:0]
	for k := i * t.D; k < (i+1)*t.D; k++ {
		if !t.Observed[k] {
			bytes = append(bytes, 0)
			continue
		}
		bytes = binary.LittleEndian.AppendUint64(append(bytes, 1), math.Float64bits(t.Values[k]))
	}
	h.Write(bytes)
	return bytes
}

// Columns returns the sums of the columns after of transforms each block.
func Columns(ctx context.Context, f *data.RowFile, o Options, of func(*data.Table) (*data.Table, error)) ([]data.ColumnSums, error) {
	sums := make([]data.ColumnSums, len(f.Names))
	err := blocks(ctx, f, o, func(t *data.Table) ([]data.ColumnSums, error) {
		t, err := of(t)
		if err != nil {
			return nil, err
		}
		return data.SumColumns(t, 1), nil
	}, func(_ *data.Table, of []data.ColumnSums) error {
		merge(sums, of)
		return nil
	})
	return sums, err
}

// blocks calls look on every block, o.Workers in parallel, and take on the results in file order.
func blocks[T any](ctx context.Context, f *data.RowFile, o Options, look func(*data.Table) (T, error), take func(*data.Table, T) error) error {
	workers := max(1, o.Workers)
	tables, learned := make([]*data.Table, workers), make([]T, workers)
	for from := 0; from < f.Blocks(); from += workers {
		some := min(workers, f.Blocks()-from)
		pool := panics.NewGroup()
		for k := range some {
			pool.Go(func() (err error) {
				if err = ctx.Err(); err != nil {
					return err
				}
				if tables[k], err = f.Block(from + k); err != nil {
					return err
				}
				learned[k], err = look(tables[k])
				return err
			})
		}
		if err := pool.Wait(); err != nil {
			return err
		}
		for k := range some {
			if err := take(tables[k], learned[k]); err != nil {
				return err
			}
		}
		if o.Progress != nil {
			done := float64(from+some) / float64(f.Blocks())
			o.Progress(int64(done*float64(f.Size())), f.Size())
		}
	}
	return nil
}

// Held selects held-out rows independently, by seed and the row's number among rows with a value.
type Held struct {
	seed   uint64
	below  uint64 // rows with smaller random numbers are held out
	stream stream.Stream
}

// NewHeld holds out a share of the rows, from 0 to 1/2.
func NewHeld(seed uint64, share float64) *Held {
	return &Held{seed: seed, below: uint64(math.Ldexp(share, 64))}
}

// Out reports whether a row is held out.
func (h *Held) Out(row int) bool {
	return h.below > 0 && h.stream.At(h.seed, stream.Validate, uint64(row)).Uint64() < h.below
}
