package completed

import (
	"slices"

	"missingscore/data/network"
)

// Support are the elements of θ = (η, P) that a network leaves free: η, the diagonal of P,
// and P_jk of its edges.
type Support struct {
	Places []int // of its members among θ, increasing
	own    []int // numbers of those members that every network has: η and the diagonal

	d       int
	columns [][]member // of column j: the members that its score has
	pairs   []pair     // the members
}

// pair is P_jk or, with k = −1, η_j.
type pair struct{ j, k int }

// member is one of a column's score s_j = Σ z θ: z is 1 for η_j, −x_k for P_jk.
type member struct {
	number int // among Support.Places
	k      int // −1 for η_j
}

// NewSupport is that of a network.
func NewSupport(a network.Adjacency) *Support {
	d := a.D
	s := &Support{d: d, columns: make([][]member, d)}
	add := func(j, k, at int) {
		number := len(s.Places)
		s.Places, s.pairs = append(s.Places, at), append(s.pairs, pair{j, k})
		s.columns[j] = append(s.columns[j], member{number, k})
		if k >= 0 && k != j {
			s.columns[k] = append(s.columns[k], member{number, j})
		} else {
			s.own = append(s.own, number)
		}
	}
	for j := range d {
		add(j, -1, j)
	}
	for j, i := 0, 0; j < d; j++ {
		add(j, j, place(d, j, j))
		for k := j + 1; k < d; k, i = k+1, i+1 {
			if a.Edge[i] {
				add(j, k, place(d, j, k))
			}
		}
	}
	return s
}

// Everything is the support of a network with every edge.
func Everything(d int) *Support {
	return NewSupport(network.Adjacency{D: d, Edge: slices.Repeat([]bool{true}, d*(d-1)/2)})
}

// Size is the number of members.
func (s *Support) Size() int { return len(s.Places) }

// of are a θ's members.
func (s *Support) of(theta []float64) []float64 {
	out := make([]float64, 0, s.Size())
	for _, at := range s.Places {
		out = append(out, theta[at])
	}
	return out
}

// spread is the θ with these members, 0 elsewhere.
func (s *Support) spread(members []float64) []float64 {
	theta := make([]float64, s.d*(s.d+3)/2)
	for i, at := range s.Places {
		theta[at] = members[i]
	}
	return theta
}
