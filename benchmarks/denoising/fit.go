package denoising

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	_ "missingscore/nets" // the networks
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/fitted"
	"missingscore/trainers/fitted/diffusion"
)

// split gives a replicate's rows to fit, complete, and two held-out parts.
func (s settings) split(seed uint64) (fit, held, other *data.Table, err error) {
	t, err := data.ReadCSV(s.path(), data.ReadOptions{Columns: s.Columns})
	if err != nil {
		return nil, nil, nil, err
	}
	if t.N < s.Rows+2*s.Held || !t.Complete() {
		return nil, nil, nil, fmt.Errorf("%s: %d complete rows are needed", s.path(), s.Rows+2*s.Held)
	}
	order := stream.New(seed, stream.Shuffle).Perm(t.N)
	part := func(from, to int) *data.Table {
		var values []float64
		for _, i := range order[from:to] {
			values = append(values, t.Values[i*t.D:(i+1)*t.D]...)
		}
		var out *data.Table
		if err == nil {
			out, err = data.NewTable(t.Names, values, nil)
		}
		return out
	}
	fit, held, other = part(0, s.Rows), part(s.Rows, s.Rows+s.Held), part(s.Rows+s.Held, s.Rows+2*s.Held)
	return fit, held, other, err
}

// run is one cell: it fits, draws as many rows as were held out, and compares, columns
// having mean 0 and deviation 1 in the complete rows of the fit.
func (s settings) run(ctx context.Context, how method, seed uint64) ([]string, error) {
	table, held, other, err := s.split(seed)
	if err != nil {
		return nil, err
	}
	_, units := data.Standardise(table)
	size, drawn := "-", other
	if how.Model != "" {
		if how.Method != "full" {
			if table, err = data.HideMCAR(table, s.Missing, stream.New(seed, stream.Hide)); err != nil {
				return nil, err
			}
		}
		if drawn, size, err = s.sample(ctx, table, how, seed); err != nil {
			return nil, err
		}
	}
	o := compare(standardised(drawn, units), standardised(held, units))
	if how.Model == "" {
		drawn = held // the floor's rows are shown as those held out
	}
	return []string{size, fmt.Sprintf("%.4f", o.ks), fmt.Sprintf("%.4f", o.worst), fmt.Sprintf("%.4f", o.correlation),
		fmt.Sprintf("%.5f", o.pairs), fmt.Sprintf("%.5f", o.whole), s.shown(how, seed, drawn, held)}, nil
}

// sample fits a model to the table and draws rows from it, in the table's units.
func (s settings) sample(ctx context.Context, table *data.Table, how method, seed uint64) (*data.Table, string, error) {
	config := s.Fit
	config.Method, config.Seed = how.Method, seed
	spec := trainers.Spec{Model: trainers.ModelSpec{Kind: how.Model}, Steps: config, Descent: descent.Passes(s.Epochs, s.Rate)}
	if how.Model != "gaussian" {
		spec.Model.Options = s.Network
		spec.Objective = trainers.ObjectiveSpec{Kind: "denoising", Options: s.Noise}
	}
	fit, err := trainers.Estimate(ctx, table, spec, trainers.Run{})
	if err != nil {
		return nil, "", err
	}
	drawn, err := s.drawn(ctx, fit.Model, stream.New(seed, stream.Simulate))
	return drawn, training.EffectiveSize(fit.History), err
}

// drawn are as many rows of a fitted model as were held out: of a Gaussian independent
// ones, of others by the reverse-time equation.
func (s settings) drawn(ctx context.Context, m *fitted.Saved, rng *rand.Rand) (*data.Table, error) {
	noiseConditional, ok := m.Model.(model.NoiseConditional)
	if !ok {
		rows, _, err := m.Sample(ctx, s.Held, rng)
		return rows, err
	}
	sampler, err := diffusion.New(noiseConditional, *m.Noise, s.Held)
	if err != nil {
		return nil, err
	}
	z, err := sampler.Reverse(ctx, diffusion.Options{Steps: s.Steps, Denoise: true}, rng)
	if err != nil {
		return nil, err
	}
	rows, err := data.NewTable(m.Names, z, nil)
	if err != nil {
		return nil, err
	}
	return m.Scale.Restore(rows), nil
}

// standardised are a table's cells in units of scale.
func standardised(t *data.Table, scale data.Scale) *mat.Dense {
	x := mat.NewDense(t.N, t.D, nil)
	for i, v := range t.Values {
		j := i % t.D
		x.Set(i/t.D, j, (v-scale.Mean[j])/scale.Deviation[j])
	}
	return x
}
