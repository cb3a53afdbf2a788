package rows

import (
	"missingscore/data"
	"missingscore/internal/memory"
)

// singles are the rows of a file as float32, 4 bytes a cell and a bit for whether it is observed.
type singles struct {
	d        int
	starts   []int // rows before each block, and before the end
	values   []float32
	observed []uint64
}

const (
	// SingleBytes are what a cell takes that is held as float32.
	SingleBytes = 33. / 8

	singleShare = 0.5 // of the memory that may be used, which singles may take
)

// newSingles makes room for n rows of d columns, nil where there is too little.
func newSingles(n, d int) (*singles, error) {
	limit, err := memory.Limit()
	if err != nil || SingleBytes*float64(n)*float64(d) > singleShare*limit {
		return nil, err
	}
	return &singles{d: d, starts: []int{0}, values: make([]float32, 0, n*d), observed: make([]uint64, (n*d+63)/64)}, nil
}

// add takes the rows of the next block.
func (s *singles) add(t *data.Table) {
	for k, seen := range t.Observed {
		if at := len(s.values); seen {
			s.observed[at/64] |= 1 << (at % 64)
		}
		s.values = append(s.values, float32(t.Values[k]))
	}
	s.starts = append(s.starts, len(s.values)/max(1, s.d))
}

// appendTo appends the rows of block k.
func (s *singles) appendTo(t *data.Table, k int) {
	from, to := s.starts[k], s.starts[k+1]
	for at := from * s.d; at < to*s.d; at++ {
		t.Values = append(t.Values, float64(s.values[at]))
		t.Observed = append(t.Observed, s.observed[at/64]>>(at%64)&1 == 1)
	}
	t.N += to - from
}
