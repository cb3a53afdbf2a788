package figures

import (
	"fmt"
	"strconv"
	"strings"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/claims"
)

// Series is what the replicates of one method had at each epoch, or at each setting.
type Series struct {
	Name   string
	Values [][]float64 // by epoch or setting, then replicate
	Failed int         // replicates that did not reach the last epoch
}

// AlongTraining reads a measure by epoch for each of the methods.
func AlongTraining(r cells.Results, m claims.Measure, methods []string) ([]Series, error) {
	var out []Series
	for _, method := range methods {
		chosen, err := r.Only(m.With("method", method).Where)
		if err != nil {
			return nil, err
		}
		column, err := r.Column(m.Column)
		if err != nil {
			return nil, err
		}
		s := Series{Name: method}
		for _, line := range chosen.Lines {
			trace := strings.Fields(line[column])
			s.Values = append(s.Values, make([][]float64, max(0, len(trace)-len(s.Values)))...)
			for k, text := range trace {
				if text == "-" {
					if k == len(trace)-1 {
						s.Failed++
					}
					continue
				}
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", m.Column, err)
				}
				s.Values[k] = append(s.Values[k], v)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Along reads a measure for each of the methods, by the setting x that varies.
func Along(r cells.Results, m claims.Measure, methods []string) (x []float64, series []Series, err error) {
	n, err := m.Read(r)
	if err != nil {
		return nil, nil, err
	}
	if x, err = n.Positions(m.Along); err != nil {
		return nil, nil, err
	}
	for _, method := range methods {
		s := Series{Name: method, Values: make([][]float64, len(n.Places))}
		for k, at := range n.Places {
			for _, replicate := range n.Replicates {
				if v, ok := n.At(at, replicate, method); ok {
					s.Values[k] = append(s.Values[k], v)
				}
			}
		}
		series = append(series, s)
	}
	return x, series, nil
}
