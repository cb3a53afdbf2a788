package cmd

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"missingscore/losses"
	"missingscore/trainers"
)

// needs say what an estimator must do for a flag to mean anything.
var needs = []struct {
	what  string
	met   func(trainers.Estimator) bool
	flags []string
}{
	{"makes no draws", func(e trainers.Estimator) bool { return e.Draws }, []string{"draws"}},
	{"has no fixed proposal", func(e trainers.Estimator) bool { return e.Proposes }, []string{"proposal-sd"}},
	{"trains no imputer", func(e trainers.Estimator) bool { return e.Trains },
		[]string{"imputer-steps", "imputer-rate", "imputer-loss", "mask-input", "diagonal-sd", "warm-up"}},
	{"has one average only", func(e trainers.Estimator) bool {
		return !reflect.DeepEqual(e.Loss(losses.PlugIn), e.Loss(losses.LeaveOneOut))
	}, []string{"correction"}},
}

// unused refuses flags that the estimator in use, or the lack of a support, makes
// meaningless: who sets one expects a difference. asked is --method.
func unused(cmd *cobra.Command, asked string, e trainers.Estimator, bounded bool) error {
	name := "method " + e.Name
	if asked != e.Name {
		name += fmt.Sprintf(", which %s means here,", asked)
	}
	for _, need := range needs {
		if need.met(e) {
			continue
		}
		var others []string
		for _, other := range trainers.Estimators {
			if need.met(other) {
				others = append(others, other.Name)
			}
		}
		for _, flag := range need.flags {
			if cmd.Flags().Changed(flag) {
				return usageError{fmt.Errorf("--%s: %s %s; leave it out, or choose a --method that does (%s)", flag, name, need.what, strings.Join(others, ", "))}
			}
		}
	}
	for _, flag := range []string{"g-per-row", "g-cap", "no-tangent"} {
		if !bounded && cmd.Flags().Changed(flag) {
			return usageError{fmt.Errorf("--%s is about a support, and there is none; leave it out, or say where the rows can lie (--lower, --upper, --domain)", flag)}
		}
	}
	return nil
}
