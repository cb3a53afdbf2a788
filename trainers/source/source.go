package source

import (
	"fmt"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/nets"
)

// Stream is a *rand.Rand that draws normals in bulk too, the same ones.
type Stream = stream.Stream

// Source says where the missing values come from: one of the four choices that
// make an estimator. Each worker has its own.
type Source interface {
	// Complete fills x (b·r, d) with the batch's rows, r times each, their gaps
	// filled, and logProposal (b·r) with the log density of what was drawn.
	Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error
}

// SingleSource is a Source that can also write into a program's float32 memory, by
// other draws, where the domain has no boundary.
type SingleSource interface {
	Source
	CompleteSingle(b *data.Batch, x, logProposal []float32, rng *Stream) error
}

// Setting is what a source may build on.
type Setting struct {
	Model      model.Model
	Imputer    *nets.Imputer // nil unless the estimator trains one
	Batch      int           // table rows in a batch
	Draws      int           // r
	ProposalSD float64       // of an estimator that Proposes
	DType      graph.DType
	Domain     *domain.Domain // the support, nil for all of R^d
}

// Repeat writes each row of the batch r times, zero where missing.
func Repeat[T graph.Float](b *data.Batch, r int, x []T) {
	for i := range b.Size {
		first, row := x[i*r*b.D:(i*r+1)*b.D], b.X[i*b.D:(i+1)*b.D]
		convert(first, row)
		for k := 1; k < r; k++ {
			copy(x[(i*r+k)*b.D:], first)
		}
	}
}

// zeros leaves 0 in the gaps: for rows without any, for Zeroed, and for losses
// in closed form, which look at the mask themselves.
type zeros struct{}

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

// AsGaussian is for sources and methods that need a normal model.
func AsGaussian(m model.Model, what string) (*model.Gaussian, error) {
	g, ok := m.(*model.Gaussian)
	if _, patterned := m.(model.MaskConditional); patterned {
		return nil, fmt.Errorf("%s needs missing cells that are normal given the observed ones, and with a model of missingness they are not; use iw, variw or var", what)
	}
	if !ok {
		return nil, fmt.Errorf("%s needs a Gaussian model, this is another; use var, variw or iw", what)
	}
	return g, nil
}
