package pairwise

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"missingscore/graph"
)

// Sparse is a symmetric matrix of which only the diagonal and the pairs j < k that are not
// zero are kept, in the order of columns.
type Sparse struct {
	D        int
	Diagonal []float64
	At       [][2]int32 // j < k
	Value    []float64
}

// Identity is the start of a path.
func Identity(d int) *Sparse {
	p := &Sparse{D: d, Diagonal: make([]float64, d)}
	for j := range p.Diagonal {
		p.Diagonal[j] = 1
	}
	return p
}

// FromPacked takes a matrix in the order of graph.PackedIndex.
func FromPacked(packed []float64, d int) *Sparse {
	p := &Sparse{D: d}
	i := 0
	for j := range d {
		p.Diagonal = append(p.Diagonal, packed[i])
		for k := j + 1; k < d; k++ {
			if i++; packed[i] != 0 {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, packed[i])
			}
		}
		i++
	}
	return p
}

// ToPacked sets packed, in the order of graph.PackedIndex, to the matrix.
func (p *Sparse) ToPacked(packed []float64) {
	clear(packed)
	for j, v := range p.Diagonal {
		packed[graph.PackedIndex(p.D, j, j)] = v
	}
	for i, at := range p.At {
		packed[graph.PackedIndex(p.D, int(at[0]), int(at[1]))] = p.Value[i]
	}
}

// Scale takes P_jk times unit_j unit_k.
func (p *Sparse) Scale(unit []float64) {
	for j, u := range unit {
		p.Diagonal[j] *= u * u
	}
	for i, at := range p.At {
		p.Value[i] *= unit[at[0]] * unit[at[1]]
	}
}

// Element is P_jk.
func (p *Sparse) Element(j, k int) float64 {
	if j == k {
		return p.Diagonal[j]
	}
	at := [2]int32{int32(min(j, k)), int32(max(j, k))}
	if i, ok := slices.BinarySearchFunc(p.At, at, order); ok {
		return p.Value[i]
	}
	return 0
}

// order is that of columns.
func order(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// sort puts the pairs in the order of columns.
func (p *Sparse) sort() { sort.Sort((*byPlace)(p)) }

type byPlace Sparse

func (p *byPlace) Len() int { return len(p.At) }

func (p *byPlace) Less(a, b int) bool {
	return order(p.At[a], p.At[b]) < 0
}

func (p *byPlace) Swap(a, b int) {
	p.At[a], p.At[b] = p.At[b], p.At[a]
	p.Value[a], p.Value[b] = p.Value[b], p.Value[a]
}

// On is the matrix with the diagonal of packed and the pairs that are not held, in the order
// of graph.PackedIndex, zeros among them.
func On(packed []float64, held []bool, d int) *Sparse {
	p := &Sparse{D: d}
	i := 0
	for j := range d {
		p.Diagonal = append(p.Diagonal, packed[i])
		for k := j + 1; k < d; k++ {
			if i++; !held[i] {
				p.At, p.Value = append(p.At, [2]int32{int32(j), int32(k)}), append(p.Value, packed[i])
			}
		}
		i++
	}
	return p
}

// Finite tells whether its elements are numbers of a size that a precision of standardised
// columns can have.
func (p *Sparse) Finite() bool {
	for _, values := range [][]float64{p.Diagonal, p.Value} {
		for _, v := range values {
			if !(math.Abs(v) < farthest) {
				return false
			}
		}
	}
	return true
}

// neighbours are those of each column.
func (p *Sparse) neighbours() []neighbours {
	rows := make([]neighbours, p.D)
	for i, at := range p.At {
		for side, j := range at {
			n := &rows[j]
			n.at, n.value = append(n.at, at[1-side]), append(n.value, p.Value[i])
		}
	}
	return rows
}

// Loss is ½ tr(PSP) − tr P by the second moments s, (d, d).
func (p *Sparse) Loss(s []float64) (loss float64) {
	d := p.D
	for j, n := range p.neighbours() {
		// (PSP)_jj = Σ_kl P_jk S_kl P_lj
		n.at, n.value = append(n.at, int32(j)), append(n.value, p.Diagonal[j])
		square := 0.0
		for a, k := range n.at {
			row, sum := s[int(k)*d:(int(k)+1)*d], 0.0
			for b, l := range n.at {
				sum += n.value[b] * row[l]
			}
			square += n.value[a] * sum
		}
		loss += square/2 - p.Diagonal[j]
	}
	return loss
}
