package claims

import (
	"math"
	"slices"
)

// Margins of equivalence.
var (
	factor   = math.Log(1.1) // log ratio of errors
	area     = 0.02          // AUC and F1
	coverage = 0.015         // coverage of 95 % intervals
)

// Each of the first methods with each of the second in one column.
func of(column string, w Where, ahead, behind []string) (pairs []Pair) {
	for _, a := range ahead {
		for _, b := range behind {
			pairs = append(pairs, Pair{Side{column, a, w}, Side{column, b, w}})
		}
	}
	return pairs
}

// Lower errors.
func lower(id, experiment, sentence, column string, w Where, ahead, behind []string) Claim {
	return Claim{ID: id, Experiment: experiment, Sentence: sentence, Pairs: of(column, w, ahead, behind), Ratio: true, Want: Negative}
}

// Higher values.
func higher(id, experiment, sentence, column string, w Where, ahead, behind []string) Claim {
	return Claim{ID: id, Experiment: experiment, Sentence: sentence, Pairs: of(column, w, ahead, behind), Want: Positive}
}

func (c Claim) each(column string) Claim { c.Each = column; return c }

func (c Claim) wants(r Relation) Claim { c.Want = r; return c }

// twice returns both proposals of Marg-IW and EM: N(0, 16 I), the paper's, and N(0, I).
func twice(claim func(id string, iw, em string) Claim, id string) []Claim {
	wide, unit := claim(id, "iw", "em"), claim(id+"-unit", "iw-unit", "em-unit")
	wide.Sentence += " [proposal N(0, 16 I)]"
	unit.Sentence += " [proposal N(0, I)]"
	return []Claim{wide, unit}
}

func alone(id, experiment, sentence, column, method string, w Where, want Relation) Claim {
	return Claim{ID: id, Experiment: experiment, Sentence: sentence, Pairs: []Pair{{A: Side{column, method, w}}}, Want: want}
}

const fisher, theta, auc = "fisher_divergence", "quartic_error", "auc"

func list(names ...string) []string { return names }

