package inference

import (
	"context"
	"math"

	"missingscore/trainers/regpath"
)

// Again makes the whole estimate of a network again on the given rows of the table, with a seed of its own. Fit.Failed
// says why there is no result; an error ends them all.
type Again func(ctx context.Context, rows []int, seed uint64) (Fit, error)

// Fit is a network: its edges as places among the pairs of nodes (0,1), (0,2), … in column order,
// and their partial correlations, with a nominal column strengths.
type Fit struct {
	Done    bool
	Failed  string // why there is none
	Edges   []int
	Partial []float64
}

// FitOf is the network that a path has ended with.
func FitOf(r *regpath.Run) Fit {
	f, d, i := Fit{Done: true}, len(r.Nodes()), 0
	point := regpath.Point{Packed: r.NodePrecision(r.Model().Packed.Value)}
	edges := point.Adjacency(d, r.Config.Threshold).Edge
	for j := range d {
		for k := j + 1; k < d; k++ {
			if edges[i] {
				f.Edges, f.Partial = append(f.Edges, i), append(f.Partial, point.PartialCorrelation(d, j, k))
			}
			i++
		}
	}
	return f
}

// Weights are the partial correlations of all so many pairs, 0 where there is no edge.
func (f Fit) Weights(pairs int) []float64 {
	w := make([]float64, pairs)
	for i, at := range f.Edges {
		w[at] = f.Partial[i]
	}
	return w
}

// Strengths are the sums of the sizes of the partial correlations of each of d columns.
func (f Fit) Strengths(d int) []float64 {
	s, weights, i := make([]float64, d), f.Weights(d*(d-1)/2), 0
	for j := range d {
		for k := j + 1; k < d; k++ {
			size := math.Abs(weights[i])
			s[j], s[k] = s[j]+size, s[k]+size
			i++
		}
	}
	return s
}

// State is what is finished of the estimates that are made again: by their numbers.
type State struct {
	Resamples  []Fit // of the bootstrap
	Subsamples []Fit // of the case-dropping stability
}

// Left are the numbers of those that are asked for and not made, of subsamples after those
// of resamples.
func (s *State) Left(c Config) (left []int) {
	if s == nil {
		s = &State{}
	}
	for k, made := range [][]Fit{s.Resamples, s.Subsamples} {
		for i := range [2]int{c.Resamples, c.Stability}[k] {
			if i >= len(made) || !made[i].Done {
				left = append(left, i)
			}
		}
	}
	return left
}

// Join takes over what another state has.
func (s *State) Join(other *State) {
	if other == nil {
		return
	}
	for k, to := range []*[]Fit{&s.Resamples, &s.Subsamples} {
		from := [][]Fit{other.Resamples, other.Subsamples}[k]
		*to = append(*to, make([]Fit, max(0, len(from)-len(*to)))...)
		for i, f := range from {
			if f.Done {
				(*to)[i] = f
			}
		}
	}
}

// Shard is a part of the estimates that are made again: those of the numbers I − 1, I − 1 + N,
// …, counted from 0. The zero value is all.
type Shard struct{ I, N int }

// Has tells whether a number is the shard's.
func (s Shard) Has(number int) bool { return s.N == 0 || number%s.N == s.I-1 }
