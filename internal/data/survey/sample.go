package survey

import (
	"cmp"
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
	drawn  []drawn
	below  uint64 // once enough rows are drawn, rows with larger numbers are not in the sample
}

type drawn struct {
	number    uint64
	row, line int
	values    []float64
	seen      []bool
}

func (s *sample) offer(t *data.Table, i, row int) {
	d := drawn{number: s.stream.At(s.seed, stream.Survey, uint64(row)).Uint64(), row: row}
	if d.number > s.below {
		return
	}
	if t.Lines != nil {
		d.line = t.Lines[i]
	}
	d.values, d.seen = slices.Clone(t.Values[i*t.D:(i+1)*t.D]), slices.Clone(t.Observed[i*t.D:(i+1)*t.D])
	if s.drawn = append(s.drawn, d); len(s.drawn) == 2*s.most {
		s.cut()
	}
}

func (s *sample) cut() {
	if len(s.drawn) > s.most {
		slices.SortFunc(s.drawn, func(a, b drawn) int { return cmp.Compare(a.number, b.number) })
		s.drawn = slices.Delete(s.drawn, s.most, len(s.drawn))
		s.below = s.drawn[s.most-1].number
	}
}

func (s *sample) table(names []string) *data.Table {
	s.cut()
	slices.SortFunc(s.drawn, func(a, b drawn) int { return cmp.Compare(a.row, b.row) })
	t := &data.Table{Names: names, N: len(s.drawn), D: len(names)}
	for _, d := range s.drawn {
		t.Values, t.Observed, t.Lines = append(t.Values, d.values...), append(t.Observed, d.seen...), append(t.Lines, d.line)
	}
	return t
}
