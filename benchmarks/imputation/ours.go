package imputation

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/data/transform"
	"missingscore/internal/trainers/descent"
	"missingscore/internal/trainers/posterior"
	"missingscore/internal/trainers/regpath"
	_ "missingscore/nets" // the networks
	"missingscore/trainers"
	"missingscore/trainers/fitted"
	"missingscore/trainers/source"
)

// fit draws from a model fitted to the table.
func fit(ctx context.Context, m method, t task) (filled, error) {
	spec := trainers.Spec{
		Model:     trainers.ModelSpec{Kind: m.Model, Options: m.Options},
		Objective: trainers.ObjectiveSpec{Kind: m.Objective, Options: m.Noise},
		Descent:   descent.Config{Epochs: m.Epochs, Rate: m.Rate},
	}
	return m.estimate(ctx, t, spec)
}

// fromPosterior draws from the posterior distribution of a mixture of normals, as "impute
// TABLE" does.
func fromPosterior(ctx context.Context, m method, t task) (filled, error) {
	c := posterior.Config{Draws: t.draws, Seed: t.seed, Components: m.Components}
	var functions transform.Columns
	if m.Transform == "none" {
		functions = make(transform.Columns, t.table.D)
	}
	r, err := fitted.Posterior(ctx, t.table, functions, c)
	if err != nil {
		return filled{}, err
	}
	return filled{values: r.Gaps(t.table)}, nil
}

// network draws from a Gaussian network, λ chosen by the program's criterion.
func network(ctx context.Context, m method, t task) (filled, error) {
	return m.estimate(ctx, t, trainers.Spec{Network: &regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}}})
}

func (m method) estimate(ctx context.Context, t task, spec trainers.Spec) (filled, error) {
	spec.Steps = m.Fit
	spec.Transform.Others = m.Transform
	spec.Steps.Seed = t.seed
	if m.Honour {
		spec.Domain = t.support
	}
	r, err := harness.Estimate(ctx, t.table, spec, trainers.Run{})
	switch {
	case err != nil && trainers.Diverged(err):
		return filled{}, fmt.Errorf("%w: %w", errNone, err)
	case err != nil:
		return filled{}, err
	}
	return m.draw(ctx, r.Model, t)
}

const (
	emIterations = 2000
	emTolerance  = 1e-6
)

// likelihood draws from the normal distribution of greatest likelihood, by EM.
func likelihood(ctx context.Context, m method, t task) (filled, error) {
	standard, scale := data.Standardise(t.table)
	g, err := emglasso.Saturated(ctx, standard, emIterations, emTolerance)
	if err != nil {
		return filled{}, errors.Join(ctx.Err(), fmt.Errorf("%w: %w", errNone, err))
	}
	found := model.NewGaussian(t.table.D, model.CholeskyFactor)
	if err := found.SetPrecision(scale.Precision(g.Precision)); err != nil {
		return filled{}, fmt.Errorf("%w: %w", errNone, err)
	}
	found.SetMean(scale.Location(g.Mean))
	return m.draw(ctx, &fitted.Saved{Kind: trainers.DefaultModel, Model: found, Names: t.table.Names, Scale: scale}, t)
}

// draw fills in the gaps from a model: of a normal on all of R^d with the conditional mean
// as the point, but for draws that are replaced by observed values.
func (m method) draw(ctx context.Context, saved *fitted.Saved, t task) (filled, error) {
	f, err := saved.Fitted()
	if err != nil {
		return filled{}, err
	}
	r, err := fitted.Impute(ctx, f, t.table, fitted.ImputeConfig{Draws: t.draws, Seed: t.seed})
	if err != nil {
		return filled{}, err
	}
	if m.Match {
		_, err := fitted.Match(ctx, f, t.table, r, fitted.MatchConfig{Seed: t.seed})
		return filled{values: r.Gaps(t.table)}, err
	}
	out := filled{values: r.Gaps(t.table)}
	if normal, ok := model.AsNormal(saved.InUnits()); ok && !saved.Domain.Bounded() && saved.Transform == nil {
		out.point, err = conditionalMeans(t.table, normal.Mean(), normal.Precision())
	}
	return out, err
}

// conditionalMeans are those of the missing cells, row by row.
func conditionalMeans(t *data.Table, mean []float64, precision *mat.SymDense) (out []float64, err error) {
	c := source.Conditional{Mean: mean, Precision: precision}
	b := data.NewBatch(1, t.D)
	for i := range t.N {
		b.Fill(t, []int{i}, 1)
		if err := c.Condition(b.Mask); err != nil {
			return nil, err
		}
		c.Given(b.X)
		c.Expect(b.X)
		for j := range t.D {
			if !t.Observed[i*t.D+j] {
				out = append(out, b.X[j])
			}
		}
	}
	return out, nil
}
