package data

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"missingscore/data/format"
	"missingscore/internal/memory"
)

// Stdin is the path of the standard input.
const Stdin = "-"

type input struct {
	*bufio.Reader               // the content, decompressed
	path          string        // where it is
	name          string        // in messages
	file          io.ReadSeeker // nil where it can be read only once
	size          int64         // bytes of the file, 0 where that is not known
	taken         atomic.Int64  // bytes of the file read
	limit         float64       // bytes of memory allowed
	compressed    bool
	progress      func(read, size int64) // may be nil
	closers       []func() error
}

func newInput(path, name string) (*input, error) {
	limit, err := memory.Limit()
	return &input{path: path, name: name, limit: limit}, err
}

// again says that the standard input will be read more than once: its content is then kept.
// Otherwise rows are read as they arrive.
func openInput(path string, again bool) (*input, error) {
	in, err := newInput(path, path)
	if err != nil {
		return nil, err
	}
	if path == Stdin {
		in.name = "standard input"
		if !again {
			return in, in.begin(os.Stdin)
		}
		content, err := standardInput()
		if err != nil {
			return nil, err
		}
		in.file, in.size = bytes.NewReader(content), int64(len(content))
		return in, in.begin(in.file)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, noFile(path, err)
	}
	in.closers = append(in.closers, f.Close)
	if about, err := f.Stat(); err == nil && about.Mode().IsRegular() {
		in.file, in.size = f, about.Size()
	}
	if err := in.begin(f); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func noFile(path string, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return &format.Error{Text: fmt.Sprintf("%s: %v", path, system.Err), Cause: err}
	}
	return err
}

var standardInput = sync.OnceValues(func() ([]byte, error) {
	limit, _ := memory.Limit() // newInput returned its error
	return holdAll(os.Stdin, "standard input", limit)
})

func holdAll(r io.Reader, name string, limit float64) ([]byte, error) {
	most := int64(math.Min(limit/2, math.MaxInt64/2))
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, readError(err, name)
	}
	if int64(len(content)) > most {
		return nil, &memory.Error{What: fmt.Sprintf("%s, of more than %s,", name, memory.Size(float64(most))), Need: 2 * float64(most), Limit: limit, Advice: fewerCells}
	}
	return content, nil
}

func (in *input) begin(from io.Reader) error {
	in.taken.Store(0)
	plain := bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		n, err := from.Read(p)
		in.taken.Add(int64(n))
		return n, err
	}), 1<<16)
	first, err := plain.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return readError(err, in.name)
	}
	named := func(ending string) bool { return strings.HasSuffix(strings.ToLower(in.path), ending) }
	var by string
	var z io.Reader
	switch {
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}) || named(".gz"):
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return damaged(in.name, "gzip", err)
		}
		by, z = "gzip", unpacked
	case bytes.Equal(first, []byte{0x28, 0xb5, 0x2f, 0xfd}) || named(".zst"):
		window := uint64(min(mostWindow, max(zstd.MinWindowSize, in.limit/4)))
		frames, err := zstd.NewReader(plain, zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return damaged(in.name, "Zstandard", err)
		}
		in.closers = append(in.closers, func() error { frames.Close(); return nil })
		by, z = "Zstandard", frames
	default:
		in.Reader = plain
		return nil
	}
	in.compressed, in.Reader = true, bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		n, err := z.Read(p)
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			err = damaged(in.name, by, err)
		}
		return n, err
	}), 1<<16)
	return nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The decoder allocates the window of a Zstandard frame first, so mostWindow bounds it: twice the
// window of the highest level.
const mostWindow = 1 << 28

func (in *input) skipMark() int64 {
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) != byteOrderMark {
		return 0
	}
	in.Discard(len(byteOrderMark))
	return int64(len(byteOrderMark))
}

func (in *input) tell(taken int64) {
	if in.progress != nil {
		if in.size > 0 {
			taken = min(taken, in.size)
		}
		in.progress(taken, in.size)
	}
}

func (in *input) content() (io.ReaderAt, int64, error) {
	if file, ok := in.file.(io.ReaderAt); ok && !in.compressed {
		return countedAt{file, &in.taken}, in.size, nil
	}
	held, err := holdAll(in, in.name, in.limit)
	return bytes.NewReader(held), int64(len(held)), err
}

type countedAt struct {
	io.ReaderAt
	n *atomic.Int64
}

func (c countedAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n.Add(int64(n))
	return n, err
}

// format fails if the content contradicts the file's name, or if another program must convert it.
func (in *input) format() (*format.Format, error) {
	first, err := in.Peek(format.FirstBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(err, in.name)
	}
	if err := foreignFile(in.path, in.name, first); err != nil {
		return nil, err
	}
	if f := format.ByContent(first); f != nil {
		return f, nil
	}
	f := format.ByName(in.path)
	switch {
	case f == nil:
		return nil, nil
	case len(first) == 0:
		return nil, fmt.Errorf("%s: the file is empty", in.name)
	}
	return nil, fmt.Errorf("%s: the name says %s, but the content does not: the file is damaged or has a wrong ending", in.name, f.Name)
}

func (in *input) Close() error {
	var first error
	for _, end := range in.closers {
		first = cmp.Or(first, end())
	}
	return first
}

func damaged(name, by string, err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return &format.Error{Text: fmt.Sprintf("%s: its compression window is larger than the memory: compress it again without --long and --ultra, or set %s where more is available", name, memory.Variable), Cause: err}
	}
	return &format.Error{Text: fmt.Sprintf("%s: cannot be decompressed: it is damaged, or not compressed by %s", name, by), Cause: err}
}
