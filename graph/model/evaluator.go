package model

import "missingscore/graph"

// Evaluator gives a model's log density and score at n points, for samplers and for
// whoever wants the numbers. Parameters are those at its first call, or at the first after
// Renew. It is for one goroutine at a time.
type Evaluator struct {
	program *graph.Program
	scores  bool // there is no log density
	ran     bool
}

// NewEvaluator builds it. With masks, a MaskConditional model is that of the points'
// masks (WithMask); other models take no notice of them.
func NewEvaluator(m Model, n int, masks bool) (*Evaluator, error) {
	e := &Evaluator{}
	var err error
	e.program, err = graph.Build(func(b *graph.Builder) {
		if p, ok := m.(MaskConditional); ok && masks {
			m = p.WithMask(b.Input("mask", n, m.Dim()))
		}
		t := Evaluate(b, m, b.Input("x", n, m.Dim()))
		b.Output("score", t.NeedScore(b))
		if e.scores = t.LogDensity == nil; !e.scores {
			b.Output("log density", t.LogDensity)
		}
	})
	return e, err
}

// Renew makes the next call take the parameters as they then are.
func (e *Evaluator) Renew() { e.ran = false }

// ScoreOnly says that the model gives no log density.
func (e *Evaluator) ScoreOnly() bool { return e.scores }

// SetMask gives the points' masks (n, d), 1 = observed.
func (e *Evaluator) SetMask(mask []float64) {
	if e.program.Has("mask") {
		copy(e.program.Input("mask"), mask)
	}
}

// At is log q (n), nil if there is none, and s (n, d) at points x (n, d). The memory
// is overwritten by the next call.
func (e *Evaluator) At(x []float64) (log, score []float64, err error) {
	copy(e.program.Input("x"), x)
	run := e.program.Run
	if e.ran {
		run = e.program.RunAgain
	}
	if err := run(); err != nil {
		return nil, nil, err
	}
	e.ran = true
	if !e.scores {
		log = e.program.Output("log density")
	}
	return log, e.program.Output("score"), nil
}
