package trainers

import (
	"math"
	"math/rand/v2"

	"missingscore/data"
)

// proposal draws each missing cell from N(0, sd²), whatever was observed:
// the fixed p' of Marg-IW. The paper takes sd = 4; on standardised columns
// sd = 1 is each column's own observed mean and deviation, and keeps several
// times the effective sample size.
type proposal struct {
	r  int
	sd float64
}

func newProposal(s Setting) (Source, error) { return proposal{s.Draws, s.ProposalSD}, nil }

// Complete implements Source.
func (p proposal) Complete(b *data.Batch, x, logProposal []float64, rng *rand.Rand) error {
	repeat(b, p.r, x)
	constant := math.Log(p.sd) + halfLog2Pi
	for i := range len(b.Rows) {
		mask := b.Mask[i*b.D : (i+1)*b.D]
		for k := i * p.r; k < (i+1)*p.r; k++ {
			row, log := x[k*b.D:(k+1)*b.D], 0.0
			for j, observed := range mask {
				if observed == 0 {
					e := rng.NormFloat64()
					row[j] = p.sd * e
					log -= 0.5*e*e + constant
				}
			}
			logProposal[k] = log
		}
	}
	return nil
}

var halfLog2Pi = 0.5 * math.Log(2*math.Pi) // of a normal density's constant
