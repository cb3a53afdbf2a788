// Package source answers where the values in a table's gaps come from, one of the five
// choices that make an estimator.
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

// Stream embeds a *math/rand/v2.Rand, with all its methods, and has further ones for draws in bulk:
//
//	Normals(dst []float64)  the standard normals that as many calls of NormFloat64 give
type Stream = stream.Stream

// Source fills gaps. Each worker has its own.
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

// Chained is a Source some of whose draws are ends of Markov chains.
type Chained interface {
	Source
	// RHat is the worst split R-hat of each filled row of the batch, of chains at the model
	// as it is; 0 for rows that have none. What Complete draws does not depend on it.
	RHat(b *data.Batch, rng *Stream) ([]float64, error)
}

// Setting is what a source may build on.
type Setting struct {
	Model      model.Model
	Table      *data.Table  // in the model's units, to read from: its marginals, say
	Imputer    nets.Imputer // nil unless Kind.Imputer
	Batch      int          // table rows in a batch
	Draws      int          // r
	ProposalSD float64      // for Kind.ProposalSD
	DType      graph.DType
	Domain     *domain.Domain // the support, nil for all of R^d
	Memory     Memory         // for Kind.Memory, what that made; nil: the source's own
}

// Kind is a way to fill gaps, with what it says of itself.
type Kind struct {
	Name, Note string
	New        func(Setting) (Source, error)

	// Memory makes what the source keeps between steps; nil: nothing. A source with memory is for models
	// with a log density, and for objectives that leave observed cells as they are.
	Memory func(Setting) (Memory, error)

	Random       bool // draws at random, r times for a row; otherwise once
	LogDensity   bool // gives the log density of its draws, for importance weights
	Imputer      bool // draws from an imputer, which is trained along
	ProposalSD   bool // is as wide as Setting.ProposalSD
	Normal       bool // needs a normal model
	Definite     bool // needs a normal model's precision positive definite on missing cells, for else there is nothing to draw from, or to train towards
	CompleteRows bool // is for tables without missing cells
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

// NormalModel is m where it is normal; what, a source or a method, needs it to be.
func NormalModel(m model.Model, what string) (model.Normal, error) {
	if _, patterned := m.(model.MaskConditional); patterned {
		return nil, fmt.Errorf("%s needs missing cells that are normal given the observed ones, and with a model of missingness they are not; use iw, variw or var", what)
	}
	g, ok := model.AsNormal(m)
	if !ok {
		return nil, fmt.Errorf("%s needs a Gaussian model, this is another; use var, variw or iw", what)
	}
	return g, nil
}

var (
	Zeros    = Kind{Name: "zeros", Note: "zeros in the gaps", New: newZeros}
	Complete = Kind{Name: "complete", Note: "no gaps", New: newZeros, CompleteRows: true}
	Proposal = Kind{Name: "proposal", Note: "independent draws from N(0, sd²)", New: NewProposal, Random: true, LogDensity: true, ProposalSD: true}
	Imputer  = Kind{Name: "imputer", Note: "draws of a trained imputer", New: NewImputer, Random: true, LogDensity: true, Imputer: true, Definite: true}
	Chains   = Kind{Name: "chains", Note: "persistent Markov chains towards the model's conditional", New: newChains, Memory: newChainMemory, Random: true}
	Exact    = Kind{Name: "exact", Note: "draws from a normal model's own conditional", New: NewExact, Random: true, LogDensity: true, Normal: true, Definite: true}
)

// Kinds are the kinds of sources by name. A new one is a line here, or an assignment in
// the init function of the package that has it.
var Kinds = map[string]Kind{Zeros.Name: Zeros, Complete.Name: Complete, Proposal.Name: Proposal, Imputer.Name: Imputer, Exact.Name: Exact, Chains.Name: Chains}

// Memory is what a source keeps from one step to the next, one for all workers and part of the fit's state.
type Memory interface {
	// Capture copies it, Restore puts it back to what Capture gave.
	Capture() []float64
	Restore([]float64)
}

// zeros leaves 0 in the gaps: for rows without any, for Zeroed, and for losses
// in closed form, which look at the mask themselves.
type zeros struct{}

// newZeros makes the source of Zeros, and of Complete.
func newZeros(Setting) (Source, error) { return zeros{}, nil }

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
