// Package reproduce lists the experiments, and the sentences of the paper that compare them.
package reproduce

import (
	"fmt"
	"strings"

	"missingscore/benchmarks/bound"
	"missingscore/benchmarks/coverage"
	"missingscore/benchmarks/deciding"
	"missingscore/benchmarks/denoising"
	"missingscore/benchmarks/harness"
	"missingscore/benchmarks/imputation"
	"missingscore/benchmarks/likelihood"
	"missingscore/benchmarks/mar"
	"missingscore/benchmarks/missingness"
	"missingscore/benchmarks/networks"
	"missingscore/benchmarks/neural"
	"missingscore/benchmarks/normal"
	"missingscore/benchmarks/ordinal"
	"missingscore/benchmarks/quartic"
	"missingscore/benchmarks/scale"
	"missingscore/benchmarks/star"
	"missingscore/benchmarks/tables"
)

// Experiments are all there are, in the paper's order. A new one is a line here.
var Experiments = []harness.Experiment{
	normal.Truncated,
	normal.Untruncated,
	quartic.Dim,
	quartic.Rows,
	quartic.Missing,
	quartic.Practice,
	quartic.Penalised,
	star.Missing,
	star.Dense,
	star.Colliders,
	star.Centres,
	star.Dim,
	star.ROC,
	tables.SP100,
	tables.Yeast,
	bound.Experiment,
	neural.Experiment,
	neural.AtRandom,
	neural.Curve,
	denoising.Experiment,
	missingness.Experiment,
	likelihood.Experiment,
	imputation.Experiment,
	mar.Experiment,
	networks.Experiment,
	deciding.Experiment,
	coverage.Experiment,
	star.Ranking,
	scale.Experiment,
	ordinal.Experiment,
}

// ByName looks experiments up; "all" are all of them.
func ByName(names []string) ([]harness.Experiment, error) {
	var out []harness.Experiment
	for _, name := range names {
		if name == "all" {
			return Experiments, nil
		}
		var known []string
		found := false
		for _, e := range Experiments {
			if known = append(known, e.Name); e.Name == name {
				out, found = append(out, e), true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no experiment %q; they are %s, or all", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}
