package missingness

import (
	"context"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"missingscore/data"
	"missingscore/data/missingness"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/descent"
)

// run is one cell.
func (s settings) run(ctx context.Context, c *scenario, f fit, seed uint64) ([]string, error) {
	table, err := s.table(c, seed, f.method == "full")
	if err != nil {
		return nil, err
	}
	m, err := s.estimate(ctx, table, f, seed)
	if err != nil {
		return nil, err
	}
	want, err := quantities(c.truth.Mean, c.truth.Precision)
	if err != nil {
		return nil, err
	}
	got, err := quantities(m.Mean(), m.Precision())
	if err != nil {
		return nil, err
	}
	values := []string{strconv.FormatFloat(float64(table.Missing())/float64(table.N*table.D), 'f', 4, 64)}
	for q := range errorColumns {
		text := "-"
		if q < len(want) {
			text = strconv.FormatFloat(got[q]-want[q], 'g', 6, 64)
		}
		values = append(values, text)
	}
	return values, nil
}

// table is a replicate's: the same rows for all fits, with the same gaps.
func (s settings) table(c *scenario, seed uint64, complete bool) (*data.Table, error) {
	t, err := c.truth.Sample(s.Rows, stream.New(1, stream.Simulate, seed))
	if err != nil || complete {
		return t, err
	}
	return missingness.Hide(t, c.by, stream.New(1, stream.Hide, seed))
}

// estimate fits as the fit command does, pass after pass: the columns stay standardised
// in between.
func (s settings) estimate(ctx context.Context, t *data.Table, f fit, seed uint64) (*model.Gaussian, error) {
	work, scale := data.Standardise(t)
	m := model.NewGaussian(t.D, model.CholeskyFactor)
	steps := s.Fit
	steps.Method, steps.Seed = f.method, seed
	spec := trainers.Spec{
		Model:       trainers.ModelSpec{New: func(int) (model.Model, error) { return m, nil }}, // each pass goes on where the last left it
		Missingness: f.law.Standardised(scale.Mean, scale.Deviation), KeepUnits: true, Steps: steps,
	}
	for _, p := range s.Passes {
		spec.Descent = descent.Passes(p.Epochs, p.Rate)
		if _, err := trainers.Estimate(ctx, work, spec, trainers.Run{}); err != nil {
			return nil, err
		}
	}
	return m, m.Rescale(scale.Mean, scale.Deviation)
}

// quantities are μ_1, Σ_11, P_11 and, of two columns, P_12.
func quantities(mean []float64, p *mat.SymDense) ([]float64, error) {
	var chol mat.Cholesky
	if !chol.Factorize(p) {
		return nil, fmt.Errorf("the precision is not positive definite")
	}
	var sigma mat.SymDense
	if err := chol.InverseTo(&sigma); err != nil {
		return nil, err
	}
	q := []float64{mean[0], sigma.At(0, 0), p.At(0, 0)}
	if len(mean) > 1 {
		q = append(q, p.At(0, 1))
	}
	return q, nil
}
