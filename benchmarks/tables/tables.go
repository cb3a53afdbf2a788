// Package tables holds the paper's experiments on real tables, sp100 and yeast
// (sections "S&P 100" and "Yeast Data", appendix "Real World Data"): networks of the
// complete table by ordinary score matching at five densities are taken for the truth,
// cells are hidden completely at random, and each method's L1 path is judged by its AUC
// against the five.
//
// Where the paper is silent, the setting's name stands in the list "ours" of the
// configuration. In particular:
//
//   - A complete table is needed, and both have real gaps: columns observed in less
//     than a share "present" of the rows are left out (0.95 is the paper's filter for
//     genes), then rows with a gap.
//   - Columns are standardised; λ is the paper's 10¹ … 10⁻⁴, for a loss that sums
//     over the columns.
//   - Missing probabilities are those of the paper's simulated stars.
//   - The step size, which the paper does not state either, is regpath.Config's.
//   - The proposal of iw and em is the paper's of its normal experiment, N(0, 16 I);
//     a method in "-unit" has N(0, I).
//   - The threshold of an edge is one for all methods, that of the paper's stars, or that
//     found on the complete table's path; or it is found anew for each path (Threshold).
//   - The peer "glasso", EM with the graphical lasso, has its own λs (emglasso.Path).
//
// Replicates are corruptions of one table: intervals tell what other corruptions would
// give, not other stocks or years.
package tables

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/cells"
	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/network"
	"missingscore/graph"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/regpath"
)

//go:embed sp100/config.json
var sp100Settings []byte

//go:embed yeast/config.json
var yeastSettings []byte

// SP100 is the paper's experiment on stocks: closing prices, which the paper used, beside daily log returns.
var SP100 = harness.Experiment{
	Name: "sp100", Title: "Stocks of the S&P 100", Source: `Section "S&P 100", figure snp100_varymiss_AUC; appendix "Real World Data"`,
	Settings: sp100Settings, Grid: grid,
}

// Yeast is the paper's experiment on gene expressions.
var Yeast = harness.Experiment{
	Name: "yeast", Title: "Gene expression in yeast", Source: `Section "Yeast Data", figure yeast_varymiss_AUC; appendix "Real World Data"`,
	Settings: yeastSettings, Grid: grid,
}

// settings are one size of a config.json.
type settings struct {
	Replicates int       `json:"replicates"` // corruptions for each missing probability
	Seed       uint64    `json:"seed"`
	Folder     string    `json:"folder"` // of the files; empty: as the environment says (harness.FolderVariable)
	Tables     []source  `json:"tables"`
	Methods    []string  `json:"methods"`
	Missing    []float64 `json:"missing"`
	Densities  []float64 `json:"densities"` // of the networks taken for the truth

	LambdaMax    float64 `json:"lambda_max"` // of a loss that sums over the columns
	LambdaMin    float64 `json:"lambda_min"`
	Lambdas      int     `json:"lambdas"`
	First        int     `json:"first"` // iterations at the largest λ
	Each         int     `json:"each"`  // and at each λ
	Draws        int     `json:"draws"`
	ImputerSteps int     `json:"imputer_steps"`
	ImputerRate  float64 `json:"imputer_rate"`
	Batch        int     `json:"batch"` // of the imputer's steps
	ProposalSD   float64 `json:"proposal_sd"`

	Likelihood *emglasso.Options `json:"likelihood"` // of the method "glasso"; null: it is not run

	Common    float64 `json:"common"`    // a threshold for all methods
	Jumpiness float64 `json:"jumpiness"` // that a path may have, see Threshold
	Points    int     `json:"points"`    // of a grid of the threshold's search
	Rounds    int     `json:"rounds"`    // of it

	Ours []string `json:"ours"` // settings that the paper does not state
}

func read(raw json.RawMessage) (settings, error) {
	var s settings
	if err := harness.Decode(raw, &s); err != nil {
		return s, err
	}
	for _, v := range []struct {
		name string
		ok   bool
	}{
		{"replicates", s.Replicates > 0}, {"tables", len(s.Tables) > 0}, {"methods", len(s.Methods) > 0}, {"missing", len(s.Missing) > 0},
		{"densities", len(s.Densities) > 0}, {"lambda_max", s.LambdaMax > 0}, {"lambda_min", s.LambdaMin > 0}, {"lambdas", s.Lambdas > 1},
		{"common", s.Common > 0}, {"jumpiness", s.Jumpiness >= 0}, {"points", s.Points > 1}, {"rounds", s.Rounds > 0},
	} {
		if !v.ok {
			return s, fmt.Errorf("settings: %q is missing, empty or too small", v.name)
		}
	}
	switch {
	case s.Likelihood != nil:
		if err := s.Likelihood.Check(); err != nil {
			return s, fmt.Errorf("settings: %w", err)
		}
	case slices.Contains(s.Methods, peer):
		return s, fmt.Errorf("settings: the method %q needs \"likelihood\"", peer)
	}
	return s, nil
}

