package cells

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"missingscore/internal/atomicfile"
)

// ReadLines are the whole lines of a results file; none if it does not exist. It
// fails if its columns are others.
func ReadLines(path string, header []string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text[:whole(text)])).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("%s has the columns %v, this run writes %v: choose another file", path, lines[0], header)
	}
	return lines[1:], nil
}

// WriteLines writes a results file, whole or not at all.
func WriteLines(path string, header []string, lines [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(slices.Insert(slices.Clone(lines), 0, header))
	})
}

// mend cuts off a last line without its end, which a killed run leaves behind.
func mend(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := whole(text); n < len(text) {
		return os.Truncate(path, int64(n))
	}
	return nil
}

// whole is the length of the lines that have their ends.
func whole(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }
