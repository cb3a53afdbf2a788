package main

import (
	"missingscore/benchmarks/markdown"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/report"
)

// quarticSigns has the readings of each sentence on the quartic model, by error, epoch and proposal.
func quarticSigns(verdicts []report.Judged) markdown.Table {
	t := markdown.Table{Name: "paper quartic"}
	for _, v := range verdicts {
		header, lines := quartic.Signs(v.Readings)
		t.Header = append([]string{"the paper's words"}, header...)
		for i, line := range lines {
			words := ""
			if i == 0 {
				words = v.Quote
			}
			t.Lines = append(t.Lines, append([]string{words}, line...))
		}
	}
	return t
}