// Paper lists the paper's claims.
var Paper = slices.Concat(
	twice(func(id, iw, em string) Claim {
		return lower(id, "normal-truncated", "Marg-IW and EM perform best", fisher, Where{"weight": "row"}, list(iw, em), list("var", "zeroed"))
	}, "truncated-iw-em-best"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "normal-truncated", "… with Marg-Var approaching asymptotically: at the last epoch at most 10 % above Marg-IW", fisher, Where{"weight": "row"}, list("var"), list(iw)).wants(Below(factor))
	}, "truncated-var-approaches"),
	[]Claim{
		lower("truncated-zeroed", "normal-truncated", "Zeroed does not converge: it stays above Marg-Exact", fisher, nil, list("exact"), list("zeroed")).each("weight"),
		lower("normal-zeroed", "normal", "… and so without truncation", fisher, nil, list("exact"), list("zeroed")),
		{ID: "normal-naive-misses", Experiment: "normal", Sentence: "Naive marginalisation misses the dependence that removing dimension 1 introduces: the share missed, last column − other pairs",
			Pairs: []Pair{{Side{"share_missed_last", "exact", nil}, Side{"share_missed_rest", "exact", nil}}}, Want: Positive},
	},
	twice(func(id, iw, em string) Claim {
		return lower(id, "normal", "Without truncation results are similar: Marg-IW and EM perform best", fisher, nil, list(iw, em), list("var", "zeroed"))
	}, "normal-iw-em-best"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-dim", "Marg-Var consistently yields the lowest error, at each number of columns", theta, nil, list("var"), list(iw, em, "zeroed")).each("columns")
	}, "ica-dim-var-best"),
	twice(func(id, iw, em string) Claim {
		return lower(id+"-fisher", "ica-dim", "… by Fisher divergence, which the caption names", fisher, nil, list("var"), list(iw, em, "zeroed")).each("columns")
	}, "ica-dim-var-best"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-dim", "EM and Marg-IW are indistinguishable: within 10 % at each number of columns", theta, nil, list(iw), list(em)).each("columns").wants(Within(factor))
	}, "ica-dim-em-iw"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-n", "EM and Marg-IW have the smallest error for larger samples: 4000 rows", theta, Where{"rows": "4000"}, list(iw, em), list("var", "zeroed"))
	}, "ica-n-em-iw-smallest"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-n", "Zeroed has the largest error, at each number of rows", theta, nil, list(iw, em, "var"), list("zeroed")).each("rows")
	}, "ica-n-zeroed-largest"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-missing", "Marg-Var has the smallest error over the missing probabilities", theta, nil, list("var"), list(iw, em, "zeroed"))
	}, "ica-missing-var-smallest"),
	twice(func(id, iw, em string) Claim {
		return lower(id, "ica-missing", "… and converges to Marg-IW and EM as more cells are missing: within 10 % at 0.9", theta, Where{"missing": "0.9"}, list("var"), list(iw, em)).wants(Within(factor))
	}, "ica-missing-converge"),
	[]Claim{
		lower("practice-mask", "practice", "The mask as input of the imputer does not help: at most 10 % better", theta, nil, list("var, mask told"), list("var")).wants(Above(-factor)),
		lower("practice-deviation", "practice", "A σ that depends on x makes training unstable: higher error", theta, nil, list("var"), list("var, σ of x")),
		lower("practice-draws", "practice", "r = 10 draws are enough for Marg-IW: r = 50 is at most 10 % better", theta, nil, list("iw-unit, r = 50"), list("iw-unit")).wants(Above(-factor)),
		lower("practice-steps", "practice", "10 imputer steps work well: 50 are at most 10 % better", theta, nil, list("var, 50 steps"), list("var")).wants(Above(-factor)),
	},
	network("star-missing", "Marg-Var performs best on a star, over the missing probabilities", nil, "var"),
	network("dense-missing", "Again the variational approach performs best on dense networks", nil, "var"),
	network("star-dim", "For higher dimensions the variational approach clearly performs best: 50 columns", Where{"columns": "50"}, "var"),
	network("star-roc", "Marg-Var has consistently the best ROC curves", nil, "var"),
	twice(func(id, iw, em string) Claim {
		return higher(id, "star-dim", "At lower dimensions the others overtake Marg-Var: 10 columns", auc, Where{"treatment": "literal", "columns": "10"}, list(iw, em, "zeroed"), list("var"))
	}, "star-dim-low"),
	twice(func(id, iw, em string) Claim {
		return higher(id, "star-centres", "With five star centres Marg-Var no longer outperforms the others: by at most 0.02", auc, Where{"treatment": "literal", "centres": "5"}, list("var"), list(iw, em, "zeroed")).wants(Below(area))
	}, "star-centres-lead"),
	[]Claim{
		{ID: "star-centres-naive", Experiment: "star-centres", Sentence: "Naive marginalisation misses less of five stars than of one: share missed, 1 centre − 5 centres", Want: Positive,
			Pairs: []Pair{{Side{"naive_misses", "exact", Where{"treatment": "literal", "centres": "1"}}, Side{"naive_misses", "exact", Where{"treatment": "literal", "centres": "5"}}}}},
	},
	twice(func(id, iw, em string) Claim {
		return higher(id, "sp100", "Marg-Var clearly outperforms the others on stocks, one threshold for all", "auc_common", Where{"table": "closing"}, list("var"), list(iw, em, "zeroed"))
	}, "sp100-var-best"),
	twice(func(id, iw, em string) Claim {
		return higher(id, "yeast", "Marg-Var clearly outperforms the others on genes, one threshold for all", "auc_common", nil, list("var"), list(iw, em, "zeroed"))
	}, "yeast-var-best"),
)

// With the literal and the honoured treatment (package star).
func network(experiment, sentence string, w Where, best string) (claims []Claim) {
	for _, t := range []struct{ treatment, words string }{{"literal", "draws from all of R^d"}, {"honoured", "support honoured"}} {
		at := Where{"treatment": t.treatment}
		for k, v := range w {
			at[k] = v
		}
		claims = append(claims, twice(func(id, iw, em string) Claim {
			return higher(id, experiment, sentence+", "+t.words, auc, at, list(best), list(iw, em, "zeroed"))
		}, experiment+"-"+best+"-"+t.treatment)...)
	}
	return claims
}

var (
	everywhere = Where{"network": "!truncated*"}
	completely = Where{"network": "!truncated*", "law": "MCAR*"}
	atRandom   = Where{"network": "!truncated*", "law": "MAR*"}
	large      = Where{"columns": "200", "missing": "0.2"}
)

