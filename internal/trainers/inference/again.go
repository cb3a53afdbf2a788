package inference

import (
	"context"
	"math"

	"missingscore/internal/trainers/regpath"
)

// Again repeats the whole estimate on the given rows with a seed. Fit.Failed holds the reason of a
// failure; an error stops all repetitions.
type Again func(ctx context.Context, rows []int, seed uint64) (Fit, error)

// Fit is a network: its edges as indices among the pairs of nodes (0,1), (0,2), …, and their
// partial correlations (strengths if a column is nominal).
type Fit struct {
	Done    bool
	Failed  string // reason of a failure; else empty
	Edges   []int
	Partial []float64
}

func FitOf(r *regpath.Run) Fit {
	f, d, i := Fit{Done: true}, len(r.Nodes()), 0
	point := regpath.PointOf(r.NodePrecision(r.Model().Packed.Value), d)
	edges := point.Adjacency(r.Config.Threshold).Edge
	for j := range d {
		for k := j + 1; k < d; k++ {
			if edges[i] {
				f.Edges, f.Partial = append(f.Edges, i), append(f.Partial, point.PartialCorrelation(j, k))
			}
			i++
		}
	}
	return f
}

func (f Fit) Weights(pairs int) []float64 {
	w := make([]float64, pairs)
	for i, at := range f.Edges {
		w[at] = f.Partial[i]
	}
	return w
}

// Strengths returns the sum of absolute partial correlations of each column.
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

type State struct {
	Resamples  []Fit // of the bootstrap
	Subsamples []Fit // of the case-dropping stability
}

// Left returns the unfinished repetitions; subsamples follow resamples.
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

// Shard selects the repetitions I − 1, I − 1 + N, … (from 0). The zero value selects all.
type Shard struct{ I, N int }

func (s Shard) Has(number int) bool { return s.N == 0 || number%s.N == s.I-1 }
