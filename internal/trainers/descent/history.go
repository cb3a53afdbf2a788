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
	name  string
	shown bool
	of    func(Record) string
}

func columns(history []Record) []column {
	first, number := history[0], data.FormatNumber
	held := slices.ContainsFunc(history, func(r Record) bool { return !math.IsNaN(r.HeldOut) })
	all := []column{
		{"iteration", true, func(r Record) string { return strconv.Itoa(r.Iteration) }},
		{"lambda", first.Lambda > 0, func(r Record) string { return number(r.Lambda) }},
		{"epoch", first.Epoch > 0, func(r Record) string { return strconv.Itoa(r.Epoch) }},
		{"loss", true, func(r Record) string { return number(r.Loss) }},
		{"effective_sample_size", first.Epoch > 0, func(r Record) string { return number(r.EffectiveSize) }},
		{"held_out_loss", held, func(r Record) string { return number(r.HeldOut) }},
		{"relative_gradient", !math.IsNaN(first.Gradient), func(r Record) string { return number(r.Gradient) }},
		{"log_likelihood", first.Movement > 0, func(r Record) string { return number(r.Likelihood) }},
		{"relative_movement", first.Movement > 0, func(r Record) string { return number(r.Movement) }},
	}
	for i, e := range first.Errors {
		all = append(all, column{e.Name, true, func(r Record) string { return number(r.Errors[i].Value) }})
	}
	return slices.DeleteFunc(all, func(c column) bool { return !c.shown })
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
