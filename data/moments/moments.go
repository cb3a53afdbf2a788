// Package moments holds what a normal distribution's likelihood and score-matching losses know
// of a table: of each pattern of gaps its rows' number, sums and sums of products, exactly
// (internal/exactsum). They are taken in one pass, or part by part and merged: the result is
// the same to the last bit however the rows were divided and in whatever order they came.
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

	"missingscore/data"
	"missingscore/internal/exactsum"
)

// Moments of the rows of one table or of many.
type Moments struct {
	Names   []string
	NA      []string // marks of missing cells that the tables were read by
	Rows    int      // with at least one value
	Dropped int      // without any

	Low, High []float64 // (d) least and greatest value of each column; +Inf and −Inf where there is none

	patterns map[string]*pattern // by which columns are observed, "1" or "0" each; nil: pairs
	pairs    *exactsum.Products  // of the columns with 0 where missing, then of the marks of what is observed
	columns  []*exactsum.Column  // work space

	bytes    float64 // that the sums of patterns took when they were new
	together float64 // how many moments are taken at once
}

// Options of New.
type Options struct {
	NA []string // marks of missing cells, kept in the file
	// Pairs takes moments of pairs of columns alone, whatever the gaps: those that the method
	// pairwise goes by.
	Pairs bool
	// Together is how many moments are taken at once, which share what memory there is; 1.
	Together int
}

// New are the moments of no rows yet. It fails where data.NewTable refuses the names, and by a
// *memory.Error where there are too many.
func New(names []string, o Options) (*Moments, error) {
	if err := data.CheckNames(names); err != nil {
		return nil, err
	}
	d := len(names)
	m := &Moments{Names: names, together: float64(max(1, o.Together)), NA: slices.Compact(slices.Sorted(slices.Values(o.NA))), Low: slices.Repeat([]float64{math.Inf(1)}, d), High: slices.Repeat([]float64{math.Inf(-1)}, d)}
	if o.Pairs {
		m.pairs = exactsum.New(2 * d)
	} else {
		m.patterns = map[string]*pattern{}
	}
	if err := m.checkColumns(); err != nil {
		return nil, err
	}
	return m, nil
}

// OfPairs tells whether there are moments of pairs of columns alone.
func (m *Moments) OfPairs() bool { return m.pairs != nil }

// Patterns is the number of patterns of gaps, 0 of pairs.
func (m *Moments) Patterns() int { return len(m.patterns) }

// MostPatterns is how many patterns of gaps are kept.
const MostPatterns = 100_000

// ErrPatterns says that a table has more than MostPatterns.
var ErrPatterns = errors.New("too many patterns of gaps")

