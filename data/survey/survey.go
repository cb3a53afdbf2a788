// Package survey learns what is asked of a whole table from passes over a file whose rows are not
// held.
//
//	Take     the first passes: columns, pairs, a checksum, a sample of the rows
//	Columns  two passes over rows as they are modelled: sums of columns
//	Held     rows that are held out, chosen one by one
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
)

// Survey is what is known of a file's table.
type Survey struct {
	Columns []data.ColumnSums // of both passes
	Before  []int             // rows that have a value, before each of the file's blocks
	Sample  *data.Table       // of rows drawn from all, with Sampled. Its checksum is that of the same table in another format, too
}

// Options are for all passes over a file.
type Options struct {
	Seed     uint64
	Workers  int                    // blocks that are read side by side; results do not depend on it
	Progress func(read, size int64) // as ReadOptions has it, of one pass after the other; may be nil
}

// Take makes a survey. It refuses the table that NewTable would refuse, and one with a column that is
// observed too seldom to vary in the sample.
func Take(ctx context.Context, f *data.RowFile, o Options) (*Survey, error) {
	d := len(f.Names)
	s := &Survey{Columns: make([]data.ColumnSums, d)}
	pairs, drawn, sum := newPairs(d), newSample(f, o.Seed), sha256.New()
	n, gaps, dropped, bytes := 0, 0, 0, make([]byte, 0, 9*d)
	err := blocks(ctx, f, o, firstOf, func(t *data.Table, of first) error {
		s.Before = append(s.Before, n)
		dropped += t.Dropped
		addFirst(s.Columns, of.parts)
		pairs.add(of.pairs)
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
	if err := second(ctx, f, o, nil, s.Columns); err != nil {
		return nil, err
	}
	if err := f.Refusal(s.Columns); err != nil {
		return nil, err
	}
	s.Sample = drawn.table(f.Names)
	s.Sample.Dropped, s.Sample.Rounded = dropped, f.Rounded()
	s.Sample.Sampled = &data.Sampled{Rows: n, Gaps: gaps, Pairs: pairs.counts(), Checksum: hex.EncodeToString(sum.Sum(nil))}
	for j, c := range s.Columns {
		s.Sample.Sampled.Own = append(s.Sample.Sampled.Own, c.Number)
		if x := s.Sample.Column(j); len(x) == 0 || slices.Min(x) == slices.Max(x) {
			return nil, fmt.Errorf("%s: column %q has a value in %d of %d rows, and does not vary in %d rows drawn from them, by which the table is judged: leave it out (--exclude)", f.Path, f.Names[j], c.Number, n, s.Sample.N)
		}
	}
	return s, nil
}

// first is what the first pass learns of a block.
type first struct {
	parts [][]data.ColumnSums
	pairs *pairs
}

func firstOf(t *data.Table) (first, error) {
	of := first{t.FirstSums(1), newPairs(t.D)}
	of.pairs.count(t)
	return of, nil
}

// addFirst adds a block's parts, one after the other.
func addFirst(sums []data.ColumnSums, parts [][]data.ColumnSums) {
	for _, part := range parts {
		for j := range sums {
			sums[j].Firsts(part[j])
		}
	}
}

// hashRow adds a row's observed cells to a checksum; bytes is room for it.
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

// Columns are the sums of the columns of rows as they are modelled: after of, which may refuse a
// block and is nil for rows as they are.
func Columns(ctx context.Context, f *data.RowFile, o Options, of func(*data.Table) (*data.Table, error)) ([]data.ColumnSums, error) {
	sums := make([]data.ColumnSums, len(f.Names))
	err := blocks(ctx, f, o, func(t *data.Table) (first, error) {
		t, err := of(t)
		if err != nil {
			return first{}, err
		}
		return firstOf(t)
	}, func(_ *data.Table, of first) error {
		addFirst(sums, of.parts)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sums, second(ctx, f, o, of, sums)
}

// second is the second pass.
func second(ctx context.Context, f *data.RowFile, o Options, of func(*data.Table) (*data.Table, error), sums []data.ColumnSums) error {
	return blocks(ctx, f, o, func(t *data.Table) ([][]data.ColumnSums, error) {
		if of != nil {
			var err error
			if t, err = of(t); err != nil {
				return nil, err
			}
		}
		return t.SecondSums(sums, 1), nil
	}, func(_ *data.Table, parts [][]data.ColumnSums) error {
		for _, part := range parts {
			for j := range sums {
				sums[j].Seconds(part[j])
			}
		}
		return nil
	})
}
