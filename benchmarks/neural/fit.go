package neural

import (
	"context"
	"fmt"
	"slices"

	"missingscore/benchmarks/training"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	_ "missingscore/nets"
	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/evaluate"
)

// run computes one cell.
func (s settings) run(ctx context.Context, d density, how method, seed uint64) ([]string, error) {
	of, err := d.truth(seed)
	if err != nil {
		return nil, err
	}
	truth, err := model.NewMixture(of)
	if err != nil {
		return nil, err
	}
	fresh := of.Draw(s.Fresh, stream.New(seed, stream.Simulate, 1))
	size, err := scoreSize(truth, fresh)
	if err != nil {
		return nil, err
	}
	f, err := s.fit(ctx, d, how, seed, of, &evaluate.Truth{Model: truth, Sample: fresh})
	if err != nil {
		return nil, err
	}
	least := slices.MinFunc(f.history, func(a, b descent.Record) int {
		if a.Errors[0].Value < b.Errors[0].Value {
			return -1
		}
		return 0
	})
	kept, end := "-", "-"
	if f.model != nil {
		kept, end = fmt.Sprintf("%.5g", f.final.Errors[0].Value), fmt.Sprint(f.final.Epoch)
	}
	return []string{
		training.EffectiveSize(f.history), fmt.Sprintf("%.5g", size), fmt.Sprintf("%.5g", least.Errors[0].Value), fmt.Sprint(least.Epoch), kept, end,
		training.Trace(f.history, training.Epochs(d.Epochs), "fisher_divergence"),
	}, nil
}

// fitted holds the model in the table's units (nil if the fit diverged), the history, and the history
// entry of the model.
type fitted struct {
	model   model.Model
	history []descent.Record
	final   descent.Record
}

// fit fits a model to the table of a replicate. A fit that diverges keeps its history.
func (s settings) fit(ctx context.Context, d density, how method, seed uint64, of simulate.Mixture, known *evaluate.Truth) (f fitted, err error) {
	table, err := s.table(d, of, seed, how.Method == "full")
	if err != nil {
		return f, err
	}
	by := descent.Passes(d.Epochs, s.Rate)
	by.Average = &how.Average
	if how.HeldOut > 0 {
		by.Validation = new(how.HeldOut)
	}
	config := s.Fit
	config.Method, config.Seed, config.Imputer = how.Method, seed, how.Imputer
	state := &trainers.State{}
	r, failure := trainers.Estimate(ctx, table, trainers.Spec{
		Model: trainers.ModelSpec{Kind: how.Model, Options: s.Network}, Objective: trainers.ObjectiveSpec{Kind: "classical"},
		Steps: config, Descent: by, Truth: known,
	}, trainers.Run{State: state})
	diverged := false
	f.history, diverged, err = training.History(state, failure)
	switch {
	case err != nil:
		return f, err
	case diverged && len(f.history) == 0:
		return f, failure
	case diverged:
		return f, nil
	}
	f.model, f.final = r.Model.InUnits(), r.Final
	return f, nil
}

// scoreSize returns E‖s‖² over the sample, the Fisher divergence of a score of 0.
func scoreSize(truth model.Model, sample []float64) (float64, error) {
	n := len(sample) / truth.Dim()
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("square", b.RowSum(b.Square(truth.Evaluate(b, b.Input("x", n, truth.Dim())).Score)))
	})
	if err != nil {
		return 0, err
	}
	copy(p.Input("x"), sample)
	if err := p.Run(); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range p.Output("square") {
		sum += v
	}
	return sum / float64(n), nil
}
