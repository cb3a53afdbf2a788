package cmd

import (
	"fmt"
	"io"
	"strings"

	"missingscore/trainers/fitted"
)

// modelOutcome carries on how a model's fit ended, and what is not to be believed of what
// was drawn from it.
type modelOutcome struct {
	unconverged string   // what is wrong with the model, empty for nothing
	doubts      []string // columns with draws that cannot be
	notes       []string // warnings that leave the exit code as it is
}

// read notes how the fit of the model in a file ended; files that do not say pass.
func (o *modelOutcome) read(path string, m *fitted.Saved) {
	if m.Outcome != nil && !m.Outcome.Converged {
		o.unconverged = fmt.Sprintf("the model %s is not to be relied on: %s", path, m.Outcome.Verdict)
	}
}

func (o *modelOutcome) doubt(problems []string) { o.doubts = append(o.doubts, problems...) }

func (o *modelOutcome) converged() bool { return o.unconverged == "" }

// tell puts the warnings to what is known of the result, and says them.
func (o *modelOutcome) tell(stderr io.Writer, known map[string]any) {
	warnings := append([]string{}, o.notes...)
	if !o.converged() {
		warnings = append(warnings, o.unconverged)
	}
	for _, d := range o.doubts {
		warnings = append(warnings, d+": cells may be missing not at random, or the columns have bounds that were not given when the model was fitted")
	}
	known["warnings"] = warnings
	for _, w := range warnings {
		fmt.Fprintf(stderr, "warning: %s\n", w)
	}
}

// err marks the result: exit code 3.
func (o *modelOutcome) err(out string) error {
	switch {
	case !o.converged():
		return unconverged{fmt.Sprintf("NOT converged: the result in %s comes from a model whose fit did not end well; see the warning", out)}
	case len(o.doubts) > 0:
		return unconverged{fmt.Sprintf("NOT plausible: in %s %s", out, strings.Join(o.doubts, "; "))}
	}
	return nil
}
