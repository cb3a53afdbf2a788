package losses

import (
	"context"
	"errors"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/losses/latent"
	"missingscore/internal/losses/pairmoments"
)

// OfMatrix is a loss that depends on a table only through a matrix S of second moments about
// zero. For a normal model with precision P it is
//
//	tr(PSP) − 2 tr P
//
// It has no batch program; a network's path uses the matrix.
type OfMatrix interface {
	Loss
	// Matrix computes S from rows of a table; counts are the multiplicities of the table's rows, nil
	// for ones. With fit it is positive semidefinite; otherwise (to judge a P of other rows) it is
	// unmodified.
	Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error)
}

// GaussianPairwise is the score-matching loss of a normal model with pairwise second moments, over
// the rows with both columns (docs/theory/pairwise.md#eq-pairwise). For a fit they are shrunk until
// positive definite (pairmoments.Moments.Shrink). Without missing cells it is ordinary score
// matching.
var GaussianPairwise Loss = gaussianPairwise{}

type gaussianPairwise struct{}

func (gaussianPairwise) Name() string { return "gaussian-pairwise" }
func (gaussianPairwise) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MCAR}
}

func (gaussianPairwise) Check(m model.Model, o Objective) error {
	if _, ok := model.AsNormal(m); !ok {
		return errors.New("pairwise moments are for normal models without a missingness mechanism")
	}
	if o != Classical {
		return errors.New("pairwise moments are for the classical objective and columns without bounds")
	}
	return nil
}

func (gaussianPairwise) CheckDomain(s *domain.Domain) error {
	if s.Bounded() || s.Censored() {
		return errors.New("pairwise moments are for columns without bounds")
	}
	return nil
}

func (gaussianPairwise) Add(b *graph.Builder, _ model.Model, _ Objective, _ Rows, _ Weighting) Result {
	b.Failf("the loss of pairwise moments has no steps over rows: it is for networks")
	return Result{}
}

func (gaussianPairwise) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error) {
	m, err := pairmoments.Of(ctx, t, rows, counts, workers)
	if err == nil && fit {
		err = m.Shrink(ctx, workers)
	}
	return m, err
}

// GaussianLatent is the score-matching loss of a normal model with second moments of the latent
// normals of a table of ordered categories and numbers, completed by stochastic EM
// (docs/theory/ordinal.md#eq-latent-em).
var GaussianLatent Loss = gaussianLatent{}

type gaussianLatent struct{ gaussianPairwise }

func (gaussianLatent) Name() string { return "gaussian-latent" }
func (gaussianLatent) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Ordinal: true}
}

// To judge a P of other rows it uses pairwise moments; with nominal columns, latent moments of
// the given rows.
func (gaussianLatent) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error) {
	if !fit && t.Blocks == nil {
		return pairmoments.Of(ctx, t, rows, counts, workers)
	}
	return latent.Of(ctx, t, rows, counts, workers)
}
