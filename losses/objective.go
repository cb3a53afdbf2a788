package losses

import (
	"fmt"
	"math/rand/v2"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/data/noise"
)

// Parts are the terms of an objective. Every objective of the paper is, per table row, with m score
// terms j,
//
//	ℓ = E[R] + Σ_j c_j E[S_j]²
//
// with E the expectation over imputations. The parts determine the reported loss, the pseudo-loss
// with h = R + Σ_j 2 c_j sg(E[S_j]) S_j, and the loss of a completed row, R + Σ_j c_j S_j².
type Parts struct {
	Linear    graph.Node // R (B, 1)
	Score     graph.Node // S (B, m)
	Quadratic graph.Node // c (b, m), constant
}

func partsOf(b *graph.Builder, o Objective, rows Rows, t model.Evaluation) Parts {
	p := o.Parts(b, rows, t)
	if p.Linear == nil || p.Score == nil || p.Quadratic == nil {
		b.Failf("objective %T lacks one of its parts Linear, Score and Quadratic", o)
	}
	return p
}

// Objective computes the parts from a model's evaluation at the completed rows.
type Objective interface {
	// Parts adds the parts and the objective's own inputs.
	Parts(b *graph.Builder, rows Rows, t model.Evaluation) Parts
	// Bind fills these inputs for a batch with imputed cells; rng is the batch's random stream.
	Bind(p graph.Inputs, batch *data.Batch, rng *rand.Rand)
}

// Drawing is an objective that draws at random, by the rng of Bind or AddNoise.
type Drawing interface {
	Objective
	Draws() bool
}

// Draws reports whether an objective draws at random.
func Draws(o Objective) bool {
	d, ok := o.(Drawing)
	return ok && d.Draws()
}

// Noising is an objective on noisy rows. Its programs have the inputs InputSignal and
// InputNoiseLevel, which model.NoiseConditional models use.
type Noising interface {
	Objective
	// AddNoise draws levels and noise for a batch before imputation.
	AddNoise(batch *data.Batch, rng *rand.Rand)
	// Schedule returns the noise schedule. With a single level any model is supported.
	Schedule() noise.Schedule
}

// Classical is Hyvärinen's objective on the observed coordinates Λ (paper, equation of the marginal
// loss; docs/theory/objectives.md#eq-classical):
//
//	R = Σ_{j∈Λ} 2D_j + 2s_j²,  S = s,  c_j = −1 for j ∈ Λ, else 0
//
// A completed row has the loss Σ_{j∈Λ} 2D_j + s_j². Units: 1/x².
var Classical Objective = classical{}

type classical struct{}

func (classical) Parts(b *graph.Builder, rows Rows, t model.Evaluation) Parts {
	twice := b.Scale(2, rows.Mask)
	return Parts{
		Linear:    b.Add(b.GroupDot(twice, t.NeedDiagonal(b), rows.R), graph.GroupSquares(b, twice, t.NeedScore(b), rows.R)),
		Score:     t.NeedScore(b),
		Quadratic: b.Scale(-1, rows.Mask),
	}
}

func (classical) Bind(graph.Inputs, *data.Batch, *rand.Rand) {}

// Schedule is the noise levels of a Noising objective: Kind fixed, exploding or preserving, its
// Least and Most standard deviation, and the number of Levels, 0 for a continuum.
type Schedule = noise.Schedule

// ObjectiveSetting holds the arguments of an ObjectiveMaker.
type ObjectiveSetting struct {
	Dim     int            // d, the columns of the table
	Names   []string       // column names, if known
	Options []byte         // a JSON object, nothing for the defaults
	Domain  *domain.Domain // nil for R^d
	Weight  domain.Weight  // g on it
}

func (s ObjectiveSetting) check() error {
	switch {
	case s.Dim < 1:
		return fmt.Errorf("a table of %d columns", s.Dim)
	case s.Names != nil && len(s.Names) != s.Dim:
		return fmt.Errorf("%d names for %d columns", len(s.Names), s.Dim)
	case s.Domain != nil && len(s.Domain.Lower) != s.Dim:
		return fmt.Errorf("a domain of %d columns for %d", len(s.Domain.Lower), s.Dim)
	}
	return nil
}

// ObjectiveMaker makes an objective.
type ObjectiveMaker func(s ObjectiveSetting) (Objective, error)
