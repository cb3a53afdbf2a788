package trainers

import (
	"context"
	"errors"
	"math"

	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/losses"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
	"missingscore/trainers/gaussian/em"
)

// errNotDefinite says that a latent normal has no precision.
var errNotDefinite = errors.New("the covariances of the latent numbers have no inverse: leave out columns that repeat others (--exclude)")

// latent fits a normal distribution of the numbers behind ordered categories, without a
// penalty: P is the inverse of the covariances that stochastic EM comes to
// (docs/theory/ordinal.md#eq-latent-em). It is made in one go: cut, it starts again.
func (p *Prepared) latent(ctx context.Context, q engine.Problem, scale data.Scale, run Run) (*Result, error) {
	s := p.Spec
	e, err := engine.New(q, s.Steps)
	if err != nil {
		return nil, err
	}
	s.Steps = e.Config
	if err := run.State.claim(q.Table, e, s); err != nil {
		return nil, err
	}
	m, err := e.Estimator.Loss.(losses.OfMatrix).Matrix(ctx, q.Table, e.AllRows(), nil, e.Config.Workers, true)
	if err := run.ended(ctx, e, err); err != nil {
		return nil, err
	}
	packed := make([]float64, m.D*(m.D+1)/2)
	if !em.Unpenalised(packed, m.S) {
		return nil, errNotDefinite
	}
	g := model.NewGaussian(m.D, model.CholeskyFactor)
	if err := g.SetPrecision(graph.Unpack(m.D, packed)); err != nil {
		return nil, err
	}
	g.SetMean(m.Mean)
	loss := 0.0 // tr(PSP) − 2 tr P, which is −tr P at P = S⁻¹
	for j := range m.D {
		loss -= packed[graph.PackedIndex(m.D, j, j)]
	}
	final := descent.Record{Iteration: m.Turns, Loss: loss, EffectiveSize: math.NaN(), HeldOut: math.NaN()}
	r := &Result{Spec: s, Estimator: e.Estimator, Loss: loss, Size: math.NaN(), History: []descent.Record{final}, Final: final,
		Converged: !m.Unsettled, Verdict: "converged: " + m.Words}
	if m.Unsettled {
		r.Verdict = "NOT converged: " + m.Words
	}
	if r.Model, err = p.saved(g, e, scale); err != nil {
		return nil, err
	}
	r.Model.Kind, r.Model.Transform = DefaultModel, p.Transform.At(m.Cuts)
	r.Warnings = e.LeftOut()
	return r, nil
}
