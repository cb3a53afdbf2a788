// Package moments has the sufficient statistics of normal distributions with missing cells: for
// each missing pattern, the number of rows, sums and sums of products.
//
//	New, Add, Merge   take them
//	Write, Read       a file of them (docs/reference/files.md#moments)
//	Table             the few rows that have these moments, for a fit
package moments

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"missingscore/data"
)

// Moments holds the moments of the rows of one or more tables.
type Moments struct {
	Names   []string
	NA      []string // marks of missing cells of the tables
	Rows    int      // with at least one value
	Dropped int      // without any

	Low, High []float64 // (d) minimum and maximum of each column; +Inf and −Inf without a value

	// origin is subtracted from each column before summing, to keep digits: the column's mean in
	// the first rows that have it, NaN if none has.
	origin   []float64
	patterns map[string]*pattern // by observed columns, "1" or "0" each; nil for pairs
	held     int                 // sums of all patterns
	// pairs holds the sums Σ x_j x_k over the rows that have both, Σ x_j o_k and Σ o_j o_k, with o
	// the observed marks (1 or 0).
	pairs *sums
}

type Options struct {
	NA []string // marks of missing cells, kept in the file
	// Pairs stores moments of pairs of columns only, for the method pairwise.
	Pairs bool
}

// New returns the moments of no rows. It fails where data.NewTable rejects the names, and with a
// *memory.Error if there are too many columns.
func New(names []string, o Options) (*Moments, error) {
	if err := data.CheckNames(names); err != nil {
		return nil, err
	}
	d := len(names)
	columns := d + 1
	if o.Pairs {
		columns = 2 * d
	}
	if err := checkRoom(pairs(columns), "sums of products of %d columns", d); err != nil {
		return nil, err
	}
	m := &Moments{Names: names, NA: slices.Compact(slices.Sorted(slices.Values(o.NA))), Low: slices.Repeat([]float64{math.Inf(1)}, d), High: slices.Repeat([]float64{math.Inf(-1)}, d), origin: slices.Repeat([]float64{math.NaN()}, d)}
	if o.Pairs {
		m.pairs = newSums(columns)
	} else {
		m.patterns = map[string]*pattern{}
	}
	return m, nil
}

func (m *Moments) OfPairs() bool { return m.pairs != nil }

// Patterns is the number of missing patterns, 0 for pairs.
func (m *Moments) Patterns() int { return len(m.patterns) }

const mostPatterns = 100_000

// ErrPatterns reports more than mostPatterns missing patterns.
var ErrPatterns = errors.New("too many missing-data patterns")

// Add adds rows: values and observed are (n, d) row-major. It fails if a value is not finite or
// beyond data.LargestValue, with ErrPatterns, and with a *memory.Error; m is then invalid.
func (m *Moments) Add(values []float64, observed []bool) error {
	d := len(m.Names)
	for i, seen := range observed {
		if x := values[i]; seen && !(math.Abs(x) <= data.LargestValue) {
			return fmt.Errorf("row %d: column %q: %g must be finite, with size up to %g", i/d+1, m.Names[i%d], x, data.LargestValue)
		}
	}
	m.place(values, observed)
	key := make([]byte, d)
	for i := 0; i < len(values); i += d {
		x, any := values[i:i+d], false
		for j, seen := range observed[i : i+d] {
			if key[j] = '0'; seen {
				key[j], any = '1', true
				m.Low[j], m.High[j] = min(m.Low[j], x[j]), max(m.High[j], x[j])
			}
		}
		if !any {
			m.Dropped++
			continue
		}
		if m.Rows++; m.pairs != nil {
			continue
		}
		p, err := m.pattern(string(key))
		if err != nil {
			return err
		}
		for _, j := range p.places {
			p.rows = append(p.rows, x[j])
		}
		if p.n++; p.full() {
			p.flush(m)
		}
	}
	if m.pairs != nil {
		m.addPairs(values, observed)
		return nil
	}
	return checkRoom(m.held, "sums of products of %d columns in %d missing-data patterns", d, len(m.patterns))
}

func (m *Moments) place(values []float64, observed []bool) {
	d := len(m.Names)
	for j := range m.origin {
		if !math.IsNaN(m.origin[j]) {
			continue
		}
		var seen []float64
		for i := j; i < len(values); i += d {
			if observed[i] {
				seen = append(seen, values[i])
			}
		}
		m.origin[j] = floats.SumCompensated(seen) / float64(len(seen)) // 0/0 is NaN
	}
}

const pairRows = 256 // rows taken at a time

