package source

import "missingscore/data"

// zeros leaves 0 in the gaps: for rows without any, for Zeroed, and for losses
// in closed form, which look at the mask themselves.
type zeros struct{}

// NewZeros makes the source of Zeros, and of Complete.
func NewZeros(Setting) (Source, error) { return zeros{}, nil }

// Complete implements Source.
func (zeros) Complete(b *data.Batch, x, logProposal []float64, _ *Stream) error {
	Repeat(b, len(logProposal)/b.Size, x)
	return nil
}

// CompleteSingle implements SingleSource.
func (zeros) CompleteSingle(b *data.Batch, x, logProposal []float32, _ *Stream) error {
	Repeat(b, len(logProposal)/b.Size, x)
	return nil
}
