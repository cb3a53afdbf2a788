package harness

import (
	"fmt"
	"strconv"
	"strings"

	"missingscore/internal/trainers/descent"
	"missingscore/trainers"
)

// History keeps the history of a fit that diverged; other errors are returned.
func History(s *trainers.State, err error) (h []descent.Record, diverged bool, other error) {
	if diverged = trainers.Diverged(err); err != nil && !diverged {
		return nil, false, err
	}
	if s.Descent != nil {
		h = s.Descent.History
	}
	return h, diverged, nil
}

// Trace returns the named error at each epoch, "-" for epochs that were not reached.
func Trace(history []descent.Record, epochs []int, name string) string {
	var out []string
	for _, epoch := range epochs {
		value := "-"
		if epoch <= len(history) {
			for _, e := range history[epoch-1].Errors {
				if e.Name == name {
					value = strconv.FormatFloat(e.Value, 'g', 5, 64)
				}
			}
		}
		out = append(out, value)
	}
	return strings.Join(out, " ")
}

// EffectiveSize is of the last epoch; "-" if there is none.
func EffectiveSize(history []descent.Record) string {
	if len(history) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", history[len(history)-1].EffectiveSize)
}

// Epochs returns about ten epochs per decade up to last.
func Epochs(last int) []int {
	var out []int
	for _, e := range []int{1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 85, 100, 120, 140, 170, 200} {
		if e < last {
			out = append(out, e)
		}
	}
	return append(out, last)
}
