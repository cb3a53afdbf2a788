package trainers

import (
	"math"
	"slices"

	"missingscore/data"
)

// proposal draws each missing cell from N(0, sd²), whatever was observed, restricted
// to the domain: the fixed p' of Marg-IW. The paper takes sd = 4; on standardised
// columns sd = 1 is each column's own observed mean and deviation, and keeps several
// times the effective sample size. Of rows a x + σ ε it is the same with noise added,
// N(0, a² sd² + σ²).
type proposal struct {
	r        int
	mean, sd []float64
	draws    restricted
}

func newProposal(s Setting) (Source, error) {
	d := s.Model.Dim()
	return &proposal{r: s.Draws, mean: make([]float64, d), sd: slices.Repeat([]float64{s.ProposalSD}, d), draws: restricted{domain: s.Domain}}, nil
}

// Complete implements Source.
func (p *proposal) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	var scale func(int) float64
	if b.Noise != nil {
		scale = func(i int) float64 { return math.Hypot(b.Signal[i], b.Noise[i]/p.sd[0]) }
	}
	return p.draws.complete(b, p.r, x, logProposal, func(int) []float64 { return p.mean }, p.sd, scale, rng)
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi) // of a normal density's constant
