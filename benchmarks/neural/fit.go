package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"missingscore/benchmarks/training"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/atomicfile"
	"missingscore/internal/stream"
	"missingscore/losses"
	_ "missingscore/nets" // the networks
	"missingscore/trainers"
)

type settings struct {
	rows, fresh, epochs, draws, batch int
	missing, rate                     float64
	network, out                      string
	dtype                             graph.DType
}

// method is how a model is learned.
type method struct{ model, method string }

var methods = map[string]method{
	"full":       {"energy", "full"}, // the complete table: the bound
	"iw":         {"energy", "iw"},
	"variw":      {"energy", "variw"},
	"var":        {"energy", "var"},
	"em":         {"energy", "em"},
	"zeroed":     {"energy", "zeroed"},
	"missdiff":   {"score-network", "zeroed"},
	"full-score": {"score-network", "full"}, // the bound of missdiff
}

// density is a truth of a replicate.
func density(name string, seed uint64) (data.Mixture, error) {
	switch name {
	case "moons":
		return data.SimulateMoons(), nil
	case "ring":
		return data.SimulateRing(), nil
	case "modes":
		return data.SimulateModes(10, 5, stream.New(seed, stream.Simulate, 2)), nil
	}
	return data.Mixture{}, fmt.Errorf("there is no density %q", name)
}

// table is a replicate's, the same for all methods; complete if asked for.
func (s settings) table(of data.Mixture, seed uint64, complete bool) (*data.Table, error) {
	t, err := of.Sample(s.rows, stream.New(seed, stream.Simulate))
	if err != nil || complete {
		return t, err
	}
	return data.HideMCAR(t, s.missing, stream.New(seed, stream.Hide))
}

// fit is one cell. The model goes to path, if that is not empty.
func (s settings) fit(ctx context.Context, name string, how method, seed uint64, path string) ([]string, error) {
	of, err := density(name, seed)
	if err != nil {
		return nil, err
	}
	truth, err := graph.NewMixture(of)
	if err != nil {
		return nil, err
	}
	table, err := s.table(of, seed, how.method == "full")
	if err != nil {
		return nil, err
	}
	fresh := of.Draw(s.fresh, stream.New(seed, stream.Simulate, 1))
	size, err := scoreSize(truth, fresh)
	if err != nil {
		return nil, err
	}
	work, scale := data.Standardise(table)
	start := func() (graph.Model, error) {
		return graph.NewModel(how.model, table.D, []byte(s.network), stream.New(seed, stream.Initial, 1))
	}
	m, err := start()
	if err != nil {
		return nil, err
	}
	known := &trainers.Truth{Model: truth, Sample: fresh, Scale: scale, View: graph.Rescaled{Model: m, Mean: scale.Mean, Deviation: scale.Deviation}}
	described, ok := m.(graph.Described)
	if ok {
		if known.View, err = start(); err != nil {
			return nil, err
		}
	}
	state := &trainers.State{}
	began := time.Now()
	_, err = trainers.Fit(ctx, work, m, losses.Classical{}, trainers.FitConfig{
		Config: trainers.Config{Method: how.method, Draws: s.draws, Batch: s.batch, DType: s.dtype, WarmUp: 500, Seed: seed}, Epochs: s.epochs, Rate: s.rate, Truth: known,
	}, state, nil)
	seconds := time.Since(began).Seconds()
	var diverged *trainers.DivergedError
	if err != nil && !errors.As(err, &diverged) {
		return nil, err
	}
	if len(state.History) == 0 {
		return nil, err
	}
	if path != "" {
		if ok {
			if err := described.Rescale(scale.Mean, scale.Deviation); err != nil {
				return nil, err
			}
		}
		text, err := (&trainers.SavedModel{Kind: how.model, Model: m, Names: table.Names, Scale: scale}).Encode(nil)
		if err != nil {
			return nil, err
		}
		if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return nil, err
		}
	}
	least := state.History[0]
	for _, r := range state.History {
		if r.Errors[0].Value < least.Errors[0].Value {
			least = r
		}
	}
	return []string{
		training.EffectiveSize(state.History), fmt.Sprintf("%.5g", size), fmt.Sprintf("%.5g", least.Errors[0].Value), fmt.Sprint(least.Epoch),
		fmt.Sprintf("%.1f", seconds), training.Trace(state.History, training.Epochs(s.epochs), "fisher_divergence"),
	}, nil
}

// scoreSize is E‖s‖² of the truth, what a score of 0 would be wrong by.
func scoreSize(truth graph.Model, sample []float64) (float64, error) {
	n := len(sample) / truth.Dim()
	p, err := graph.Build(func(b *graph.Builder) {
		b.Output("square", b.RowSum(b.Square(truth.Terms(b, b.Input("x", n, truth.Dim())).Score)))
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
