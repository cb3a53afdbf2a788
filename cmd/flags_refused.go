package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/trainers"
	"missingscore/trainers/estimator"
)

// needs say what an estimator must do for a flag to mean anything.
var needs = []struct {
	lacks string
	met   func(estimator.Estimator) bool
	flags []string
}{
	{"makes no draws", func(e estimator.Estimator) bool { return e.Draws() }, []string{"draws"}},
	{"has no fixed proposal", func(e estimator.Estimator) bool { return e.Proposes() }, []string{"proposal-sd"}},
	{"trains no imputer", func(e estimator.Estimator) bool { return e.Trains() },
		[]string{"imputer-steps", "imputer-rate", "imputer-loss", "imputer", "imputer-options", "mask-input", "diagonal-sd", "warm-up"}},
	{"has one kind of averages only", func(e estimator.Estimator) bool { return e.Correctable() }, []string{"weighting"}},
}

// checkMethodFlags refuses flags that the estimator in use, or a support without boundary or
// half-space, makes meaningless: who sets one expects a difference. asked is --method.
func checkMethodFlags(cmd *cobra.Command, asked string, p *trainers.Prepared) error {
	e, s := p.Estimator, p.Support
	name := "method " + e.Name
	if asked != e.Name {
		name += fmt.Sprintf(", which %s means here,", asked)
	}
	for _, need := range needs {
		if need.met(e) {
			continue
		}
		for _, flag := range need.flags {
			if !cmd.Flags().Changed(flag) {
				continue
			}
			advice := "leave it out"
			if others := capable(p, need.met); others != nil {
				advice += ", or choose another --method: " + strings.Join(others, ", ")
			}
			return usageError{fmt.Errorf("--%s: %s %s; %s", flag, name, need.lacks, advice)}
		}
	}
	for _, flag := range []string{"g-per-row", "g-cap"} {
		if s == nil && cmd.Flags().Changed(flag) {
			return usageError{fmt.Errorf("--%s is about a support, and there is none; leave it out, or say where the rows can lie (--lower, --upper, --domain)", flag)}
		}
	}
	if (s == nil || len(s.Half) == 0) && cmd.Flags().Changed("no-tangent") {
		return usageError{fmt.Errorf("--no-tangent is about a half-space, and there is none; leave it out, or give one by --domain")}
	}
	return nil
}

// capable are the estimators that meet a need and can estimate what p is to.
func capable(p *trainers.Prepared, met func(estimator.Estimator) bool) (names []string) {
	for _, e := range estimator.All {
		if met(e) && p.Allows(e) {
			names = append(names, e.Name)
		}
	}
	return names
}
