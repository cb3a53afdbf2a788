package losses

import (
	"context"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses/latent"
	"missingscore/losses/pairwise"
)

// GaussianLatent is score matching's loss of a normal model with the second moments of the
// latent numbers behind a table of ordered categories, numbers and gaps, completed by stochastic
// EM (docs/theory/ordinal.md#eq-latent-em). It is right under MAR.
type GaussianLatent struct{}

var _ OfMatrix = GaussianLatent{}

func (GaussianLatent) Name() string { return "gaussian-latent" }
func (GaussianLatent) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Ordinal: true}
}

// Check implements Loss.
func (GaussianLatent) Check(m model.Model, o Objective) error { return GaussianPairwise{}.Check(m, o) }

// CheckDomain implements DomainChecker.
func (GaussianLatent) CheckDomain(s *domain.Domain) error { return GaussianPairwise{}.CheckDomain(s) }

// Add implements Loss: there is no program.
func (GaussianLatent) Add(b *graph.Builder, m model.Model, o Objective, r Rows, w Weighting) Result {
	return GaussianPairwise{}.Add(b, m, o, r, w)
}

// Matrix implements OfMatrix. A P that other rows gave is judged by moments of pairs.
func (GaussianLatent) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairwise.Moments, error) {
	if !fit {
		return pairwise.Of(ctx, t, rows, counts, workers)
	}
	return latent.Of(ctx, t, rows, counts, workers)
}
