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

var _ OfMatrix = gaussianPairwise{}

func (gaussianPairwise) Name() string { return "gaussian-pairwise" }
func (gaussianPairwise) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MCAR}
}

func (gaussianPairwise) Check(m model.Model, o Objective) error {
	if _, ok := model.AsNormal(m); !ok {
		return errors.New("pairwise moments are for normal models without a missingness mechanism")
	}
	if _, ok := o.(Plain); !ok {
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

func (l gaussianPairwise) Add(b *graph.Builder, _ model.Model, _ Objective, _ Rows, _ Weighting) Result {
	b.Fail(errNoProgram)
	return Result{}
}

var errNoProgram = errors.New("the loss of pairwise moments has no steps over rows: it is for networks")

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

type gaussianLatent struct{}

var _ OfMatrix = gaussianLatent{}

func (gaussianLatent) Name() string { return "gaussian-latent" }
func (gaussianLatent) Needs() LossNeeds {
	return LossNeeds{Normal: true, NoDraws: true, Assumes: MAR, Mean: true, Ordinal: true}
}

func (gaussianLatent) Check(m model.Model, o Objective) error { return gaussianPairwise{}.Check(m, o) }

func (gaussianLatent) CheckDomain(s *domain.Domain) error { return gaussianPairwise{}.CheckDomain(s) }

// Add implements Loss; it fails, because there is no program.
func (gaussianLatent) Add(b *graph.Builder, m model.Model, o Objective, r Rows, w Weighting) Result {
	return gaussianPairwise{}.Add(b, m, o, r, w)
}

// To judge a P of other rows it uses pairwise moments; with nominal columns, latent moments of
// the given rows.
func (gaussianLatent) Matrix(ctx context.Context, t *data.Table, rows []int, counts []float64, workers int, fit bool) (*pairmoments.Moments, error) {
	if !fit && t.Blocks == nil {
		return pairmoments.Of(ctx, t, rows, counts, workers)
	}
	return latent.Of(ctx, t, rows, counts, workers)
}
