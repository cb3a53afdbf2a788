package denoising

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/descent"
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
	var objective losses.Objective = losses.Classical{}
	config := descent.Config{Config: s.Fit, Epochs: s.Epochs, Rate: s.Rate}
	config.Method, config.Seed = how.Method, seed
	var options []byte
	var denoising losses.Denoising
	if how.Model != "gaussian" {
		made, err := losses.NewObjective("denoising", s.Noise, nil, config.Weight)
		if err != nil {
			return nil, "", err
		}
		objective, denoising = made, made.(losses.Denoising)
		if options, err = nets.AtLevels(how.Model, s.Network, denoising.Noise); err != nil {
			return nil, "", err
		}
	}
	m, err := model.New(how.Model, table.D, options, stream.New(seed, stream.Initial, 1))
	if err != nil {
		return nil, "", err
	}
	work, scale := data.Standardise(table)
	state := &trainers.State{}
	if _, err := trainers.Fit(ctx, work, m, objective, config, state, nil); err != nil {
		return nil, "", err
	}
	rng := stream.New(seed, stream.Simulate)
	var drawn *data.Table
	if g, ok := m.(*model.Gaussian); ok {
		drawn, err = simulate.Gaussian{Mean: g.Mean(), Precision: g.Precision()}.Sample(s.Held, rng)
	} else {
		var sampler *diffusion.Sampler
		if sampler, err = diffusion.New(m.(model.NoiseConditional), denoising.Noise, s.Held); err != nil {
			return nil, "", err
		}
		var x []float64
		if x, err = sampler.Reverse(ctx, diffusion.Options{Steps: s.Steps, Denoise: true}, rng); err == nil {
			drawn, err = data.NewTable(table.Names, x, nil)
		}
	}
	if err != nil {
		return nil, "", err
	}
	drawn = scale.Restore(drawn)
	drawn.Names = table.Names
	return drawn, training.EffectiveSize(state.History), nil
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
