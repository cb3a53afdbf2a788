package survey

import (
	"math/bits"

	"missingscore/data"
)

// pairs counts the rows that have both columns of each pair.
type pairs struct {
	d    int
	both []int // (d, d), of j ≤ k
}

func newPairs(d int) *pairs { return &pairs{d, make([]int, d*d)} }

// count adds a block's rows.
func (p *pairs) count(t *data.Table) {
	words := (t.N + 63) / 64
	marks, own := make([]uint64, p.d*words), make([]int, p.d)
	for i := range t.N {
		for j, seen := range t.Observed[i*p.d : (i+1)*p.d] {
			if seen {
				marks[j*words+i/64] |= 1 << (i % 64)
				own[j]++
			}
		}
	}
	for j := range p.d {
		a := marks[j*words : (j+1)*words]
		for k := j; k < p.d; k++ {
			switch {
			case own[j] == t.N:
				p.both[j*p.d+k] += own[k]
			case own[k] == t.N:
				p.both[j*p.d+k] += own[j]
			default:
				for i, w := range marks[k*words : (k+1)*words] {
					p.both[j*p.d+k] += bits.OnesCount64(a[i] & w)
				}
			}
		}
	}
}

func (p *pairs) add(o *pairs) {
	for k, n := range o.both {
		p.both[k] += n
	}
}

// counts are those of pairs j < k: (0,1), (0,2), …
func (p *pairs) counts() (of []int) {
	for j := range p.d {
		of = append(of, p.both[j*p.d+j+1:(j+1)*p.d]...)
	}
	return of
}
