package losses

import (
	"context"
	"errors"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses/latent"
	"missingscore/losses/pairmoments"
)

// OfMatrix is a loss that knows a table by one matrix of second moments about zero, S, and is
//
//	tr(PSP) − 2 tr P
//
// of a normal model's precision P. It has no program of batches: a network's path goes by
// the matrix. A new one is a type with this method, and a line in Losses and in
// estimator.All.
type OfMatrix interface {
	Loss
	// Matrix takes it from some rows of a table, counts saying how often each row of the
	// table counts, nil for once. It is to be positive semidefinite if fit, and as it comes if
	// it is to judge a P that other rows gave. Its bytes do not depend on workers.
	Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error)
}

// GaussianPairwise is score matching's loss of a normal model with second moments taken pair by
// pair, over the rows that have both columns (docs/theory/pairwise.md#eq-pairwise). To fit
// they are shrunk until they are positive definite (pairmoments.Moments.Shrink). Without gaps it
// is ordinary score matching.
type GaussianPairwise struct{}

var _ OfMatrix = GaussianPairwise{}

func (GaussianPairwise) Name() string { return "gaussian-pairwise" }
func (GaussianPairwise) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MCAR}
}

// Check implements Loss.
func (GaussianPairwise) Check(m model.Model, o Objective) error {
	if _, ok := model.AsNormal(m); !ok {
		return errors.New("pairwise moments are for normal models without a missingness mechanism")
	}
	if _, ok := o.(Plain); !ok {
		return errors.New("pairwise moments are for the classical objective and columns without bounds")
	}
	return nil
}

// CheckDomain implements DomainChecker.
func (GaussianPairwise) CheckDomain(s *domain.Domain) error {
	if s.Bounded() || s.Censored() {
		return errors.New("pairwise moments are for columns without bounds")
	}
	return nil
}

// Add implements Loss: there is no program.
func (l GaussianPairwise) Add(b *graph.Builder, _ model.Model, _ Objective, _ Rows, _ Weighting) Result {
	b.Fail(errNoProgram)
	return Result{}
}

var errNoProgram = errors.New("the loss of pairwise moments has no steps over rows: it is for networks")

// Matrix implements OfMatrix.
func (GaussianPairwise) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error) {
	m, err := pairmoments.Of(ctx, t, rows, counts, workers)
	if err == nil && fit {
		err = m.Shrink(ctx, workers)
	}
	return m, err
}

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

// Matrix implements OfMatrix. A P that other rows gave is judged by moments of pairs, with nominal
// columns, which have none, by moments of the latent numbers of its own rows.
func (GaussianLatent) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error) {
	if !fit && t.Blocks == nil {
		return pairmoments.Of(ctx, t, rows, counts, workers)
	}
	return latent.Of(ctx, t, rows, counts, workers)
}
