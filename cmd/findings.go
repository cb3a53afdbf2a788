package cmd

import (
	"fmt"
	"io"

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

// writeFindings writes a line for each.
func writeFindings(w io.Writer, found []diagnose.Finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%s: %s\n", f.Severity, f.Message)
	}
}
