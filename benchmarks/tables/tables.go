// Package tables holds the paper's experiments on real tables, sp100 and yeast (sections "S&P 100"
// and "Yeast Data", appendix "Real World Data"). The truth is the network of the complete table by
// ordinary score matching at five densities. Cells are hidden completely at random, and the result
// is the mean AUC of each method's L1 path against the five truths.
//
// The list "ours" of the settings names choices that the paper does not state:
//
//   - Columns observed in less than the share "present" of the rows are dropped, then rows with a gap.
//   - Columns are standardised; λ is the paper's 10¹ … 10⁻⁴, for a loss that sums over columns.
//   - Missing probabilities are taken from the paper's stars; the step size is regpath.Config's default.
//   - iw and em draw from N(0, 16 I), the paper's proposal for normals; methods "-unit" from N(0, I).
//   - The edge threshold is chosen for each path (Threshold), common to all, or taken from the
//     complete table.
//   - "glasso", EM with the graphical lasso, has its own λ (emglasso.Path).
package tables

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/benchmarks/emglasso"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed sp100/config.json
var sp100Settings []byte

//go:embed yeast/config.json
var yeastSettings []byte

// SP100 has closing prices, as in the paper, and daily log returns.
var SP100 = harness.Experiment{
	Name: "sp100", Title: "Stocks of the S&P 100", Source: `Section "S&P 100", figure snp100_varymiss_AUC; appendix "Real World Data"`,
	Settings: sp100Settings, Grid: harness.Of(grid),
}

var Yeast = harness.Experiment{
	Name: "yeast", Title: "Gene expression in yeast", Source: `Section "Yeast Data", figure yeast_varymiss_AUC; appendix "Real World Data"`,
	Settings: yeastSettings, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int       `json:"replicates"` // masks for each missing probability
	Seed       uint64    `json:"seed"`
	Folder     string    `json:"folder"` // of the files; empty: harness.FolderVariable
	Tables     []source  `json:"tables"`
	Methods    []string  `json:"methods"`
	Missing    []float64 `json:"missing"`
	Densities  []float64 `json:"densities"` // of the true networks

	LambdaMax    float64 `json:"lambda_max"` // for a loss that sums over columns
	LambdaMin    float64 `json:"lambda_min"`
	Lambdas      int     `json:"lambdas"`
	First        int     `json:"first"` // iterations at the largest λ
	Each         int     `json:"each"`  // iterations at each other λ
	Draws        int     `json:"draws"`
	ImputerSteps int     `json:"imputer_steps"`
	ImputerRate  float64 `json:"imputer_rate"`
	Batch        int     `json:"batch"` // of the imputer's steps
	ProposalSD   float64 `json:"proposal_sd"`

	Likelihood *emglasso.Options `json:"likelihood"` // of the method "glasso"; may be null without it

	Common    float64 `json:"common"`    // common edge threshold
	Jumpiness float64 `json:"jumpiness"` // level of Threshold
	Points    int     `json:"points"`    // of Threshold
	Rounds    int     `json:"rounds"`    // of Threshold

	Ours []string `json:"ours"` // settings that the paper does not state
}

const (
	peer = "glasso" // EM with the graphical lasso
	full = "full"   // ordinary score matching on the complete table
)

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// grid: all methods see the same masks, nested over missing probabilities. auc, auc_common and
// auc_full are mean AUCs with the path's own threshold, the common one, and the complete
// table's; auc_DENSITY is against one truth.
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{Key: []string{"table", "missing", "replicate", "method"}, Value: []string{"rows", "columns", "truth_edges", "threshold", "effective_size", "projections"}}
	for _, density := range s.Densities {
		g.Value = append(g.Value, "auc_"+number(density))
	}
	g.Value = append(g.Value, "auc", "auc_common", "auc_full")
	for _, from := range s.Tables {
		t := s.open(from)
		g.Files = append(g.Files, t.path)
		for _, missing := range s.Missing {
			for replicate := 1; replicate <= replicates; replicate++ {
				for _, method := range s.Methods {
					g.Add(func(ctx context.Context) ([]string, error) {
						return s.run(ctx, t, missing, replicate, method)
					}, from.Name, missing, replicate, method)
				}
			}
		}
	}
	return g, nil
}