// Add takes rows: values and observed are (n, d) row by row, as in a data.Table. A row without
// any value is counted as dropped. It fails where a value is no number of size up to
// data.LargestValue, by ErrPatterns and by a *memory.Error; what was taken is then of no use.
func (m *Moments) Add(values []float64, observed []bool) error {
	d := len(m.Names)
	key := make([]byte, d)
	for i := 0; i < len(values); i += d {
		x, any := values[i:i+d], false
		for j, seen := range observed[i : i+d] {
			if key[j] = '0'; seen {
				if !(math.Abs(x[j]) <= data.LargestValue) {
					return fmt.Errorf("row %d: column %q: %g is not a number of size up to %g", i/d+1, m.Names[j], x[j], data.LargestValue)
				}
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
		p, known := m.patterns[string(key)]
		if !known {
			var err error
			if p, err = m.newPattern(string(key)); err != nil {
				return err
			}
		}
		if p.add(x); p.full() {
			p.flush(m)
		}
	}
	if m.pairs != nil {
		m.addPairs(values, observed)
	}
	return m.checkRoom()
}

func (m *Moments) newPattern(key string) (*pattern, error) {
	if len(m.patterns) == MostPatterns {
		return nil, fmt.Errorf("%w: more than %d", ErrPatterns, MostPatterns)
	}
	p := newPattern(key)
	m.patterns[key] = p
	return p, nil
}

// room are n columns of work space, empty.
func (m *Moments) room(n int) []*exactsum.Column {
	for len(m.columns) < n {
		m.columns = append(m.columns, &exactsum.Column{})
	}
	for _, c := range m.columns[:n] {
		c.Reset()
	}
	return m.columns[:n]
}

// Merge takes the rows of others, too, whose columns are the same in the same order. It fails
// where they are not, where one has pairs alone and the other patterns, and by ErrPatterns.
func (m *Moments) Merge(other *Moments) error {
	if err := m.agrees(other); err != nil {
		return err
	}
	m.Rows, m.Dropped = m.Rows+other.Rows, m.Dropped+other.Dropped
	m.NA = slices.Compact(slices.Sorted(slices.Values(slices.Concat(m.NA, other.NA))))
	for j := range m.Names {
		m.Low[j], m.High[j] = min(m.Low[j], other.Low[j]), max(m.High[j], other.High[j])
	}
	if m.pairs != nil {
		m.pairs.Merge(other.pairs)
		return nil
	}
	for key, q := range other.patterns {
		p, known := m.patterns[key]
		if !known {
			var err error
			if p, err = m.newPattern(key); err != nil {
				return err
			}
		}
		p.merge(q, m)
	}
	return nil
}

// agrees says why two cannot be merged.
func (m *Moments) agrees(other *Moments) error {
	for j, name := range m.Names {
		switch {
		case j == len(other.Names):
			return fmt.Errorf("column %q is in one of them alone", name)
		case !slices.Contains(other.Names, name):
			return fmt.Errorf("column %q is in one of them alone; the other has %q in its place", name, other.Names[j])
		case other.Names[j] != name:
			return fmt.Errorf("the columns are in another order: column %d is %q in one and %q in the other", j+1, name, other.Names[j])
		}
	}
	if more := other.Names[len(m.Names):]; len(more) > 0 {
		return fmt.Errorf("column %q is in one of them alone", more[0])
	}
	if m.OfPairs() != other.OfPairs() {
		return errors.New("one has moments of pairs of columns alone (--pairs-only), the other those of patterns of gaps: take both in the same way")
	}
	return nil
}

// Select are the moments of the named columns, in the order asked, to the bit those of the
// table with these columns alone. It fails where a name is unknown or asked twice.
func (m *Moments) Select(names []string) (*Moments, error) {
	columns := make([]int, len(names))
	for k, name := range names {
		if columns[k] = slices.Index(m.Names, name); columns[k] < 0 {
			return nil, fmt.Errorf("no column %q; there are: %s", name, strings.Join(m.Names, ", "))
		}
	}
	s, err := New(names, Options{NA: m.NA, Pairs: m.OfPairs()})
	if err != nil {
		return nil, err
	}
	for k, j := range columns {
		s.Low[k], s.High[k] = m.Low[j], m.High[j]
	}
	if m.OfPairs() {
		return nil, errors.New("of moments of pairs (--pairs-only) columns cannot be left out: choose them when the moments are taken")
	}
	s.Dropped = m.Dropped
	for _, p := range m.sorted() {
		key, places := p.reduced(columns)
		if len(places) == 0 {
			s.Dropped += p.n
			continue
		}
		s.Rows += p.n
		q, known := s.patterns[key]
		if !known {
			if q, err = s.newPattern(key); err != nil {
				return nil, err
			}
		}
		q.merge(p.of(key, places), s)
	}
	return s, nil
}

// sorted are the patterns, those first that have the first columns.
func (m *Moments) sorted() []*pattern {
	out := make([]*pattern, 0, len(m.patterns))
	for _, p := range m.patterns {
		p.settle(m)
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *pattern) int { return cmp.Compare(b.key, a.key) })
	return out
}
