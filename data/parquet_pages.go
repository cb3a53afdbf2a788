package data

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	parquetformat "github.com/parquet-go/parquet-go/format"
)

// A library that reads Parquet takes the memory that footer and page headers claim before it has
// read what is there. So these are read first, and what they claim has to be possible in a file of
// this size: a page lies within its column's part of the file, is not longer than the column when
// decompressed, and has no more values than the column has rows left.

// Fields of a page's header.
const (
	pageUnpacked = 2
	pagePacked   = 3
	pageData     = 5
	pageWords    = 7 // a dictionary
	pageData2    = 8
	pageCount    = 1 // within the last three
)

const (
	usualHeader = 1 << 12 // bytes
	mostHeader  = 1 << 24
)

// soundParquetFooter looks through a footer.
func soundParquetFooter(content io.ReaderAt, from, size int64) error {
	footer := make([]byte, size)
	if _, err := content.ReadAt(footer, from); err != nil && err != io.EOF {
		return err
	}
	return (&thriftBytes{footer}).walk(nil, nothing)
}

// pageHeader is what the header of a page claims.
type pageHeader struct {
	length           int64 // of the header itself
	packed, unpacked int64
	values           int64 // of a page of data; else 0
	words            int64 // of a dictionary; else 0
}

// readPageHeader reads that at a place, before which the column's part ends.
func readPageHeader(content io.ReaderAt, at, end int64) (h pageHeader, err error) {
	for room := int64(usualHeader); ; room *= 16 {
		buffer := make([]byte, min(room, end-at))
		if _, err := content.ReadAt(buffer, at); err != nil && err != io.EOF {
			return h, err
		}
		h = pageHeader{}
		t := &thriftBytes{buffer}
		err := t.walk(nil, h.note)
		h.length = int64(len(buffer) - len(t.left))
		if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(buffer)) == end-at || room >= mostHeader {
			return h, err
		}
	}
}

func (h *pageHeader) note(path []int64, value int64) {
	switch {
	case len(path) == 1 && path[0] == pageUnpacked:
		h.unpacked = value
	case len(path) == 1 && path[0] == pagePacked:
		h.packed = value
	case len(path) == 2 && path[1] == pageCount && (path[0] == pageData || path[0] == pageData2):
		h.values = value
	case len(path) == 2 && path[1] == pageCount && path[0] == pageWords:
		h.words = value
	}
}

// soundPages looks through the pages of a column of a row group, which is not nested.
func soundPages(content io.ReaderAt, size int64, c parquetformat.ColumnChunk, rows int64, most float64) error {
	m := c.MetaData
	at := m.DataPageOffset
	if first := m.DictionaryPageOffset; first > 0 && first < at {
		at = first
	}
	end := at + m.TotalCompressedSize
	if at < 4 || m.TotalCompressedSize < 0 || end < at || end > size {
		return fmt.Errorf("a column lies from byte %d to %d of %d", at, end, size)
	}
	if m.NumValues != rows {
		return fmt.Errorf("a column has %d values in %d rows", m.NumValues, rows)
	}
	for left := rows; left > 0; {
		if at >= end {
			return fmt.Errorf("the pages of a column have %d values less than its rows", left)
		}
		h, err := readPageHeader(content, at, end)
		if err != nil {
			return err
		}
		at += h.length
		switch {
		case h.packed < 0 || h.packed > end-at:
			return fmt.Errorf("a page of %d bytes where %d are left", h.packed, end-at)
		case h.unpacked < 0 || float64(h.unpacked) > most || h.unpacked > max(m.TotalUncompressedSize, h.packed):
			return fmt.Errorf("a page of %d bytes in a column of %d", h.unpacked, m.TotalUncompressedSize)
		case h.values < 0 || h.values > left:
			return fmt.Errorf("a page of %d values where %d are left", h.values, left)
		case h.words < 0 || h.words > h.unpacked:
			return fmt.Errorf("a dictionary of %d entries in %d bytes", h.words, h.unpacked)
		}
		at += h.packed
		left -= h.values
	}
	return nil
}

// sound looks through all columns that are read.
func (r *parquetReader) sound(content io.ReaderAt, size int64, most float64) error {
	for _, g := range r.file.Metadata().RowGroups {
		for j, leaf := range r.leaves {
			if r.meanings[j].kind == asNothing {
				continue
			}
			if err := r.soundChunk(content, size, g, leaf, most); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *parquetReader) soundChunk(content io.ReaderAt, size int64, g parquetformat.RowGroup, leaf *parquet.Column, most float64) error {
	if leaf.Index() >= len(g.Columns) {
		return fmt.Errorf("a row group has %d columns", len(g.Columns))
	}
	return soundPages(content, size, g.Columns[leaf.Index()], g.NumRows, most)
}
