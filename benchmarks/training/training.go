// Package training writes what a fit had along its training into a cell's line.
package training

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"missingscore/trainers"
	"missingscore/trainers/descent"
	"missingscore/trainers/engine"
)

// History is a fit's, whole or up to where it diverged: then Estimate gave an error, which
// is no other.
func History(s *trainers.State, err error) (h []descent.Record, diverged bool, other error) {
	var fault *engine.DivergedError
	if diverged = errors.As(err, &fault); err != nil && !diverged {
		return nil, false, err
	}
	if s.Descent != nil {
		h = s.Descent.History
	}
	return h, diverged, nil
}

// Trace writes one of a fit's errors at the given epochs, separated by spaces;
// epochs that a fit which stopped early did not reach are "-".
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

// EffectiveSize writes that of a fit's last epoch; "-" if it made none.
func EffectiveSize(history []descent.Record) string {
	if len(history) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", history[len(history)-1].EffectiveSize)
}

// Epochs are those at which errors are written: about ten a decade, and the last.
func Epochs(last int) []int {
	var out []int
	for _, e := range []int{1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 85, 100, 120, 140, 170, 200} {
		if e < last {
			out = append(out, e)
		}
	}
	return append(out, last)
}