const (
	peer = "glasso" // penalised likelihood, beside the methods of score matching
	full = "full"   // sees what the others do not; truths are chosen from its networks
)

var keyColumns = []string{"table", "missing", "replicate", "method"}

// Columns of the paper's measure, the mean of the AUCs against all truths, by the threshold
// of an edge: one for each path, one for all, and that of the complete table's path.
const (
	meanColumn   = "auc"
	commonColumn = "auc_common"
	fullColumn   = "auc_full"
)

func densityColumn(density float64) string { return meanColumn + "_" + number(density) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// grid has a cell for each table, missing probability, replicate and method. The
// replicates' corruptions are the same for all methods, and nested but where one had to
// be drawn again: what is hidden at one probability is so at every larger one. Replicates of 0 are the settings' own.
func grid(raw json.RawMessage, replicates int) (cells.Grid, error) {
	s, err := read(raw)
	if err != nil {
		return cells.Grid{}, err
	}
	if replicates == 0 {
		replicates = s.Replicates
	}
	g := cells.Grid{Key: keyColumns, Value: []string{"rows", "columns", "truth_edges", "threshold", "effective_size", "projections"}}
	for _, density := range s.Densities {
		g.Value = append(g.Value, densityColumn(density))
	}
	g.Value = append(g.Value, meanColumn, commonColumn, fullColumn)
	var tables []*table
	for _, from := range s.Tables {
		t := s.open(from)
		tables = append(tables, t)
		if from.Note != "" {
			g.Notes = append(g.Notes, from.Name+": "+from.Note)
		}
		for _, missing := range s.Missing {
			for replicate := 1; replicate <= replicates; replicate++ {
				for _, method := range s.Methods {
					g.Cells = append(g.Cells, cells.Cell{
						Key: []string{from.Name, number(missing), strconv.Itoa(replicate), method},
						Run: func(ctx context.Context) ([]string, error) { return s.run(ctx, t, missing, replicate, method) },
					})
				}
			}
		}
	}
	g.Present = func() error {
		for _, t := range tables {
			if err := harness.Present(t.path); err != nil {
				return err
			}
		}
		return nil
	}
	return g, nil
}

// run is one cell.
func (s settings) run(ctx context.Context, t *table, missing float64, replicate int, method string) ([]string, error) {
	complete, truths, err := t.truths(ctx, s)
	if err != nil {
		return nil, err
	}
	var edges []string
	for _, truth := range truths {
		edges = append(edges, strconv.Itoa(truth.Count()))
	}
	values := []string{strconv.Itoa(complete.N), strconv.Itoa(complete.D), strings.Join(edges, " ")}
	found := t.found
	if method != full {
		hidden, err := s.hide(complete, missing, uint64(replicate))
		if err != nil {
			return nil, err
		}
		found, err = s.estimate(ctx, hidden, method, uint64(replicate))
		var fault *engine.DivergedError
		if errors.As(err, &fault) { // a result, not a failure
			return append(values, slices.Repeat([]string{"-"}, 6+len(truths))...), nil
		}
		if err != nil {
			return nil, err
		}
	}
	values = append(values, number(round(found.threshold)), found.effective, found.projections)
	own, err := aucs(truths, found.networks)
	if err != nil {
		return nil, err
	}
	for _, auc := range own {
		values = append(values, fmt.Sprintf("%.6f", auc))
	}
	for _, threshold := range []float64{found.threshold, s.Common, t.found.threshold} {
		some, err := aucs(truths, thresholded(found.precisions, threshold))
		if err != nil {
			return nil, err
		}
		values = append(values, fmt.Sprintf("%.6f", stat.Mean(some, nil)))
	}
	return values, nil
}

// aucs are those of a path of networks against each of the truths.
func aucs(truths, path []network.Adjacency) (out []float64, err error) {
	for _, truth := range truths {
		var rates []network.Rate
		for _, a := range path {
			rate, err := network.Compare(truth, a)
			if err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
		out = append(out, network.AUC(rates))
	}
	return out, nil
}

// hide makes a replicate's corruption, and another one where it leaves a column without
// two different values.
func (s settings) hide(complete *data.Table, missing float64, replicate uint64) (hidden *data.Table, err error) {
	from := []uint64{stream.Hide, replicate}
	for again := range uint64(100) {
		var fault *data.ColumnError
		if hidden, err = data.HideMCAR(complete, missing, stream.New(s.Seed, from...)); !errors.As(err, &fault) {
			return hidden, err
		}
		from = []uint64{stream.Hide, replicate, again + 1}
	}
	return nil, err
}

// round is x to five digits, enough to read and no more than another BLAS would keep.
func round(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return short
}

func projections(points []regpath.Point) (n int) {
	for _, p := range points {
		n += p.Projections
	}
	return n
}

// estimate is what a method finds on a table: the networks of an L1 path, with the
// threshold that smooths it.
type estimate struct {
	precisions             []*mat.SymDense
	networks               []network.Adjacency // at the threshold
	threshold              float64
	effective, projections string // a Point's, in the middle of the path and summed
}

func (s settings) estimate(ctx context.Context, t *data.Table, method string, replicate uint64) (e estimate, err error) {
	if method == peer {
		e.precisions, err = s.likelihood(ctx, t)
		e.effective, e.projections = "-", "0"
	} else {
		var r *trainers.Result
		if r, err = s.path(ctx, t, method, replicate); err == nil {
			points := r.Network.Points
			for _, p := range points {
				e.precisions = append(e.precisions, graph.Unpack(t.D, p.Packed))
			}
			e.effective, e.projections = number(round(points[len(points)/2].EffectiveSize)), strconv.Itoa(projections(points))
		}
	}
	if err != nil {
		return estimate{}, err
	}
	e.networks, e.threshold = s.smooth(e.precisions)
	return e, nil
}

// smooth finds the threshold of a path of precisions.
func (s settings) smooth(path []*mat.SymDense) (networks []network.Adjacency, threshold float64) {
	largest := 0.0
	for _, p := range path {
		for j := range p.SymmetricDim() {
			for k := range j {
				largest = max(largest, math.Abs(p.At(j, k)))
			}
		}
	}
	threshold = Threshold(func(threshold float64) (densities []float64) {
		for _, a := range thresholded(path, threshold) {
			densities = append(densities, a.Density())
		}
		return densities
	}, largest, s.Jumpiness, s.Points, s.Rounds)
	return thresholded(path, threshold), threshold
}

// thresholded are the networks of a path of precisions.
func thresholded(path []*mat.SymDense, threshold float64) (networks []network.Adjacency) {
	for _, p := range path {
		networks = append(networks, network.Threshold(p, threshold))
	}
	return networks
}

// likelihood is the peer's path, on standardised columns.
func (s settings) likelihood(ctx context.Context, t *data.Table) (precisions []*mat.SymDense, err error) {
	standard, _ := data.Standardise(t)
	path, err := emglasso.Path(ctx, standard, *s.Likelihood)
	for _, g := range path {
		precisions = append(precisions, g.Precision)
	}
	return precisions, err
}

// path is a method's of score matching.
func (s settings) path(ctx context.Context, t *data.Table, method string, replicate uint64) (*trainers.Result, error) {
	sd := s.ProposalSD
	name, unit := strings.CutSuffix(method, "-unit")
	if unit {
		sd = 1
	}
	d := float64(t.D)
	return trainers.Estimate(ctx, t, trainers.Spec{
		Steps: engine.Config{Method: name, Seed: stream.New(s.Seed, stream.Replicate, replicate).Uint64(), Draws: s.Draws,
			ImputerSteps: s.ImputerSteps, ImputerRate: s.ImputerRate, Batch: s.Batch, ProposalSD: sd},
		Network: &regpath.Config{
			Schedule: regpath.Fixed, InitialIter: s.First, IterPerLambda: s.Each,
			// The estimator's loss is a mean over columns.
			LambdaMax: s.LambdaMax / d, LambdaMin: s.LambdaMin / d, Lambdas: s.Lambdas,
			Select: regpath.Selection{Kind: "none"}, PathOnly: true, // the AUC is of the path
		},
	}, trainers.Run{})
}

// nearest is, of some networks, that with the density nearest to the one asked for, the
// sparser of two. A network without an edge, or without a gap, is no truth: it has no AUC.
func nearest(networks []network.Adjacency, density float64) (network.Adjacency, error) {
	var some []network.Adjacency
	for _, a := range networks {
		if n := a.Count(); 0 < n && n < len(a.Edge) {
			some = append(some, a)
		}
	}
	if some == nil {
		return network.Adjacency{}, fmt.Errorf("no network of the path is a truth: each is empty or has every edge")
	}
	return slices.MinFunc(some, func(a, b network.Adjacency) int {
		return cmp.Or(cmp.Compare(math.Abs(a.Density()-density), math.Abs(b.Density()-density)), cmp.Compare(a.Count(), b.Count()))
	}), nil
}
