package diagnose

import (
	"math"
	"slices"
)

const (
	digitBits    = 11
	digits       = 6    // of 64 bits
	leastByDigit = 2048 // values from which on sorting by digits takes less time than by comparisons
)

// sorter puts numbers, none of them NaN, in increasing order: many by the digits of their
// bits, from the last on (Knuth 1998, The Art of Computer Programming 3, 5.2.5).
type sorter struct{ keys, room []uint64 }

func (s *sorter) sort(x []float64) {
	if len(x) < leastByDigit {
		slices.Sort(x)
		return
	}
	if cap(s.keys) < len(x) {
		s.keys, s.room = make([]uint64, len(x)), make([]uint64, len(x))
	}
	keys, room := s.keys[:len(x)], s.room[:len(x)]
	var counts [digits][1 << digitBits]int
	for i, v := range x {
		key := math.Float64bits(v)
		if key>>63 == 1 {
			key = ^key
		} else {
			key |= 1 << 63
		}
		keys[i] = key
		for digit := range counts {
			counts[digit][key>>(digit*digitBits)&(1<<digitBits-1)]++
		}
	}
	for digit := range counts {
		of, sum := &counts[digit], 0
		shift := digit * digitBits
		if of[keys[0]>>shift&(1<<digitBits-1)] == len(keys) { // all have the same
			continue
		}
		for k, n := range of {
			of[k] = sum
			sum += n
		}
		for _, key := range keys {
			place := &of[key>>shift&(1<<digitBits-1)]
			room[*place] = key
			*place++
		}
		keys, room = room, keys
	}
	for i, key := range keys {
		if key>>63 == 1 {
			key &^= 1 << 63
		} else {
			key = ^key
		}
		x[i] = math.Float64frombits(key)
	}
}
