package moments

import (
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"missingscore/internal/checkedfile"
)

// fileMark begins a file of moments (checkedfile; docs/reference/files.md#moments).
const fileMark = "missingscore moments\n"

// file is the body, by encoding/gob. Pairs is nil for moments of patterns.
type file struct {
	Names, NA         []string
	Rows, Dropped     int
	Low, High, Origin []float64
	Pairs             []float64
	Patterns          []filePattern
}

type filePattern struct {
	Key        string
	N          int
	Rows, Sums []float64
}

// file is identical for the same rows in the same order and parts.
func (m *Moments) file() file {
	f := file{Names: m.Names, NA: m.NA, Rows: m.Rows, Dropped: m.Dropped, Low: m.Low, High: m.High, Origin: m.origin, Pairs: m.pairs.all()}
	for _, p := range m.sorted() {
		f.Patterns = append(f.Patterns, filePattern{p.key, p.n, p.rows, p.sums.all()})
	}
	return f
}

func (m *Moments) Checksum() []byte {
	sum := sha256.New()
	if err := gob.NewEncoder(sum).Encode(m.file()); err != nil {
		panic(err) // the types are all known to gob
	}
	return sum.Sum(nil)
}

// Write writes a file atomically.
func (m *Moments) Write(path string) error { return checkedfile.WriteGob(path, fileMark, m.file()) }

// Is reports whether a file begins as a file of moments.
func Is(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	mark := make([]byte, len(fileMark))
	_, err = io.ReadFull(f, mark)
	return err == nil && string(mark) == fileMark
}

const fileFactor = 12

// Read reads a file of Write. It fails on other files and any changed bit.
func Read(path string) (*Moments, error) {
	var f file
	switch err := checkedfile.ReadGob(path, fileMark, fileFactor, &f); {
	case errors.Is(err, checkedfile.ErrBroken):
		return nil, fmt.Errorf("%s: the file is damaged, or not a file of moments: run missingscore moments again", path)
	case err != nil:
		return nil, err
	}
	m := &Moments{Names: f.Names, NA: f.NA, Rows: f.Rows, Dropped: f.Dropped, Low: f.Low, High: f.High, origin: f.Origin}
	if f.Pairs != nil {
		m.pairs = sumsOf(2*len(f.Names), f.Pairs)
		return m, nil
	}
	m.patterns = map[string]*pattern{}
	for _, of := range f.Patterns {
		p := newPattern(of.Key)
		p.n, p.rows = of.N, of.Rows
		if of.Sums != nil {
			p.sums = sumsOf(len(p.places)+1, of.Sums)
			m.held += len(of.Sums)
		}
		m.patterns[of.Key] = p
	}
	return m, nil
}

func (s *sums) all() (all []float64) {
	if s != nil {
		for i, x := range s.sum {
			all = append(all, x+s.rest[i])
		}
	}
	return all
}

func sumsOf(columns int, all []float64) *sums {
	return &sums{c: columns, sum: all, rest: make([]float64, len(all))}
}
