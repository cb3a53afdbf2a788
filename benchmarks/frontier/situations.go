// Package frontier puts the methods of this program and their outside rivals on one page:
// for each situation that an experiment has measured, who is ahead, who is level with it and
// who is behind. It runs nothing: it reads the results of the other experiments.
package frontier

import (
	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/mar"
)

// situation is a question that a user has, with the cells that answer it.
type situation struct {
	words      string
	experiment string
	column     string // what is measured …
	measure    string // … in words
	smaller    bool   // is better, and methods are compared by ratios; else by differences
	where      map[string][]string
	methods    []string // that are compared, ours and others; not those that know what is hidden
}

// situations are those of the page. A new one is an entry here.
var situations = []situation{
	{"networks, normal columns, gaps completely at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"random 6", "random 20", "random 50", "random 100"}, "law": {"MCAR 10 %", "MCAR 30 %", "MCAR 50 %", "MCAR 70 %"}},
		onNetworks},
	{"the same, the chosen network", "networks", "f1", "F1 at the λ of EBIC", false,
		map[string][]string{"network": {"random 6", "random 20", "random 50", "random 100"}, "law": {"MCAR 10 %", "MCAR 30 %", "MCAR 50 %", "MCAR 70 %"}},
		onNetworks},
	{"networks, normal columns, gaps at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"random 6", "random 20", "random 50", "random 100"},
			"law": {"MAR weak 10 %", "MAR weak 30 %", "MAR weak 50 %", "MAR weak 70 %", "MAR medium 10 %", "MAR medium 30 %", "MAR medium 50 %", "MAR medium 70 %", "MAR strong 10 %", "MAR strong 30 %", "MAR strong 50 %", "MAR strong 70 %"}},
		onNetworks},
	{"random networks of 100 columns, 500 rows, gaps completely at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"random 100"}}, []string{"em-exact", "em-exact, ridge", "exact", "cglasso"}},
	{"stars of equal weak edges", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"star 20"}}, onNetworks},
	{"networks of columns cut at a bound", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"truncated 10"}}, cutOff},
	{"dense networks cut by a plane", "dense-missing", "auc", "AUC of the path", false,
		map[string][]string{"treatment": {"honoured"}}, []string{"exact", "var", "variw", "iw-unit", "zeroed", "glasso"}},
	{"the choice of edges, 20 to 100 normal columns", "deciding", "f1", "F1 of the chosen edges", false, nil,
		[]string{"auto, ebic", "l1, ebic", "adaptive, ebic", "l1, fdr, model", "l1, fdr, robust", "adaptive, fdr, robust"}},
	{"filling in real tables", "imputation", "energy_score", "energy score of the draws", true,
		map[string][]string{"table": {"airquality", "walking", "sachs", "returns", "brem", "gasch", "riboflavin", "mkmep"}}, []string{"posterior", "em-exact", "mice pmm", "mice norm"}},
	{"filling in normal tables", "imputation", "energy_score", "energy score of the draws", true,
		map[string][]string{"table": {"star", "dense"}}, []string{"posterior", "em-exact", "em", "mice pmm", "mice norm"}},
	{"filling in skewed, cut or curved tables", "imputation", "energy_score", "energy score of the draws", true,
		map[string][]string{"table": {"skewed", "truncated", "moons", "modes"}}, []string{"posterior", "em-exact", "em", "mice pmm", "mice norm"}},
	{"quartic model, half missing", "ica-dim", "quartic_error", "error of the parameters after epoch 50", true, nil,
		[]string{"iw", "iw-unit", "em", "em-unit", "var", "variw", "zeroed"}},
	{"neural energy of two moons, half missing", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"moons"}}, averagedEnergies},
	{"neural energy of a ring, half missing", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"ring"}}, averagedEnergies},
	{"neural energy of five normals in ten columns, half missing", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"modes"}}, averagedEnergies},
	{"neural energy of a curve in ten columns, half missing", "neural-curve", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"curve"}}, energiesOfCurve},
	{"neural energy of two moons, gaps at random", "neural-mar", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"moons"}}, energiesAtRandom},
	{"neural energy of five normals in ten columns, gaps at random", "neural-mar", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"modes"}}, energiesAtRandom},
	{"neural energy of a curve in ten columns, gaps at random", "neural-mar", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"curve"}}, energiesAtRandom},
	{"normal columns without a penalty, gaps at random", "mar", mar.ErrorColumn, "error of the partial correlations", true, nil,
		[]string{"em-exact", "exact", "EM"}},
}

