package descent

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"missingscore/data"
	"missingscore/internal/trainers/evaluate"
)

// Record is an epoch of Adam, or an iteration; NaN means not available.
type Record struct {
	Epoch         int     // adam only, else 0
	Iteration     int     // number of parameter steps
	Loss          float64 // mean over rows
	EffectiveSize float64
	HeldOut       float64          // mean over held-out rows
	Gradient      float64          // relative
	Likelihood    float64          // em: log density of the observed cells, mean over rows
	Movement      float64          // em: relative, of the last iteration; else 0
	Lambda        float64          // current λ of a fit with a penalty, else 0
	Errors        []evaluate.Error // against the truth, if known
}

type column struct {
	name string
	of   func(Record) string
}

func columns(history []Record) []column {
	first := history[0]
	number := func(name string, of func(Record) float64) column {
		return column{name, func(r Record) string { return data.FormatNumber(of(r)) }}
	}
	loss := number("loss", func(r Record) float64 { return r.Loss })
	c := []column{{"iteration", func(r Record) string { return strconv.Itoa(r.Iteration) }}}
	if first.Lambda > 0 {
		c = append(c, number("lambda", func(r Record) float64 { return r.Lambda }))
	}
	if first.Epoch > 0 {
		c = append(c, column{"epoch", func(r Record) string { return strconv.Itoa(r.Epoch) }}, loss,
			number("effective_sample_size", func(r Record) float64 { return r.EffectiveSize }))
	} else {
		c = append(c, loss)
	}
	if slices.ContainsFunc(history, func(r Record) bool { return !math.IsNaN(r.HeldOut) }) {
		c = append(c, number("held_out_loss", func(r Record) float64 { return r.HeldOut }))
	}
	if !math.IsNaN(first.Gradient) {
		c = append(c, number("relative_gradient", func(r Record) float64 { return r.Gradient }))
	}
	if first.Movement > 0 {
		c = append(c, number("log_likelihood", func(r Record) float64 { return r.Likelihood }), number("relative_movement", func(r Record) float64 { return r.Movement }))
	}
	for i, e := range first.Errors {
		c = append(c, number(e.Name, func(r Record) float64 { return r.Errors[i].Value }))
	}
	return c
}

// WriteHistory writes history.csv: a line per record and a column per number of the optimiser.
func WriteHistory(w io.Writer, history []Record) error {
	columns := columns(history)
	lines := [][]string{nil}
	for _, c := range columns {
		lines[0] = append(lines[0], c.name)
	}
	for _, r := range history {
		var line []string
		for _, c := range columns {
			line = append(line, c.of(r))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}
