package data

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

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
	if f := byEnding(like); f != nil {
		return f.endings[0]
	}
	return ".csv"
}

// formatOf is the format that a file is written in, nil for text with a separator: by its name's ending,
// .csv, .tsv, .txt, .xlsx, .parquet, .feather and their like, with .gz or .zst behind it compressed.
// For other endings the format is the one of the sheet that was read, text if like is nil. Text is separated
// as the sheet was.
func formatOf(path string, like *sheet) (f *fileFormat, comma rune) {
	f, comma = byEnding(path), ','
	if like != nil && like.format == nil {
		comma = like.comma
	}
	if end := ending(path); f == nil && like != nil && !slices.Contains(textEndings, end) {
		f = like.format
	} else if end == ".tsv" {
		comma = '\t'
	}
	return f, comma
}

// writeRows writes a file, whole or not at all.
func writeRows(put Put, path string, like *sheet, columns []column, fill func(write func([]string) error) error) error {
	f, comma := formatOf(path, like)
	names := make([]string, len(columns))
	for j, c := range columns {
		names[j] = c.name
	}
	if f == nil {
		return put(path, compressing(path, func(to io.Writer) error { return writeText(to, names, comma, fill) }))
	}
	if err := checkNames(names); err != nil {
		return fmt.Errorf("%s cannot be written as %s: %w; choose a name in .csv", path, f.name, err)
	}
	return put(path, compressing(path, func(to io.Writer) error {
		err := panics.Caught(func() error {
			out, err := f.write(to, columns)
			if err != nil {
				return err
			}
			if err := fill(out.write); err != nil {
				return err
			}
			return out.close()
		})
		if err != nil {
			return fmt.Errorf("%s cannot be written as %s: %w", path, f.name, err)
		}
		return nil
	}))
}

// writeText writes separated text.
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
