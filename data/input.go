package data

import (
	"bufio"
	"bytes"
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

	"missingscore/internal/memory"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// input is a file, or the standard input, being read from its beginning. What is
// compressed by gzip or Zstandard, by its first bytes, is decompressed.
type input struct {
	*bufio.Reader               // the content, decompressed
	path          string        // where it is
	name          string        // in messages
	file          io.ReadSeeker // nil where it can be read only once
	size          int64         // bytes of the file, 0 where that is not known
	taken         atomic.Int64  // of them, read
	compressed    bool
	closers       []func() error
}

// openInput opens a file. hold says that it is to be read more than once: of a pipe the
// content is then kept in memory, and that of the standard input for as long as the program
// runs. Without it the rows of a pipe come as they are sent.
func openInput(path string, hold bool) (*input, error) {
	in := &input{path: path, name: path}
	if path == Stdin {
		in.name = "standard input"
		if !hold {
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
	var system *fs.PathError
	if errors.As(err, &system) {
		return nil, fileError{fmt.Sprintf("%s: %v", path, system.Err), err}
	}
	if err != nil {
		return nil, err
	}
	in.closers = append(in.closers, f.Close)
	about, err := f.Stat()
	switch {
	case err == nil && about.Mode().IsRegular():
		in.file, in.size = f, about.Size()
		err = in.begin(f)
	case hold && err == nil && !about.IsDir():
		var content []byte
		if content, err = holdAll(f, path); err == nil {
			in.file, in.size = bytes.NewReader(content), int64(len(content))
			err = in.begin(in.file)
		}
	case err == nil:
		err = in.begin(f)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// standardInput is all that the standard input had, kept for who reads it again.
var standardInput = sync.OnceValues(func() ([]byte, error) { return holdAll(os.Stdin, "standard input") })

// holdAll reads what there is, as far as there is memory for it and for the table in it.
func holdAll(r io.Reader, name string) ([]byte, error) {
	limit, err := memory.Limit()
	if err != nil {
		return nil, err
	}
	most := int64(math.Min(limit/2, math.MaxInt64/2))
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, readError(err, name, ',')
	}
	if int64(len(content)) > most {
		return nil, &memory.Error{What: fmt.Sprintf("%s, of more than %s,", name, memory.Size(float64(most))), Need: 2 * float64(most), Limit: limit, Advice: fewerCells}
	}
	return content, nil
}

// begin makes the reader of the content.
func (in *input) begin(from io.Reader) error {
	in.taken.Store(0)
	plain := bufio.NewReaderSize(counted{from, &in.taken}, 1<<16)
	first, err := plain.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return readError(err, in.name, ',')
	}
	named := func(ending string) bool { return strings.HasSuffix(strings.ToLower(in.path), ending) }
	switch {
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}) || named(".gz"):
		z, err := gzip.NewReader(plain)
		if err != nil {
			return damaged(in.name, "gzip", err)
		}
		in.compressed, in.Reader = true, bufio.NewReaderSize(decompressed{z, in.name, "gzip"}, 1<<16)
	case bytes.Equal(first, []byte{0x28, 0xb5, 0x2f, 0xfd}) || named(".zst"):
		limit, err := memory.Limit()
		if err != nil {
			return err
		}
		window := uint64(min(mostWindow, max(zstd.MinWindowSize, limit/4)))
		z, err := zstd.NewReader(plain, zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return damaged(in.name, "Zstandard", err)
		}
		in.closers = append(in.closers, func() error { z.Close(); return nil })
		in.compressed, in.Reader = true, bufio.NewReaderSize(decompressed{z, in.name, "Zstandard"}, 1<<16)
	default:
		in.Reader = plain
	}
	return nil
}

// mostWindow is how much of what went before a frame of Zstandard may refer to, in bytes: twice
// that of its highest level. Room for as much as a frame asks for is made before a byte of it is
// read, so that it is also held to a quarter of the memory that can be used.
const mostWindow = 1 << 28

// rewind begins once more. The input must have been opened to be held.
func (in *input) rewind() error {
	if _, err := in.file.Seek(0, io.SeekStart); err != nil {
		return readError(err, in.name, ',')
	}
	return in.begin(in.file)
}

// Close ends the reading.
func (in *input) Close() error {
	var first error
	for _, end := range in.closers {
		if err := end(); first == nil {
			first = err
		}
	}
	return first
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// decompressed is what a decompressor gives, with its errors in plain words.
type decompressed struct {
	io.Reader
	name, by string
}

func (d decompressed) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = damaged(d.name, d.by, err)
	}
	return n, err
}

// damaged says that a compressed file is none, or cannot be decompressed here.
func damaged(name, by string, err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return textError{fileError{fmt.Sprintf("%s: it is compressed with a larger window than there is memory for: compress it again without --long and --ultra, or set %s or %s where there is more", name, memory.Flag, memory.Variable), err}}
	}
	return textError{fileError{fmt.Sprintf("%s: cannot be decompressed: it is damaged, or not compressed by %s", name, by), err}}
}
