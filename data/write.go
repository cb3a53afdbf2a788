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

// Put writes the output of fill to path atomically, immediately or together with other files.
type Put = func(path string, fill func(io.Writer) error) error

var textEndings = []string{".csv", ".tsv", ".txt"}

// WriteFormat returns the ending for a table like this file, ".csv" if the format has no own ending.
func WriteFormat(like string) string {
	if f := format.ByName(like); f != nil {
		return f.Endings[0]
	}
	return ".csv"
}

// formatOf returns the format to write, nil for text, by the ending of the path. Other endings take
// the format and separator of like, text if like is nil.
func formatOf(path string, like *sheet) (f *format.Format, comma rune) {
	f, comma = format.ByName(path), ','
	if like != nil && like.format == nil {
		comma = like.comma
	}
	if end := format.Ending(path); f == nil && like != nil && !slices.Contains(textEndings, end) {
		f = like.format
	} else if end == ".tsv" {
		comma = '\t'
	}
	return f, comma
}

// Stem returns the file name without folder, ending and compression: "t" of x/t.csv.zst.
func Stem(path string) string {
	name := format.Uncompressed(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// WriteCSV writes a table by EncodeCSV to a file, atomically; .gz and .zst compress it.
func WriteCSV(path string, t *Table) error {
	return atomicfile.Write(path, compressing(path, func(to io.Writer) error { return EncodeCSV(to, t) }))
}

// EncodeCSV writes a table as text. Missing cells are empty. Rows without any value are written
// too, though a reader drops them.
func EncodeCSV(to io.Writer, t *Table) error {
	return writeText(to, t.Names, ',', numberRows(make([][]string, t.D), t.Values, t.Observed))
}

func writeRows(put Put, path string, like *sheet, columns []format.Column, fill func(write func([]string) error) error) error {
	f, comma := formatOf(path, like)
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.Name
	}
	if f == nil {
		return put(path, compressing(path, func(to io.Writer) error { return writeText(to, names, comma, fill) }))
	}
	if err := CheckNames(names); err != nil {
		return fmt.Errorf("%s cannot be written as %s: %w; choose a name that ends in .csv", path, f.Name, err)
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
