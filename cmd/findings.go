package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"missingscore/data/diagnose"
	"missingscore/trainers"
)

// tellFindings says what is wrong with the table before it is fitted, and gives the warnings.
func tellFindings(w io.Writer, p *trainers.Prepared) (told []string, err error) {
	found, err := p.Findings()
	if err != nil {
		return nil, err
	}
	writeFindings(w, found)
	for _, f := range found {
		told = append(told, f.Message)
	}
	return told, nil
}

// leaveOut gives the columns of a prepared table without those that others determine but for
// rounding, nil where there are none, and says of each why.
func leaveOut(p *trainers.Prepared, names []string) (kept, why []string, err error) {
	found, err := p.Findings()
	kept = slices.Clone(names)
	for _, f := range found {
		if f.Exact != "" {
			kept = slices.DeleteFunc(kept, func(name string) bool { return name == f.LeaveOut[0] })
			why = append(why, fmt.Sprintf("column %s is left out, for others determine it: %s (exact but for rounding); --exclude leaves out another", f.LeaveOut[0], f.Exact))
		}
	}
	if why == nil {
		return nil, nil, err
	}
	if len(kept) < 2 {
		return nil, nil, fmt.Errorf("%s: one column makes no network; at least two are needed", strings.Join(why, "; "))
	}
	return kept, why, err
}

// noteLeftOut puts what was left out to a network's warnings and model.
func noteLeftOut(r *trainers.Result, why []string) {
	r.Warnings = append(slices.Clone(why), r.Warnings...)
	r.Model.Outcome.LeftOut = why
}

// writeFindings writes a line for each.
func writeFindings(w io.Writer, found []diagnose.Finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%s: %s\n", f.Severity, f.Message)
	}
}
