package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// thriftBytes is a structure in Thrift's compact protocol, as which Parquet writes its footer and
// the headers of its pages. What it claims is looked at before a library believes it.
type thriftBytes struct{ left []byte }

// Kinds of fields.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

const deepestThrift = 32

var errThrift = errors.New("its structure is none of Thrift's")

// walk goes through a structure: no text or list in it may be longer than what is left, and no
// number may be wanting. visit is told every whole number with the numbers of the fields that lead
// to it; lists have none.
func (t *thriftBytes) walk(path []int64, visit func(path []int64, value int64)) error {
	if len(path) > deepestThrift {
		return errThrift
	}
	for field := int64(0); ; {
		head, err := t.byte()
		if err != nil {
			return err
		}
		if head == thriftStop {
			return nil
		}
		if delta := int64(head >> 4); delta > 0 {
			field += delta
		} else if field, err = t.whole(); err != nil {
			return err
		}
		if kind := head & 15; kind != thriftTrue && kind != thriftFalse { // whose header is the value
			if err := t.value(kind, append(path[:len(path):len(path)], field), visit); err != nil {
				return err
			}
		}
	}
}

// value goes through one.
func (t *thriftBytes) value(kind byte, path []int64, visit func([]int64, int64)) error {
	switch {
	case kind == thriftTrue || kind == thriftFalse || kind == thriftByte:
		return t.skip(1)
	case kind >= thriftInt16 && kind <= thriftInt64:
		v, err := t.whole()
		if err == nil {
			visit(path, v)
		}
		return err
	case kind == thriftDouble:
		return t.skip(8)
	case kind == thriftBinary:
		n, err := t.size()
		if err != nil {
			return err
		}
		return t.skip(n)
	case kind == thriftList || kind == thriftSet:
		return t.list(path)
	case kind == thriftMap:
		return t.pairs(path)
	case kind == thriftStruct:
		return t.walk(path, visit)
	}
	return errThrift
}

// nothing is a visit.
func nothing([]int64, int64) {}

func (t *thriftBytes) list(path []int64) error {
	head, err := t.byte()
	if err != nil {
		return err
	}
	n := int(head >> 4)
	if n == 15 {
		if n, err = t.size(); err != nil {
			return err
		}
	}
	return t.each(n, path, head&15)
}

func (t *thriftBytes) pairs(path []int64) error {
	n, err := t.size()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := t.byte()
	if err != nil {
		return err
	}
	return t.each(n, path, kinds>>4, kinds&15)
}

// each goes through so many times values of these kinds, of which none takes less than a byte.
func (t *thriftBytes) each(n int, path []int64, kinds ...byte) error {
	if n > len(t.left) {
		return fmt.Errorf("a list of %d entries in %d bytes", n, len(t.left))
	}
	for range n {
		for _, kind := range kinds {
			if err := t.value(kind, append(path[:len(path):len(path)], 0), nothing); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *thriftBytes) byte() (byte, error) {
	if len(t.left) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := t.left[0]
	t.left = t.left[1:]
	return b, nil
}

func (t *thriftBytes) skip(n int) error {
	if n > len(t.left) {
		return io.ErrUnexpectedEOF
	}
	t.left = t.left[n:]
	return nil
}

// size is a length, at most of what is left.
func (t *thriftBytes) size() (int, error) {
	n, used := binary.Uvarint(t.left)
	if used <= 0 || n > uint64(len(t.left)-used) {
		return 0, io.ErrUnexpectedEOF
	}
	return int(n), t.skip(used)
}

// whole is a number, in zigzag.
func (t *thriftBytes) whole() (int64, error) {
	n, used := binary.Varint(t.left)
	if used <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return n, t.skip(used)
}
