// Package source provides the values of missing cells.
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

// Stream embeds a *math/rand/v2.Rand and adds bulk draws:
//
//	Normals(dst []float64)  the same standard normals as len(dst) calls of NormFloat64
type Stream = stream.Stream

// Source fills missing cells. It is not safe for concurrent use.
type Source interface {
	// Complete sets x (b·r, d) to the batch's rows, r times each, with missing cells filled, and
	// logProposal (b·r) to the draws' log density.
	Complete(b *data.Batch, x, logProposal []float64, rng *Stream) error
}

// SingleSource can also write float32, with other draws, on domains without a boundary.
type SingleSource interface {
	Source
	CompleteSingle(b *data.Batch, x, logProposal []float32, rng *Stream) error
}

// Chained is a Source with draws from Markov chains.
type Chained interface {
	Source
	// RHat returns the worst split R-hat of each filled row; 0 without chains. It does not affect
	// Complete.
	RHat(b *data.Batch, rng *Stream) ([]float64, error)
}

// Setting is the input of a source.
type Setting struct {
	Model      model.Model
	Table      *data.Table  // in the model's units
	Imputer    nets.Imputer // nil unless Kind.Imputer
	Batch      int          // rows per batch
	Draws      int          // r
	ProposalSD float64      // for Kind.ProposalSD
	DType      graph.DType
	Domain     *domain.Domain // support; nil: all of R^d
	Memory     Memory         // result of Kind.Memory
}

// Kind is a kind of source.
type Kind struct {
	Name, Note string
	New        func(Setting) (Source, error)

	// State kept between steps; nil: none. Sources with memory need a log density and an objective
	// without noise.
	Memory func(Setting) (Memory, error)

	Random       bool // draws at random, r times per row; else once
	LogDensity   bool // gives the log density of its draws, for importance weights
	Imputer      bool // draws from an imputer, which is trained
	ProposalSD   bool // uses Setting.ProposalSD
	Normal       bool // needs a normal model
	CompleteRows bool // for tables without missing cells
}

// Repeat writes each row r times, with 0 for missing cells.
func Repeat[T graph.Float](b *data.Batch, r int, x []T) {
	for i := range b.Size {
		first, row := x[i*r*b.D:(i*r+1)*b.D], b.X[i*b.D:(i+1)*b.D]
		convert(first, row)
		for k := 1; k < r; k++ {
			copy(x[(i*r+k)*b.D:], first)
		}
	}
}

// NormalModel returns m if it is normal; what names the source or method in the error.
func NormalModel(m model.Model, what string) (model.Normal, error) {
	if _, patterned := m.(model.MaskConditional); patterned {
		return nil, fmt.Errorf("%s cannot be combined with a missingness mechanism; use iw, variw or var", what)
	}
	g, ok := model.AsNormal(m)
	if !ok {
		return nil, fmt.Errorf("%s needs a Gaussian model; use var, variw or iw", what)
	}
	return g, nil
}

var (
	Zeros    = Kind{Name: "zeros", Note: "zeros in the gaps", New: newZeros}
	Complete = Kind{Name: "complete", Note: "no gaps", New: newZeros, CompleteRows: true}
	Proposal = Kind{Name: "proposal", Note: "independent draws from N(0, sd²)", New: newProposal, Random: true, LogDensity: true, ProposalSD: true}
	Imputer  = Kind{Name: "imputer", Note: "draws of a trained imputer", New: newImputer, Random: true, LogDensity: true, Imputer: true}
	Chains   = Kind{Name: "chains", Note: "persistent Markov chains towards the model's conditional", New: newChains, Memory: newChainMemory, Random: true}
	Exact    = Kind{Name: "exact", Note: "draws from a normal model's own conditional", New: newExact, Random: true, LogDensity: true, Normal: true}
)

// Kinds maps names to kinds of sources. Packages may add entries in init functions.
var Kinds = map[string]Kind{Zeros.Name: Zeros, Complete.Name: Complete, Proposal.Name: Proposal, Imputer.Name: Imputer, Exact.Name: Exact, Chains.Name: Chains}

// Memory is shared by all workers and saved with the fit.
type Memory interface {
	// Capture returns a copy; Restore sets the state to a captured one.
	Capture() []float64
	Restore([]float64)
}

// zeros is for complete rows, for Zeroed, and for losses in closed form.
type zeros struct{}

func newZeros(Setting) (Source, error) { return zeros{}, nil }

func (zeros) Complete(b *data.Batch, x, logProposal []float64, _ *Stream) error {
	Repeat(b, len(logProposal)/b.Size, x)
	return nil
}

func (zeros) CompleteSingle(b *data.Batch, x, logProposal []float32, _ *Stream) error {
	Repeat(b, len(logProposal)/b.Size, x)
	return nil
}
