package rows

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"missingscore/data"
	"missingscore/data/survey"
	"missingscore/internal/memory"
	"missingscore/internal/panics"
	"missingscore/internal/stream"
)

// Source is a file whose rows are gone over.
type Source struct {
	File   *data.RowFile
	Before []int                                  // as survey.Survey has it
	Rows   int                                    // of the file, that have a value
	Model  func(*data.Table) (*data.Table, error) // rows as they are modelled; nil: as they are
	Single bool                                   // numbers are rounded to float32, and held so where there is memory for it
	Hold   func(done, total int)                  // told how many of the blocks are read of which rows are held; nil: nobody
}

// WindowBlocks is how many blocks of a file a window has.
const WindowBlocks = 16

// File are the rows of a file. Each pass goes over its blocks in a new random order, WindowBlocks at a time, whose rows are
// shuffled among each other (docs/explanation/streaming.md). A file of one window is held as a whole; so are rows used as
// float32, where memory allows, with the same results.
type File struct {
	source Source
	seed   uint64
	batch  int
	window int // blocks
	count  int
	held   *survey.Held

	whole   *data.Table // all rows, of a file that is one window; nil until it is read
	heldOut *data.Table // rows held out; nil if there are none
	singles *singles    // all rows that are learned from; nil: they are read again
	rooms   [2]room     // for windows: one that steps go over, and one that is being read
}

type room struct {
	values   []float64
	observed []bool
}

// NewFile is for fits by batches of so many rows, of which a share of the rows is held out. Window
// is the number of blocks in one; 0: WindowBlocks.
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
	} else if s.Single {
		var err error
		if f.singles, err = newSingles(f.count, len(s.File.Names)); err != nil {
			return nil, err
		}
	}
	return f, f.hold(ctx)
}

func (f *File) hold(ctx context.Context) error {
	if f.whole == nil && f.singles == nil && f.heldOut == nil {
		return nil
	}
	for k := range f.source.File.Blocks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		learned := f.whole
		if f.singles != nil {
			learned = &data.Table{D: len(f.source.File.Names)}
		}
		if err := f.read(k, learned, f.heldOut); err != nil {
			return err
		}
		if f.singles != nil {
			f.singles.add(learned)
		}
		if f.source.Hold != nil {
			f.source.Hold(k+1, f.source.File.Blocks())
		}
	}
	return nil
}

// Count implements Rows.
func (f *File) Count() int { return f.count }

// HeldOut are the rows that no pass has, nil if there are none.
func (f *File) HeldOut() *data.Table { return f.heldOut }

// read appends the rows of a block to those learned from and those held out, each of which may be nil.
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
			for k := len(to.Values) - t.D; f.source.Single && k < len(to.Values); k++ {
				to.Values[k] = float64(float32(to.Values[k]))
			}
		}
	}
	return nil
}

// Pass implements Rows.
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
		for range ready { // let go of what was read since
		}
		if err := reader.Wait(); err != nil && wanted {
			yield(Window{}, err)
		}
	}
}

// windows reads those of a pass, into rooms that are free.
func (f *File) windows(ctx context.Context, pass int, ready chan<- Window, free <-chan room) error {
	blocks := stream.New(f.seed, stream.Shuffle, uint64(pass), 2).Perm(f.source.File.Blocks())
	names := f.source.File.Names
	rest := &data.Table{D: len(names)} // of the window before, less than a batch
	for number := 0; len(blocks) > 0; number++ {
		var some []int
		some, blocks = blocks[:min(f.window, len(blocks))], blocks[min(f.window, len(blocks)):]
		var in room
		select {
		case in = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		w := &data.Table{Names: names, D: len(names), Values: in.values[:0], Observed: in.observed[:0]} // a new one, for steps to know it by
		for i := range rest.N {
			w.AppendRow(rest, i)
		}
		for _, k := range some {
			if err := ctx.Err(); err != nil {
				return err
			}
			if f.singles != nil {
				f.singles.appendTo(w, k)
			} else if err := f.read(k, w, nil); err != nil {
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

type singles struct {
	d        int
	starts   []int // rows before each block, and before the end
	values   []float32
	observed []uint64
}

const (
	// SingleBytes are what a cell takes that is held as float32.
	SingleBytes = 33. / 8

	singleShare = 0.5 // of the memory that may be used, which singles may take
)

// newSingles makes room for n rows of d columns, nil where there is too little.
func newSingles(n, d int) (*singles, error) {
	limit, err := memory.Limit()
	if err != nil || SingleBytes*float64(n)*float64(d) > singleShare*limit {
		return nil, err
	}
	return &singles{d: d, starts: []int{0}, values: make([]float32, 0, n*d), observed: make([]uint64, (n*d+63)/64)}, nil
}

func (s *singles) add(t *data.Table) {
	for k, seen := range t.Observed {
		if at := len(s.values); seen {
			s.observed[at/64] |= 1 << (at % 64)
		}
		s.values = append(s.values, float32(t.Values[k]))
	}
	s.starts = append(s.starts, len(s.values)/max(1, s.d))
}

func (s *singles) appendTo(t *data.Table, k int) {
	from, to := s.starts[k], s.starts[k+1]
	for at := from * s.d; at < to*s.d; at++ {
		t.Values = append(t.Values, float64(s.values[at]))
		t.Observed = append(t.Observed, s.observed[at/64]>>(at%64)&1 == 1)
	}
	t.N += to - from
}
