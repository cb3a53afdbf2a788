package engine

import (
	"math"

	"missingscore/graph"
	"missingscore/internal/trainers/optim"
)

// State of the steps. It needs no random state: draws depend only on the seed and the iteration.
type State struct {
	Model       [][]float64 // nil with Nonzero
	Nonzero     []nonzero   // for estimators of one matrix
	Imputer     [][]float64
	ImputerAdam optim.Adam
	Source      []float64 // see source.Memory
}

type nonzero struct {
	At    []int
	Value []float64
}

func (e *Engine) Capture() State {
	var s State
	if e.Estimator.OfMatrix() { // mostly zeros
		s.Nonzero = nonzeros(e.Model.Params())
	} else {
		s.Model = values(e.Model.Params())
	}
	if e.Imputer != nil {
		s.Imputer, s.ImputerAdam = values(e.Imputer.Params()), e.imputer.adam.Clone()
	}
	if e.memory != nil {
		s.Source = e.memory.Capture()
	}
	return s
}

func (e *Engine) Restore(s State) {
	if s.Nonzero != nil {
		setNonzeros(e.Model.Params(), s.Nonzero)
	} else {
		setValues(e.Model.Params(), s.Model)
	}
	if e.memory != nil {
		e.memory.Restore(s.Source)
	}
	if e.Imputer == nil {
		return
	}
	setValues(e.Imputer.Params(), s.Imputer)
	for _, p := range e.Imputer.Params() {
		if p.Single != nil {
			p.KeepSingle()
		}
	}
	e.imputer.adam = s.ImputerAdam.Clone()
}

func values(ps []*graph.Param) [][]float64 {
	var out [][]float64
	for _, p := range ps {
		out = append(out, append([]float64(nil), p.Value...))
	}
	return out
}

func nonzeros(ps []*graph.Param) []nonzero {
	out := make([]nonzero, len(ps))
	for i, p := range ps {
		for at, v := range p.Value {
			if math.Float64bits(v) != 0 { // keeps −0
				out[i].At, out[i].Value = append(out[i].At, at), append(out[i].Value, v)
			}
		}
	}
	return out
}

func setNonzeros(ps []*graph.Param, from []nonzero) {
	for i, p := range ps {
		if p.Value == nil && from[i].At != nil {
			p.Value = make([]float64, p.Rows*p.Cols)
		}
		clear(p.Value)
		for k, at := range from[i].At {
			p.Value[at] = from[i].Value[k]
		}
	}
}

func setValues(ps []*graph.Param, v [][]float64) {
	for i, p := range ps {
		if p.Value == nil {
			p.Value = make([]float64, len(v[i]))
		}
		copy(p.Value, v[i])
	}
}