// Ours lists this project's claims.
var Ours = []Claim{
	lower("variw-at-exact", "normal", "Marg-VarIW is within 10 % of Marg-Exact on a normal", fisher, nil, list("variw"), list("exact")).wants(Below(factor)),
	lower("variw-at-exact-truncated", "normal-truncated", "… and on a truncated normal, with either weight", fisher, nil, list("variw"), list("exact")).each("weight").wants(Below(factor)),
	higher("variw-at-exact-star", "star-missing", "… and its AUC is within 0.02 on stars, support honoured", auc, Where{"treatment": "honoured"}, list("variw"), list("exact")).wants(Above(-area)),
	higher("collider-correlations", "collider-missing", "On colliders Marg-Exact finds edges better than ranking by correlations", auc, Where{"treatment": "honoured"}, list("exact"), list("marginal")),
	higher("collider-sizes", "collider-missing", "The ridge order of em-exact ranks pairs better than pairwise partial correlations", auc, Where{"treatment": "honoured"}, list("em-exact, ridge"), list("partial")),
	lower("neural-zeroed", "neural", "Marg-IW has a lower error than zeroed energies and MissDiff for each density", "kept", nil, list("iw"), list("zeroed", "missdiff")).each("density"),
	lower("neural-em-var", "neural", "In ten columns em-var with five normals for each row has a lower error than Marg-IW and EM", "kept", Where{"density": "modes"}, list("em-var-mixture"), list("iw", "em")),
	lower("neural-em-variw", "neural", "em-variw with five normals for each row has a lower error than em-full for each density", "kept", nil, list("em-variw-mixture, averaged"), list("em-full, averaged")).each("density"),
	lower("neural-average", "neural", "The running average of the parameters of Marg-IW has a lower error than the last step for each density", "kept", nil, list("iw, averaged"), list("iw")).each("density"),
	lower("neural-mar-em-var", "neural-mar", "Under MAR em-var has a lower error than em-variw in ten columns", "kept", Where{"density": "modes"}, list("em-var-mixture"), list("em-variw-mixture")),
	lower("neural-curve-em-var", "neural-curve", "On a curve in ten columns em-var has a lower error than Marg-IW, EM and em-variw", "kept", nil, list("em-var-mixture"), list("iw", "em", "em-variw-mixture")),
	lower("imputation-mice", "imputation", "Under MCAR and MAR impute TABLE has a lower energy score than mice in sample, mean over tables", "energy_score", Where{"law": "!MNAR"}, list("impute"), list("mice")),
	lower("imputation-mice-out", "imputation", "… and out of sample, without HolzingerSwineford1939", "out_energy_score", Where{"law": "!MNAR", "table": "!Holzinger*"}, list("impute"), list("mice")),
	lower("imputation-points", "imputation", "The means of its draws have a lower RMSE than forests, IterativeImputer and KNNImputer", "rmse", Where{"law": "!MNAR"}, list("impute"), list("forest", "iterative", "knn")),
	lower("imputation-points-out", "imputation", "… and out of sample, without HolzingerSwineford1939", "out_rmse", Where{"law": "!MNAR", "table": "!Holzinger*"}, list("impute"), list("forest", "iterative", "knn")),
	lower("mar-em-exact", "mar", "Under MAR em-exact has a lower error than the marginal loss, in each design", "partial_correlation_error", nil, list("em-exact"), list("exact")).each("design"),
	alone("mar-em-exact-bias", "mar", "Under MAR em-exact is unbiased: bias of edges within ±0.03 in each design", "edge_bias", "em-exact", nil, Within(0.03)).each("design"),
	higher("networks-auc", "networks", "Under MCAR em-exact finds edges better than exact and EM with the graphical lasso", auc, completely, list("em-exact"), list("exact", "glasso")),
	higher("networks-mar", "networks", "Under MAR em-exact finds edges better than exact", auc, atRandom, list("em-exact"), list("exact")),
	lower("networks-precision", "networks", "Under MCAR the precision of em-exact is nearer to the truth than that of exact and of EM with the graphical lasso", "frobenius", completely, list("em-exact"), list("exact", "glasso")),
	higher("networks-default", "networks", "The network of the default is better than that of cglasso and of EM with the graphical lasso", "f1", everywhere, list("em-exact, auto"), list("cglasso", "glasso")),
	higher("networks-ridge", "networks", "On random networks --penalty ridge orders pairs better than cglasso and EM with the graphical lasso", auc, Where{"network": "random*"}, list("em-exact, ridge"), list("cglasso", "glasso")),
	higher("weak-f1", "weak", "From 300 rows on the default finds weak edges better than mantar's neighbourhood selection: F1", "f1", Where{"rows": "!150"}, list("network"), list("neighbourhood")),
	higher("weak-mcc", "weak", "… MCC", "mcc", Where{"rows": "!150"}, list("network"), list("neighbourhood")),
	lower("weak-sizes", "weak", "… and the error of partial correlations over true edges is lower", "edge_error", Where{"rows": "!150"}, list("network"), list("neighbourhood")),
	alone("weak-false", "weak", "At most 15 % of the default's edges are false, mean over numbers of rows", "fdr", "network", nil, Below(0.15)).each("table"),
	alone("weak-fdr", "weak", "With --select fdr=0.1 at most 10 % are, mean over tables", "fdr", "network, fdr=0.1", nil, Below(0.1)),
	alone("coverage-model-edges", "coverage", "95 % model intervals cover 93.5 to 96.5 % of edges of normal rows, 500 rows, 10 columns", "edges_covered", "model", Where{"design": "normal*", "columns": "10", "rows": "500"}, around(0.95)),
	alone("coverage-robust-edges", "coverage", "95 % robust intervals cover 93.5 to 96.5 % of edges for each distribution of rows, 500 rows, 10 columns", "edges_covered", "robust", Where{"columns": "10", "rows": "500"}, around(0.95)).each("design"),
	alone("coverage-robust-others", "coverage", "… and pairs without an edge", "others_covered", "robust", Where{"columns": "10", "rows": "500"}, around(0.95)).each("design"),
	alone("coverage-discoveries", "coverage", "At most one in ten pairs with q ≤ 0.1 is a false edge, 500 rows, 10 columns", "false", "robust", Where{"columns": "10", "rows": "500"}, Below(0.1)).each("design"),
	lower("scale-cglasso", "scale", "A path of em-exact is faster than cglasso's: 200 columns, 20 % missing", "seconds", large, list("em-exact"), list("cglasso")),
	lower("scale-huge", "scale", "… and than huge's of a complete table of 1000 columns", "seconds", Where{"columns": "1000", "missing": "0"}, list("em-exact"), list("huge")),
	higher("scale-f1", "scale", "… and its best network is no worse than cglasso's", "best_f1", large, list("em-exact"), list("cglasso")).wants(Above(-area)),
	alone("scale-thousand", "scale", "A path of em-exact, 1000 columns, 20 % missing, takes at most 180 seconds", "seconds", "em-exact", Where{"columns": "1000", "missing": "0.2"}, Below(180)),
	alone("scale-pairwise", "scale", "… and pairwise at most 20 seconds", "seconds", "pairwise", Where{"columns": "1000", "missing": "0.2"}, Below(20)),
	higher("mixed-networks-latent", "mixed-networks", "With missing cells, network finds edges of mixed tables better than mgm after mice: latent normal tables", "f1", Where{"network": "latent*", "law": "M*"}, list("network"), list("mgm after mice")),
	higher("mixed-networks-pairwise", "mixed-networks", "… and tables of pairwise mixed graphical models", "f1", Where{"network": "pairwise*", "law": "M*"}, list("network"), list("mgm after mice")),
	higher("mixed-networks-complete-latent", "mixed-networks", "On complete tables its F1 is at most 0.02 below that of mgm: latent normal tables", "f1", Where{"network": "latent*", "law": "complete"}, list("network"), list("mgm, complete rows")).wants(Above(-area)),
	higher("mixed-networks-complete-pairwise", "mixed-networks", "… and tables of pairwise mixed graphical models", "f1", Where{"network": "pairwise*", "law": "complete"}, list("network"), list("mgm, complete rows")).wants(Above(-area)),
	lower("mixed-imputation-levels", "mixed-imputation", "impute TABLE has a lower log score of binary and nominal cells than mice, mean over tables", "nominal_log_score", nil, list("impute"), list("mice")),
	lower("mixed-imputation-numbers", "mixed-imputation", "… and a lower CRPS of numbers", "crps", nil, list("impute"), list("mice")),
}

func around(share float64) Relation { return Relation{share - coverage, share + coverage} }
