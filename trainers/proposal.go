package trainers

import (
	"math"
	"slices"

	"missingscore/data"
	"missingscore/internal/stream"
)

// proposal draws each missing cell from N(0, sd²), whatever was observed, restricted
// to the domain: the fixed p' of Marg-IW. The paper takes sd = 4; on standardised
// columns sd = 1 is each column's own observed mean and deviation, and keeps several
// times the effective sample size.
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
func (p *proposal) Complete(b *data.Batch, x, logProposal []float64, rng *stream.Stream) error {
	return p.draws.complete(b, p.r, x, logProposal, func(int) []float64 { return p.mean }, p.sd, rng)
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi) // of a normal density's constant
