package survey

import (
	"cmp"
	"container/heap"
	"slices"

	"missingscore/data"
	"missingscore/internal/stream"
)

const (
	sampleCells     = 1 << 20
	leastSampleRows = 1000
	mostSampleRows  = 50_000
)

// sample keeps the rows with the smallest random numbers, which depend on seed and row number only.
type sample struct {
	seed   uint64
	stream stream.Stream
	most   int
	d      int
	drawn  []drawn // a heap, the largest number first
	values []float64
	seen   []bool
}

type drawn struct {
	number    uint64
	row, line int
	slot      int // of its cells
}

func (s *sample) offer(t *data.Table, i, row int) {
	d := drawn{number: s.stream.At(s.seed, stream.Survey, uint64(row)).Uint64(), row: row, slot: len(s.drawn)}
	if t.Lines != nil {
		d.line = t.Lines[i]
	}
	values, seen := t.Values[i*s.d:(i+1)*s.d], t.Observed[i*s.d:(i+1)*s.d]
	switch {
	case len(s.drawn) < s.most:
		s.values, s.seen = append(s.values, values...), append(s.seen, seen...)
		heap.Push(s, d)
	case d.number < s.drawn[0].number:
		d.slot = s.drawn[0].slot
		copy(s.values[d.slot*s.d:], values)
		copy(s.seen[d.slot*s.d:], seen)
		s.drawn[0] = d
		heap.Fix(s, 0)
	}
}

func (s *sample) table(names []string) *data.Table {
	slices.SortFunc(s.drawn, func(a, b drawn) int { return cmp.Compare(a.row, b.row) })
	t := &data.Table{Names: names, N: len(s.drawn), D: s.d}
	for _, d := range s.drawn {
		t.Values = append(t.Values, s.values[d.slot*s.d:(d.slot+1)*s.d]...)
		t.Observed = append(t.Observed, s.seen[d.slot*s.d:(d.slot+1)*s.d]...)
		t.Lines = append(t.Lines, d.line)
	}
	return t
}

func (s *sample) Len() int           { return len(s.drawn) }
func (s *sample) Less(i, j int) bool { return s.drawn[i].number > s.drawn[j].number }
func (s *sample) Swap(i, j int)      { s.drawn[i], s.drawn[j] = s.drawn[j], s.drawn[i] }
func (s *sample) Push(x any)         { s.drawn = append(s.drawn, x.(drawn)) }
func (s *sample) Pop() any {
	last := s.drawn[len(s.drawn)-1]
	s.drawn = s.drawn[:len(s.drawn)-1]
	return last
}
