package model

import "missingscore/graph"

// Evaluator computes log density and score at n points, with the parameters of its first call or
// the first after Renew. It is not safe for concurrent use.
type Evaluator struct {
	program *graph.Program
	scores  bool // without a log density
	ran     bool
}

// NewEvaluator builds an evaluator; with masks it uses the points' masks of a MaskConditional model.
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

func (e *Evaluator) Renew() { e.ran = false }

func (e *Evaluator) ScoreOnly() bool { return e.scores }

// SetMask sets the points' masks (n, d), 1 = observed.
func (e *Evaluator) SetMask(mask []float64) {
	if e.program.Has("mask") {
		copy(e.program.Input("mask"), mask)
	}
}

// At returns log q (n), nil if there is none, and s (n, d) at points x (n, d), in reused buffers.
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