func (m *Moments) addPairs(values []float64, observed []bool) {
	d := len(m.Names)
	for from := 0; from < len(values); from += pairRows * d {
		to := min(from+pairRows*d, len(values))
		rows := make([]float64, 2*(to-from))
		for i := from; i < to; i++ {
			if j, at := i%d, (i-from)/d*2*d; observed[i] {
				rows[at+j], rows[at+d+j] = values[i]-m.origin[j], 1
			}
		}
		m.pairs.addRows(rows)
	}
}

func (m *Moments) movedPairs(by []float64) *sums {
	d := len(m.Names)
	return m.pairs.moved(append(slices.Clone(by), make([]float64, d)...), func(a int) int { return d + a%d })
}

func (m *Moments) pattern(key string) (*pattern, error) {
	if p := m.patterns[key]; p != nil {
		return p, nil
	}
	if len(m.patterns) == mostPatterns {
		return nil, fmt.Errorf("%w: more than %d", ErrPatterns, mostPatterns)
	}
	m.patterns[key] = newPattern(key)
	return m.patterns[key], nil
}

// Merge adds the rows of other. It fails if columns or kinds of moments differ, and with ErrPatterns.
func (m *Moments) Merge(other *Moments) error {
	if err := m.agrees(other); err != nil {
		return err
	}
	m.Rows, m.Dropped = m.Rows+other.Rows, m.Dropped+other.Dropped
	m.NA = slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.NA, other.NA))))
	by := make([]float64, len(m.Names)) // from the origin of m to that of other
	for j := range m.Names {
		m.Low[j], m.High[j] = min(m.Low[j], other.Low[j]), max(m.High[j], other.High[j])
		if math.IsNaN(m.origin[j]) {
			m.origin[j] = other.origin[j]
		} else if !math.IsNaN(other.origin[j]) {
			by[j] = other.origin[j] - m.origin[j]
		}
	}
	if m.pairs != nil {
		m.pairs.merge(other.movedPairs(by))
		return nil
	}
	for key, q := range other.patterns {
		p, err := m.pattern(key)
		if err != nil {
			return err
		}
		p.merge(q, by, m)
	}
	return nil
}

func (m *Moments) agrees(other *Moments) error {
	for j := range max(len(m.Names), len(other.Names)) {
		switch {
		case j >= len(other.Names):
			return fmt.Errorf("only one of the two has column %q", m.Names[j])
		case j >= len(m.Names):
			return fmt.Errorf("only one of the two has column %q", other.Names[j])
		case !slices.Contains(other.Names, m.Names[j]):
			return fmt.Errorf("only one of the two has column %q; the other has %q instead", m.Names[j], other.Names[j])
		case other.Names[j] != m.Names[j]:
			return fmt.Errorf("the columns are in a different order: column %d is %q in one and %q in the other", j+1, m.Names[j], other.Names[j])
		}
	}
	if m.OfPairs() != other.OfPairs() {
		return errors.New("one has moments of pairs (moments.Options.Pairs), the other of missing-data patterns: compute both in the same way")
	}
	return nil
}

// Select returns the moments of the named columns. It fails for moments of pairs.
func (m *Moments) Select(names []string) (*Moments, error) {
	columns := make([]int, len(names))
	for k, name := range names {
		if columns[k] = slices.Index(m.Names, name); columns[k] < 0 {
			return nil, fmt.Errorf("no column %q; there are: %s", name, strings.Join(m.Names, ", "))
		}
	}
	if m.OfPairs() {
		return nil, errors.New("moments of pairs (moments.Options.Pairs) must keep all columns: choose the columns when the moments are computed")
	}
	s, err := New(names, Options{NA: m.NA})
	if err != nil {
		return nil, err
	}
	for k, j := range columns {
		s.Low[k], s.High[k], s.origin[k] = m.Low[j], m.High[j], m.origin[j]
	}
	s.Dropped = m.Dropped
	same := make([]float64, len(names))
	for _, p := range m.sorted() {
		key, places := p.reduced(columns)
		if len(places) == 0 {
			s.Dropped += p.n
			continue
		}
		s.Rows += p.n
		q, err := s.pattern(key)
		if err != nil {
			return nil, err
		}
		q.merge(p.of(key, places), same, s)
	}
	return s, nil
}

func (m *Moments) sorted() []*pattern {
	out := make([]*pattern, 0, len(m.patterns))
	for _, p := range m.patterns {
		if len(p.rows) > 0 && !p.few(p.n) {
			p.flush(m)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *pattern) int { return cmp.Compare(b.key, a.key) })
	return out
}