func (s settings) run(ctx context.Context, t *table, missing float64, replicate int, method string) ([]string, error) {
	truth, err := t.truths()
	if err != nil {
		return nil, err
	}
	var edges []string
	for _, a := range truth.networks {
		edges = append(edges, strconv.Itoa(a.Count()))
	}
	values := []string{strconv.Itoa(truth.complete.N), strconv.Itoa(truth.complete.D), strings.Join(edges, " ")}
	found := truth.found
	if method != full {
		hidden, err := s.hide(truth.complete, missing, uint64(replicate))
		if err != nil {
			return nil, err
		}
		found, err = s.estimate(ctx, hidden, method, uint64(replicate))
		if trainers.Diverged(err) {
			return append(values, slices.Repeat([]string{"-"}, 6+len(edges))...), nil
		}
		if err != nil {
			return nil, err
		}
	}
	values = append(values, number(round(found.threshold)), found.effective, found.projections)
	own, err := aucs(truth.networks, found.networks)
	if err != nil {
		return nil, err
	}
	for _, auc := range own {
		values = append(values, fmt.Sprintf("%.6f", auc))
	}
	for _, threshold := range []float64{found.threshold, s.Common, truth.found.threshold} {
		some, err := aucs(truth.networks, graphs.Thresholded(found.precisions, threshold))
		if err != nil {
			return nil, err
		}
		values = append(values, fmt.Sprintf("%.6f", stat.Mean(some, nil)))
	}
	return values, nil
}

func aucs(truths, path []network.Adjacency) (out []float64, err error) {
	for _, truth := range truths {
		auc, _, err := graphs.Recovery(truth, path)
		if err != nil {
			return nil, err
		}
		out = append(out, auc)
	}
	return out, nil
}

// hide: a mask that leaves a column with fewer than two different values is redrawn, up to 100
// times.
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

// round keeps five digits: results do not depend on the BLAS.
func round(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return short
}

type estimate struct {
	precisions             []*mat.SymDense
	networks               []network.Adjacency // at the threshold
	threshold              float64
	effective, projections string // effective size in the middle of the path, sum of projections
}

func (s settings) estimate(ctx context.Context, t *data.Table, method string, replicate uint64) (e estimate, err error) {
	if method == peer {
		e.precisions, err = emglasso.Precisions(ctx, t, *s.Likelihood)
		e.effective, e.projections = "-", "0"
	} else {
		var r *trainers.Result
		if r, err = s.path(ctx, t, method, replicate); err == nil {
			points, projections := r.Network.Points, 0
			for _, p := range points {
				e.precisions = append(e.precisions, graph.Unpack(t.D, p.Packed()))
				projections += p.Projections
			}
			e.effective, e.projections = number(round(points[len(points)/2].EffectiveSize)), strconv.Itoa(projections)
		}
	}
	if err != nil {
		return estimate{}, err
	}
	e.networks, e.threshold = s.smooth(e.precisions)
	return e, nil
}

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
		for _, a := range graphs.Thresholded(path, threshold) {
			densities = append(densities, share(a))
		}
		return densities
	}, largest, s.Jumpiness, s.Points, s.Rounds)
	return graphs.Thresholded(path, threshold), threshold
}

func (s settings) path(ctx context.Context, t *data.Table, method string, replicate uint64) (*trainers.Result, error) {
	sd := s.ProposalSD
	name, unit := strings.CutSuffix(method, "-unit")
	if unit {
		sd = 1
	}
	d := float64(t.D)
	return harness.Estimate(ctx, t, trainers.Spec{
		Steps: engine.Config{Method: name, Seed: stream.New(s.Seed, stream.Replicate, replicate).Uint64(), Draws: s.Draws,
			ImputerSteps: s.ImputerSteps, ImputerRate: s.ImputerRate, Batch: s.Batch, ProposalSD: sd},
		Network: &regpath.Config{
			Schedule: regpath.Fixed, InitialIter: s.First, IterPerLambda: s.Each,
			// regpath's loss is a mean over columns.
			LambdaMax: s.LambdaMax / d, LambdaMin: s.LambdaMin / d, Lambdas: s.Lambdas,
			Select: regpath.Selection{Kind: "none"}, PathOnly: true,
		},
	}, trainers.Run{})
}

