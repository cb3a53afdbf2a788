package moments

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"missingscore/data"
	"missingscore/internal/checkedfile"
	"missingscore/internal/memory"
)

// fileMark begins a file of moments (checkedfile; docs/reference/files.md#moments).
const fileMark = "missingscore moments\n"

const fileVersion = 2

// Kinds of content.
const (
	holdsPatterns = 0
	holdsPairs    = 1
)

func (m *Moments) body() []byte {
	e := encoder{}
	e.uint(fileVersion)
	e.uint(len(m.Names))
	for _, name := range m.Names {
		e.text(name)
	}
	e.uint(len(m.NA))
	for _, mark := range m.NA {
		e.text(mark)
	}
	e.uint(m.Rows)
	e.uint(m.Dropped)
	for j := range m.Names {
		e.float(m.Low[j])
		e.float(m.High[j])
		e.float(m.origin[j])
	}
	if m.OfPairs() {
		e.uint(holdsPairs)
		e.sums(m.pairs)
	} else {
		e.uint(holdsPatterns)
		e.uint(len(m.patterns))
		for _, p := range m.sorted() {
			e.pattern(p)
		}
	}
	return e.body
}

// encode returns the bytes of the file: identical for the same rows in the same order and parts.
func (m *Moments) encode() []byte { return checkedfile.Seal(fileMark, m.body()) }

// Checksum is the checksum of the file.
func (m *Moments) Checksum() []byte {
	sum := sha256.Sum256(m.body())
	return sum[:]
}

// Write writes a file atomically.
func (m *Moments) Write(path string) error { return checkedfile.Write(path, fileMark, m.body()) }

type encoder struct{ body []byte }

func (e *encoder) uint(n int) { e.body = binary.AppendUvarint(e.body, uint64(n)) }

func (e *encoder) text(s string) {
	e.uint(len(s))
	e.body = append(e.body, s...)
}

func (e *encoder) float(x float64) {
	e.body = binary.LittleEndian.AppendUint64(e.body, math.Float64bits(x))
}

// pattern writes the observed columns, a bit each, n, and rows or sums.
func (e *encoder) pattern(p *pattern) {
	mask := make([]byte, (len(p.key)+7)/8)
	for _, j := range p.places {
		mask[j/8] |= 1 << (j % 8)
	}
	e.body = append(e.body, mask...)
	e.uint(p.n)
	if p.sums != nil {
		e.sums(p.sums)
		return
	}
	for _, x := range p.rows {
		e.float(x)
	}
}

func (e *encoder) sums(s *sums) {
	for i := range s.sum {
		e.float(s.sum[i] + s.rest[i])
	}
}

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

// fileFactor is the memory for reading, relative to the file size.
const fileFactor = 12

// Read reads a file of Write. It fails on other files, other versions and any changed bit.
func Read(path string) (*Moments, error) {
	text, err := memory.ReadFile(path, fileFactor)
	if err != nil {
		return nil, err
	}
	m, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

var errDamaged = errors.New("the file is damaged, or not a file of moments: run missingscore moments again")

func decode(text []byte) (*Moments, error) {
	body, err := checkedfile.Open(fileMark, text)
	if err != nil {
		return nil, errDamaged
	}
	d := decoder{body: body}
	if version := d.uint(math.MaxInt32); d.err == nil && version != fileVersion {
		return nil, fmt.Errorf("it was written by another version of the program (moments version %d, this one reads %d): compute the moments again", version, fileVersion)
	}
	m := d.moments()
	if d.err == nil && len(d.body) > 0 {
		d.err = errDamaged
	}
	if d.err != nil {
		return nil, d.err
	}
	return m, nil
}

// decoder reads the parts of a body, until the first fault.
type decoder struct {
	body []byte
	err  error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errDamaged
	}
	d.body = nil
}

func (d *decoder) uint(most int) int {
	n, size := binary.Uvarint(d.body)
	if size <= 0 || n > uint64(most) {
		d.fail()
		return 0
	}
	d.body = d.body[size:]
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.body) {
		d.fail()
		return nil
	}
	out := d.body[:n]
	d.body = d.body[n:]
	return out
}

func (d *decoder) texts() (out []string) {
	for range d.uint(len(d.body)) {
		out = append(out, string(d.take(d.uint(len(d.body)))))
	}
	return out
}

func (d *decoder) float() float64 {
	b := d.take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// mostRows is the maximum number of rows that float64 holds exactly.
const mostRows = min(1<<53, math.MaxInt)

func (d *decoder) moments() *Moments {
	names, marks := d.texts(), d.texts()
	rows, dropped := d.uint(mostRows), d.uint(mostRows)
	if d.err != nil || data.CheckNames(names) != nil {
		d.fail()
		return nil
	}
	m, err := New(names, Options{NA: marks})
	if err != nil {
		d.err = err
		return nil
	}
	m.Rows, m.Dropped = rows, dropped
	for j := range names {
		low, high, origin := d.float(), d.float(), d.float()
		none := math.IsInf(low, 1) && math.IsInf(high, -1) && math.IsNaN(origin)
		if !none && !(low <= high && finite(low) && finite(high) && finite(origin)) {
			d.fail()
		}
		m.Low[j], m.High[j], m.origin[j] = low, high, origin
	}
	switch d.uint(holdsPairs) {
	case holdsPairs:
		m.patterns, m.pairs = nil, d.sums(2*len(names))
	default:
		d.patterns(m)
	}
	return m
}

// patterns reads the patterns of m and checks that their rows sum to the total.
func (d *decoder) patterns(m *Moments) {
	left, before := m.Rows, ""
	for i := range d.uint(mostPatterns) {
		p := d.pattern(len(m.Names), left)
		if d.err != nil || i > 0 && p.key >= before {
			d.fail()
			return
		}
		before, left = p.key, left-p.n
		m.patterns[p.key] = p
	}
	if left != 0 {
		d.fail()
	}
}

func (d *decoder) pattern(columns, most int) *pattern {
	mask, key := d.take((columns+7)/8), make([]byte, columns)
	if mask == nil {
		return nil
	}
	for j := range key {
		key[j] = '0' + mask[j/8]>>(j%8)&1
	}
	p := newPattern(string(key))
	p.n = d.uint(most)
	if k := len(p.places); k == 0 || p.n == 0 {
		d.fail()
	} else if !p.few(p.n) {
		p.sums = d.sums(k + 1)
	} else {
		for range p.n * k {
			p.rows = append(p.rows, d.finite())
		}
	}
	return p
}

func (d *decoder) finite() float64 {
	x := d.float()
	if !finite(x) {
		d.fail()
	}
	return x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (d *decoder) sums(c int) *sums {
	if pairs(c) > len(d.body)/8 {
		d.fail()
		return nil
	}
	s := newSums(c)
	for i := range s.sum {
		s.sum[i] = d.finite()
	}
	return s
}
