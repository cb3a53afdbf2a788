package model

import "missingscore/graph"

// Evaluator computes a model's log density and score at n points. It reads the parameters at its
// first call, and at the first call after Renew. It is not safe for concurrent use.
type Evaluator struct {
	program *graph.Program
	scores  bool // without a log density
	ran     bool
}

// NewEvaluator builds an evaluator. With masks, a MaskConditional model uses the points' masks
// (WithMask); other models ignore them.
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

// Renew makes the next call read the current parameters.
func (e *Evaluator) Renew() { e.ran = false }

// ScoreOnly reports whether the model gives no log density.
func (e *Evaluator) ScoreOnly() bool { return e.scores }

// SetMask sets the points' masks (n, d), 1 = observed.
func (e *Evaluator) SetMask(mask []float64) {
	if e.program.Has("mask") {
		copy(e.program.Input("mask"), mask)
	}
}

// At returns log q (n), nil without a log density, and s (n, d) at points x (n, d). The next call
// overwrites the buffers.
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
