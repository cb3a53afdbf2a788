package engine

import (
	"missingscore/graph"
	"missingscore/trainers/optim"
)

// State is what the steps have changed: the model, the imputer and its optimiser, and
// what a source keeps.
// Draws depend on the seed and the iteration only, so there is no random state to keep.
type State struct {
	Model       [][]float64
	Imputer     [][]float64
	ImputerAdam optim.Adam
	Source      []float64 // what the source keeps, see source.Memory
}

// Capture copies the state, Restore copies it back.
func (e *Engine) Capture() State {
	s := State{Model: values(e.Model.Params())}
	if e.Imputer != nil {
		s.Imputer, s.ImputerAdam = values(e.Imputer.Params()), e.imputer.adam.Clone()
	}
	if e.memory != nil {
		s.Source = e.memory.Capture()
	}
	return s
}

// Restore puts model, imputer and source to what Capture saw.
func (e *Engine) Restore(s State) {
	setValues(e.Model.Params(), s.Model)
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

func setValues(ps []*graph.Param, v [][]float64) {
	for i, p := range ps {
		copy(p.Value, v[i])
	}
}
