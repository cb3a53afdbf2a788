package rows

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"missingscore/data"
	"missingscore/internal/data/survey"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
)

type Source struct {
	File   *data.RowFile
	Before []int                                  // as in survey.Survey
	Rows   int                                    // rows with at least one value
	Model  func(*data.Table) (*data.Table, error) // transforms rows to the modelled columns; nil: identity
	Hold   func(done, total int)                  // progress of reading rows that stay in memory; may be nil
}

const WindowBlocks = 16

// File provides the rows of a file. Each pass shuffles the rows of WindowBlocks random blocks at a
// time (docs/explanation/streaming.md). A file of one window stays in memory.
type File struct {
	source Source
	seed   uint64
	batch  int
	window int // blocks per window
	count  int
	held   *survey.Held

	whole   *data.Table // all rows of a file of one window; nil until read
	heldOut *data.Table // nil for none
	rooms   [2]room     // buffers of the current window and of the next
}

type room struct {
	values   []float64
	observed []bool
}

// NewFile prepares passes; window is the number of blocks per window; 0: WindowBlocks.
func NewFile(ctx context.Context, s Source, seed uint64, batch int, share float64, window int) (*File, error) {
	if window == 0 {
		window = WindowBlocks
	}
	f := &File{source: s, seed: seed, batch: batch, window: window, held: survey.NewHeld(seed, share)}
	for row := range s.Rows {
		if !f.held.Out(row) {
			f.count++
		}
	}
	if f.count < s.Rows {
		f.heldOut = &data.Table{Names: s.File.Names, D: len(s.File.Names)}
	}
	if s.File.Blocks() <= window {
		f.whole = &data.Table{Names: s.File.Names, D: len(s.File.Names)}
	}
	return f, f.hold(ctx)
}

func (f *File) hold(ctx context.Context) error {
	if f.whole == nil && f.heldOut == nil {
		return nil
	}
	for k := range f.source.File.Blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.read(k, f.whole, f.heldOut); err != nil {
			return err
		}
		if f.source.Hold != nil {
			f.source.Hold(k+1, f.source.File.Blocks())
		}
	}
	return nil
}

func (f *File) Count() int { return f.count }

func (f *File) HeldOut() *data.Table { return f.heldOut }

func (f *File) read(k int, learned, out *data.Table) error {
	t, err := f.source.File.Block(k)
	if err == nil && f.source.Model != nil {
		t, err = f.source.Model(t)
	}
	if err != nil {
		return err
	}
	for i := range t.N {
		to := learned
		if f.held.Out(f.source.Before[k] + i) {
			to = out
		}
		if to != nil {
			to.AppendRow(t, i)
		}
	}
	return nil
}

func (f *File) Pass(ctx context.Context, pass int) iter.Seq2[Window, error] {
	if f.whole != nil {
		return NewHeld(f.whole, f.whole.AllRows(), f.seed).Pass(ctx, pass)
	}
	return func(yield func(Window, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ready, free := make(chan Window), make(chan room, len(f.rooms))
		for i := range f.rooms {
			if most := (f.window*f.source.File.BlockRows + f.batch) * len(f.source.File.Names); f.rooms[i].values == nil {
				f.rooms[i] = room{make([]float64, 0, most), make([]bool, 0, most)}
			}
			free <- f.rooms[i]
		}
		var reader errgroup.Group
		reader.Go(func() error {
			defer close(ready)
			return panics.Caught(func() error { return f.windows(ctx, pass, ready, free) })
		})
		wanted := true
		for w := range ready {
			if wanted = yield(w, nil); !wanted {
				break
			}
			free <- room{w.Table.Values, w.Table.Observed}
		}
		cancel()
		for range ready { // discard windows that were read ahead
		}
		if err := reader.Wait(); err != nil && wanted {
			yield(Window{}, err)
		}
	}
}

func (f *File) windows(ctx context.Context, pass int, ready chan<- Window, free <-chan room) error {
	blocks := stream.New(f.seed, stream.Shuffle, uint64(pass), 2).Perm(f.source.File.Blocks())
	names := f.source.File.Names
	rest := &data.Table{D: len(names)} // rest of the previous window, less than a batch
	for number := 0; len(blocks) > 0; number++ {
		var some []int
		some, blocks = blocks[:min(f.window, len(blocks))], blocks[min(f.window, len(blocks)):]
		var in room
		select {
		case in = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		w := &data.Table{Names: names, D: len(names), Values: in.values[:0], Observed: in.observed[:0]} // a new table, because steps identify it by pointer
		for i := range rest.N {
			w.AppendRow(rest, i)
		}
		for _, k := range some {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.read(k, w, nil); err != nil {
				return fmt.Errorf("pass %d: %w", pass+1, err)
			}
		}
		order := w.AllRows()
		shuffle(order, f.seed, pass, number)
		if left := len(order) % f.batch; len(blocks) > 0 {
			rest = &data.Table{D: len(names)}
			for _, i := range order[len(order)-left:] {
				rest.AppendRow(w, i)
			}
			order = order[:len(order)-left]
		}
		select {
		case ready <- Window{w, order, false}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