// The nearest density; of two, the sparser. Empty and complete networks have no AUC and do not
// count.
func nearest(networks []network.Adjacency, density float64) (network.Adjacency, error) {
	var some []network.Adjacency
	for _, a := range networks {
		if n := a.Count(); 0 < n && n < len(a.Edge) {
			some = append(some, a)
		}
	}
	if some == nil {
		return network.Adjacency{}, errors.New("each network of the path is empty or has all edges")
	}
	return slices.MinFunc(some, func(a, b network.Adjacency) int {
		return cmp.Or(cmp.Compare(math.Abs(share(a)-density), math.Abs(share(b)-density)), cmp.Compare(a.Count(), b.Count()))
	}), nil
}

type source struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Kind    string   `json:"kind"`    // "closing" or "returns" (long price tables with Kaggle's columns), or "expression"
	Names   []string `json:"names"`   // columns in this order; empty: all
	Present float64  `json:"present"` // least observed share of a column
	Rows    int      `json:"rows"`    // number of complete rows from the first; 0: all
	Note    string   `json:"note"`    // difference from the paper's table
}

// read returns complete rows of the columns with enough observed cells.
func (f source) read(path string) (t *data.Table, err error) {
	switch f.Kind {
	case "closing", "returns":
		t, err = prices(path, f.Names, f.Kind == "returns")
	case "expression":
		t, err = data.ReadCSV(path, data.ReadOptions{Columns: f.Names})
	}
	if err != nil {
		return nil, err
	}
	if t, err = present(t, f.Present); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if t, err = t.CompleteRows(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if 0 < f.Rows && f.Rows < t.N {
		return data.NewTable(t.Names, t.Values[:f.Rows*t.D], nil)
	}
	return t, nil
}

// table is a real table with true networks, estimated by the first cell that needs them.
type table struct {
	path   string
	truths func() (truths, error)
}

type truths struct {
	complete *data.Table
	found    estimate            // on the complete table, by ordinary score matching
	networks []network.Adjacency // for each density the nearest of its path
}

func (s settings) open(from source) *table {
	path := harness.DataPath(s.Folder, from.File)
	return &table{path, sync.OnceValues(func() (t truths, err error) {
		if t.complete, err = from.read(path); err != nil {
			return t, err
		}
		if t.found, err = s.estimate(context.Background(), t.complete, full, 0); err != nil {
			return t, fmt.Errorf("table %q, complete: %w", from.Name, err)
		}
		for _, density := range s.Densities {
			truth, err := nearest(t.found.networks, density)
			if err != nil {
				return t, fmt.Errorf("table %q, complete: %w", from.Name, err)
			}
			t.networks = append(t.networks, truth)
		}
		return t, nil
	})}
}

// Threshold chooses the |P_jk| above which an entry is an edge (paper, appendix "Real World Data"):
// the smallest t at which the path is smooth,
//
//	Jumpiness(densities(t)) ≤ level
//
// An iterative grid search of points values in (0, largest], largest the largest |P_jk|, may miss a
// smaller threshold, because Jumpiness may increase with t.
func Threshold(densities func(threshold float64) []float64, largest, level float64, points, rounds int) float64 {
	low, high := 0.0, largest
	for range rounds {
		step := (high - low) / float64(points)
		for k := 1; k < points; k++ {
			if t := low + float64(k)*step; Jumpiness(densities(t)) <= level {
				high = t
				break
			}
		}
		low = high - step
	}
	return high
}

// Jumpiness sums the decreases of the edge density ρ that follow an increase, from the largest λ to
// the smallest:
//
//	Σ_k (ρ_(k−1) − ρ_k)  over k with ρ_k < ρ_(k−1) and ρ_(k−1) > ρ_(k−2)
func Jumpiness(densities []float64) (sum float64) {
	for k := 2; k < len(densities); k++ {
		if fall := densities[k-1] - densities[k]; fall > 0 && densities[k-1] > densities[k-2] {
			sum += fall
		}
	}
	return sum
}

// present returns columns observed in at least this share of the rows.
func present(t *data.Table, share float64) (*data.Table, error) {
	var names []string
	for j, name := range t.Names {
		if seen := t.ObservedIn(j); seen > 0 && float64(seen) >= share*float64(t.N) {
			names = append(names, name)
		}
	}
	return t.Select(names)
}

// share is edges / pairs.
func share(a network.Adjacency) float64 { return float64(a.Count()) / float64(max(1, len(a.Edge))) }
