package data

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"missingscore/data/format"
	"missingscore/internal/atomicfile"
	"missingscore/internal/panics"
)

// Put writes a file at path of what fill gives, whole or not at all: at once, or later together
// with other files.
type Put = func(path string, fill func(io.Writer) error) error

// textEndings are those of files that are text whatever was read.
var textEndings = []string{".csv", ".tsv", ".txt"}

// WriteFormat is the ending of a file's name for a table like that of another file: the other's,
// if it is of a format with one of its own, else ".csv".
func WriteFormat(like string) string {
	if f, err := format.ByName(like); err == nil && f != nil {
		return f.Endings[0]
	}
	return ".csv"
}

// formatOf is the format that a file is written in, nil for text with a separator: by its name's ending,
// .csv, .tsv, .txt or one of a format, with .gz or .zst behind it compressed. Other endings mean the
// format of the sheet that was read, text if like is nil. Text is separated as the sheet was.
func formatOf(path string, like *sheet) (f *format.Format, comma rune, err error) {
	if f, err = format.ByName(path); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	comma = ','
	if like != nil && like.format == nil {
		comma = like.comma
	}
	if end := format.Ending(path); f == nil && like != nil && !slices.Contains(textEndings, end) {
		f = like.format
	} else if end == ".tsv" {
		comma = '\t'
	}
	return f, comma, nil
}

// Stem is the name of a table's file without its folder, its ending and one for compression: "t" of x/t.csv.zst.
func Stem(path string) string {
	name := format.Uncompressed(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// WriteCSV writes a table to a file, whole or not at all, as EncodeCSV does; a name in .gz or
// .zst is compressed.
func WriteCSV(path string, t *Table) error {
	return atomicfile.Write(path, compressing(path, func(to io.Writer) error { return EncodeCSV(to, t) }))
}

// EncodeCSV writes a table as text. Missing cells are empty and numbers the shortest which read
// back as the same; rows without any value are written too, though a reader drops them.
func EncodeCSV(to io.Writer, t *Table) error {
	return writeText(to, t.Names, ',', func(write func([]string) error) error {
		row := make([]string, t.D)
		for i := range t.N {
			for j := range row {
				row[j] = ""
				if k := i*t.D + j; t.Observed[k] {
					row[j] = format.Number(t.Values[k])
				}
			}
			if err := write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeRows writes a file, whole or not at all.
func writeRows(put Put, path string, like *sheet, columns []format.Column, fill func(write func([]string) error) error) error {
	f, comma, err := formatOf(path, like)
	if err != nil {
		return err
	}
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.Name
	}
	if f == nil {
		return put(path, compressing(path, func(to io.Writer) error { return writeText(to, names, comma, fill) }))
	}
	if err := CheckNames(names); err != nil {
		return fmt.Errorf("%s cannot be written as %s: %w; choose a name in .csv", path, f.Name, err)
	}
	return put(path, compressing(path, func(to io.Writer) error {
		err := panics.Caught(func() error {
			out, err := f.Write(to, columns)
			if err != nil {
				return err
			}
			if err := fill(out.Write); err != nil {
				return err
			}
			return out.Close()
		})
		if err != nil {
			return fmt.Errorf("%s cannot be written as %s: %w", path, f.Name, err)
		}
		return nil
	}))
}

func writeText(to io.Writer, names []string, comma rune, fill func(write func([]string) error) error) error {
	out := csv.NewWriter(to)
	out.Comma = comma
	if err := out.Write(names); err != nil {
		return err
	}
	if err := fill(out.Write); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// compressing is fill, compressed if the file's name asks for that.
func compressing(path string, fill func(io.Writer) error) func(io.Writer) error {
	return func(to io.Writer) (err error) {
		var z io.WriteCloser
		switch name := strings.ToLower(path); {
		case strings.HasSuffix(name, ".gz"):
			z = gzip.NewWriter(to)
		case strings.HasSuffix(name, ".zst"):
			if z, err = zstd.NewWriter(to); err != nil {
				return err
			}
		default:
			return fill(to)
		}
		if err := fill(z); err != nil {
			z.Close()
			return err
		}
		return z.Close()
	}
}
