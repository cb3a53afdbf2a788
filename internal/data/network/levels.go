package network

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"missingscore/internal/printable"
)

// Side is one end of an edge: its columns in a precision, and its level names, nil for numbers. One
// column has two levels, low and high; K − 1 columns are the utilities of levels 2 to K minus the
// utility of the first.
type Side struct {
	First, Width int
	Levels       []string
}

// LevelPair is the association of two levels; a name is empty for an end with a number.
type LevelPair struct {
	From        string  `json:"level_from,omitempty"`
	To          string  `json:"level_to,omitempty"`
	Association float64 `json:"association"`
}

// Together returns the associations of the levels of two sides of a precision P. With Σ the
// covariance of their columns given all other columns and c_k = u_k − ū the centred utility of level k,
//
//	association = Cov(c_k, c_l) / √(Var(c_k) Var(c_l))
//
// in [−1, 1], for any order of levels. A number is its own c; two levels of a latent number z are
// −z/2 and z/2. It fails if P is not positive definite.
func Together(p mat.Symmetric, a, b Side) ([]LevelPair, error) {
	d := a.Width + b.Width
	columns := make([]int, 0, d)
	for _, s := range []Side{a, b} {
		for k := range s.Width {
			columns = append(columns, s.First+k)
		}
	}
	own := mat.NewSymDense(d, nil)
	for j := range d {
		for k := j; k < d; k++ {
			own.SetSym(j, k, p.At(columns[j], columns[k]))
		}
	}
	var factor mat.Cholesky
	var sigma mat.SymDense
	if !factor.Factorize(own) || factor.InverseTo(&sigma) != nil {
		return nil, errors.New("the precision is not positive definite")
	}
	first, second := a.contrasts(), b.contrasts()
	from, _ := first.Dims()
	to, _ := second.Dims()
	all := mat.NewDense(from+to, d, nil)
	all.Slice(0, from, 0, a.Width).(*mat.Dense).Copy(first)
	all.Slice(from, from+to, a.Width, d).(*mat.Dense).Copy(second)
	var c mat.Dense
	c.Product(all, &sigma, all.T())
	var out []LevelPair
	for k := range from {
		for l := range to {
			out = append(out, LevelPair{a.level(k), b.level(l), c.At(k, from+l) / math.Sqrt(c.At(k, k)*c.At(from+l, from+l))})
		}
	}
	return out, nil
}

func (s Side) contrasts() *mat.Dense {
	switch {
	case s.Levels == nil:
		return mat.NewDense(1, 1, []float64{1})
	case s.Width == 1:
		return mat.NewDense(2, 1, []float64{-0.5, 0.5})
	}
	k := float64(s.Width + 1)
	c := mat.NewDense(s.Width+1, s.Width, nil)
	c.Apply(func(i, j int, _ float64) float64 {
		if i == j+1 {
			return 1 - 1/k
		}
		return -1 / k
	}, c)
	return c
}

func (s Side) level(k int) string {
	if s.Levels == nil {
		return ""
	}
	return s.Levels[k]
}

func (n *Network) HasLevels() bool {
	return slices.ContainsFunc(n.Edges, func(e Edge) bool { return e.Together != nil })
}

// WriteLevels writes CSV with the columns from, level_from, to, level_to and association: all
// LevelPairs of each edge with levels.
func (n *Network) WriteLevels(w io.Writer) error {
	lines := [][]string{{"from", "level_from", "to", "level_to", "association"}}
	for _, e := range n.Edges {
		for _, p := range e.Together {
			lines = append(lines, append(printable.Texts([]string{e.From, p.From, e.To, p.To}), number(p.Association)))
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}
