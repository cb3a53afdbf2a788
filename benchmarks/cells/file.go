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
	"missingscore/internal/filelock"
)

// ReadLines returns the lines of a results file without its header, and without an incomplete last
// line. A missing file has none. It fails if the columns differ from header.
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

// WriteLines writes a results file atomically.
func WriteLines(path string, header []string, lines [][]string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(slices.Insert(slices.Clone(lines), 0, header))
	})
}

// mend truncates an incomplete last line, which a killed run leaves.
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

// whole returns the length of the complete lines.
func whole(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }

// Lock opens or creates a results file and locks it until it is closed or the process ends. It fails
// if another run holds the lock. On a disk without locks it always succeeds.
func Lock(path string) (*os.File, error) {
	f, err := filelock.Open(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s is being written by another run: wait until it ends, or choose another folder", path)
	}
	return f, err
}
