package source

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
	mean, sd []float64
	scale    []float64 // of the batch's rows, with noise
	draws    independent
}

// NewProposal makes the source of Proposal.
func NewProposal(s Setting) (Source, error) {
	d := s.Model.Dim()
	return &proposal{mean: make([]float64, d), sd: slices.Repeat([]float64{s.ProposalSD}, d), draws: newIndependent(s.Draws, s.Domain)}, nil
}

// NewNormals makes a source that draws from N(mean_j, sd_j²) for each column, restricted
// to the setting's domain; its ProposalSD means nothing.
func NewNormals(mean, sd []float64, s Setting) Source {
	return &proposal{mean: mean, sd: sd, draws: newIndependent(s.Draws, s.Domain)}
}

// Complete implements Source.
func (p *proposal) Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error {
	return p.draws.complete(b, x, logProposal, p.normals(b), rng)
}

// CompleteSingle implements SingleSource.
func (p *proposal) CompleteSingle(b *data.Batch, x, logProposal []float32, rng *Stream) error {
	return p.draws.completeSingle(b, x, logProposal, p.normals(b), rng)
}

// RHat implements Chained: of rows at which rejection fails.
func (p *proposal) RHat(b *data.Batch, rng *Stream) ([]float64, error) {
	return p.draws.rhat(b, p.normals(b), rng)
}

func (p *proposal) normals(b *data.Batch) normals {
	n := normals{mean: p.mean, sd: p.sd}
	if b.Noise == nil {
		return n
	}
	p.scale = p.scale[:0]
	for i, a := range b.Signal {
		p.scale = append(p.scale, math.Hypot(a, b.Noise[i]/p.sd[0]))
	}
	n.scale = p.scale
	return n
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi) // of a normal density's constant
