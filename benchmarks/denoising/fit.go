package main

import (
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/graph/diffusion"
	"missingscore/internal/stream"
	"missingscore/losses"
	"missingscore/nets"
	"missingscore/trainers"
)

type settings struct {
	table, network, noise, out       string
	columns                          []string
	rows, held, epochs, draws, steps int
	missing, rate                    float64
	dtype                            graph.DType
}

// method is how a model is learned.
type method struct{ model, method string }

var methods = map[string]method{
	"floor":      {},                          // held-out rows against others
	"full":       {"energy", "full"},          // the complete rows: the bound
	"full-score": {"score-network", "full"},   // the bound of missdiff
	"iw":         {"energy", "iw"},            //
	"variw":      {"energy", "variw"},         //
	"var":        {"energy", "var"},           //
	"zeroed":     {"energy", "zeroed"},        //
	"missdiff":   {"score-network", "zeroed"}, // MissDiff's form
	"gaussian":   {"gaussian", "exact"},       // the simple rival, by the classical objective
	"full-gauss": {"gaussian", "full"},        // its bound
}

// split gives a replicate's rows to fit, complete, and two held-out parts.
func (s settings) split(seed uint64) (fit, held, other *data.Table, err error) {
	t, err := data.ReadCSV(s.table, data.ReadOptions{Columns: s.columns})
	if err != nil {
		return nil, nil, nil, err
	}
	if t.N < s.rows+2*s.held || !t.Complete() {
		return nil, nil, nil, fmt.Errorf("%s: %d complete rows are needed", s.table, s.rows+2*s.held)
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
	fit, held, other = part(0, s.rows), part(s.rows, s.rows+s.held), part(s.rows+s.held, s.rows+2*s.held)
	return fit, held, other, err
}

// cell fits, draws as many rows as were held out and compares, columns having mean 0
// and deviation 1 in the complete rows of the fit. The rows drawn go to path, if that is
// not empty.
func (s settings) cell(ctx context.Context, how method, seed uint64, path string) ([]string, error) {
	table, held, other, err := s.split(seed)
	if err != nil {
		return nil, err
	}
	_, units := data.Standardise(table)
	size, began := "-", time.Now()
	drawn := other
	if how.model != "" {
		if how.method != "full" {
			if table, err = data.HideMCAR(table, s.missing, stream.New(seed, stream.Hide)); err != nil {
				return nil, err
			}
		}
		if drawn, size, err = s.draw(ctx, table, how, seed); err != nil {
			return nil, err
		}
	}
	seconds := time.Since(began).Seconds()
	if path != "" {
		if err := data.WriteCSV(path, drawn); err != nil {
			return nil, err
		}
	}
	o := compare(standardised(drawn, units), standardised(held, units))
	return []string{size, fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.4f", o.ks), fmt.Sprintf("%.4f", o.worst),
		fmt.Sprintf("%.4f", o.correlation), fmt.Sprintf("%.5f", o.pairs), fmt.Sprintf("%.5f", o.whole)}, nil
}

// draw fits a model to the table and draws rows from it, in the table's units.
func (s settings) draw(ctx context.Context, table *data.Table, how method, seed uint64) (*data.Table, string, error) {
	var objective losses.Objective = losses.Classical{}
	config := trainers.FitConfig{Config: trainers.Config{Method: how.method, Seed: seed, Draws: s.draws, WarmUp: 500, DType: s.dtype}, Epochs: s.epochs, Rate: s.rate}
	var options []byte
	var denoising losses.Denoising
	if how.model != "gaussian" {
		made, err := losses.NewObjective("denoising", []byte(s.noise), nil, config.Weight)
		if err != nil {
			return nil, "", err
		}
		objective, denoising = made, made.(losses.Denoising)
		if options, err = nets.AtLevels(how.model, []byte(s.network), denoising.Noise); err != nil {
			return nil, "", err
		}
	}
	m, err := graph.NewModel(how.model, table.D, options, stream.New(seed, stream.Initial, 1))
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
	if g, ok := m.(*graph.Gaussian); ok {
		drawn, err = data.Gaussian{Mean: g.Mean(), Precision: g.Precision()}.Sample(s.held, rng)
	} else {
		var sampler *diffusion.Sampler
		if sampler, err = diffusion.New(m.(graph.Levelled), denoising.Noise, s.held); err != nil {
			return nil, "", err
		}
		var x []float64
		if x, err = sampler.Reverse(ctx, diffusion.Options{Steps: s.steps, Denoise: true}, rng); err == nil {
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