// derived are columns that an experiment's results do not hold, but follow from them.
var derived = map[string]func(cells.Results) (cells.Results, error){"mar": mar.WithErrors}

// parts are situations by the shape of the network and by the law of the gaps.
var parts = append([]situation{
	{"stars of equal weak edges, gaps completely at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"star 20"}, "law": {"MCAR 30 %", "MCAR 50 %", "MCAR 70 %"}}, onNetworks},
	{"the same, gaps at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"star 20"}, "law": {"MAR medium 30 %", "MAR medium 50 %", "MAR medium 70 %"}}, onNetworks},
	{"networks of columns cut at a bound, gaps completely at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"truncated 10"}, "law": {"MCAR 30 %", "MCAR 50 %", "MCAR 70 %"}}, cutOff},
	{"the same, gaps at random", "networks", "auc", "AUC of the path", false,
		map[string][]string{"network": {"truncated 10"}, "law": {"MAR medium 30 %", "MAR medium 50 %", "MAR medium 70 %"}}, cutOff},
	{"neural energy of two moons, half missing, parameters of the last step", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"moons"}}, energies},
	{"neural energy of a ring, half missing, parameters of the last step", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"ring"}}, energies},
	{"neural energy of five normals in ten columns, half missing, parameters of the last step", "neural", "fisher_divergence", "Fisher divergence", true,
		map[string][]string{"density": {"modes"}}, energies},
}, chosenOn("random", "hub", "chain", "star", "dense")...)

// The methods of networks.
var (
	onNetworks = []string{"em-exact", "em-exact, ridge", "em-exact, auto", "exact", "glasso", "cglasso"}
	cutOff     = []string{"em-exact", "exact", "exact (truncation ignored)", "em-exact (truncation ignored)", "glasso"}
)

// The methods of neural energies: by running means of the parameters, the program's default, and by
// those of the last step, the paper's imputer among them.
var (
	averagedEnergies = []string{"iw, averaged", "em, averaged", "em-full, averaged", "em-variw-mixture, averaged", "em-var-mixture, averaged", "var-mixture, averaged", "zeroed, averaged", "missdiff, averaged"}
	energiesAtRandom = []string{"iw", "em-full", "em-variw-mixture", "em-var-mixture", "var-mixture"} // by running means, too, and so are …
	energiesOfCurve  = append([]string{"em", "zeroed"}, energiesAtRandom...)
	energies         = []string{"iw", "em", "var", "variw-mixture", "var-mixture", "em-var-mixture", "zeroed", "missdiff"}
)

// chosenOn is the choice of edges on each shape of a network, by law.
func chosenOn(graphs ...string) (all []situation) {
	words := map[string]string{"random": "random networks", "hub": "hubs", "chain": "chains", "star": "stars", "dense": "dense networks"}
	ways := []string{"auto, ebic", "l1, ebic", "adaptive, ebic", "ridge, ebic", "ridge, stability=5", "l1, fdr, robust"}
	for _, g := range graphs {
		for _, law := range []struct {
			words  string
			tables []string
		}{
			{"completely at random", []string{"20 columns, 300 rows, MCAR 30 %", "20 columns, 1000 rows, MCAR 70 %", "20 columns, 150 rows, MCAR 20 %",
				"50 columns, 500 rows, MCAR 30 %", "50 columns, 1000 rows, MCAR 70 %", "100 columns, 500 rows, MCAR 20 %"}},
			{"at random, 20 columns, half missing", []string{"20 columns, 300 rows, MAR medium 50 %"}},
		} {
			all = append(all, situation{"the choice of edges of " + words[g] + ", gaps " + law.words, "deciding", "f1", "F1 of the chosen edges", false,
				map[string][]string{"graph": {g}, "table": law.tables}, ways})
		}
	}
	return all
}
