// Package power computes how many rows a network needs by simulation from a known network, as
// netSimulator of R's bootnet (Epskamp and Fried 2018, Psychological Methods 23), with missing
// cells (docs/theory/power.md).
package power

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/graph"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/gaussian/sparse"
	"missingscore/internal/trainers/inference"
	"missingscore/trainers"
	"missingscore/trainers/replicate"
)

// Truth is the distribution of simulated tables, and its network.
type Truth struct {
	Names    []string
	Gaussian simulate.Gaussian
	Domain   *domain.Domain // nil for R^d
	Weights  []float64      // partial correlations of pairs j < k in column order, or strengths of a nominal column; 0 without an edge

	// Blocks are, for latent columns, the columns of Gaussian of each name: K − 1 utilities of a
	// nominal column, or one number cut at thresholds; nil: one each.
	Blocks []data.Block
	Cuts   [][]float64 // per column of Gaussian: thresholds, else nil
}

// Normal is a normal distribution:
//
//	Mean      []float64
//	Precision *mat.SymDense
type Normal = simulate.Gaussian

// NewTruth makes edges of the pairs whose absolute partial correlation exceeds the threshold; it
// fails without edges.
func NewTruth(names []string, g simulate.Gaussian, s *domain.Domain, threshold float64) (*Truth, error) {
	t := &Truth{Names: names, Gaussian: g, Domain: s, Weights: network.PartialCorrelations(g.Precision)}
	return t, t.take(threshold)
}

// NewLatentTruth is NewTruth for columns with levels: see Truth.Blocks and Truth.Cuts.
func NewLatentTruth(g simulate.Gaussian, blocks []data.Block, cuts [][]float64, threshold float64) (*Truth, error) {
	t := &Truth{Gaussian: g, Blocks: blocks, Cuts: cuts}
	d := g.Precision.SymmetricDim()
	var packed []float64
	for j := range d {
		packed = append(packed, mat.Row(nil, j, g.Precision)[j:]...)
	}
	strengths := sparse.FromPacked(packed, d).Strengths(blocks)
	for a, from := range blocks {
		t.Names = append(t.Names, from.Name)
		for b := a + 1; b < len(blocks); b++ {
			w := strengths[graph.PackedIndex(len(blocks), a, b)]
			if to := blocks[b]; from.Width == 1 && to.Width == 1 {
				w = network.PartialCorrelation(g.Precision, from.First, to.First)
			}
			t.Weights = append(t.Weights, w)
		}
	}
	return t, t.take(threshold)
}

const roundedZero = 1e-12 // a saved model has absent edges up to rounding

// It fails without edges.
func (t *Truth) take(threshold float64) error {
	for i, w := range t.Weights {
		if !(math.Abs(w) > max(threshold, roundedZero)) {
			t.Weights[i] = 0
		}
	}
	if t.Edges() == 0 {
		return errors.New("the true network has no edge to find")
	}
	return nil
}

// observed returns the level with the largest utility (the first has 0), or the number of
// thresholds below.
func (t *Truth) observed(latent *data.Table) *data.Table {
	d := len(t.Blocks)
	o := &data.Table{Names: t.Names, N: latent.N, D: d, Values: make([]float64, latent.N*d), Observed: slices.Repeat([]bool{true}, latent.N*d)}
	for j, b := range t.Blocks {
		kind := data.Number
		switch {
		case len(b.Levels) == 2:
			kind = data.Binary
		case b.Width > 1:
			kind = data.Nominal
		case b.Levels != nil:
			kind = data.Ordered
		}
		o.Kinds, o.Levels = append(o.Kinds, kind), append(o.Levels, b.Levels)
		for i := range latent.N {
			row := latent.Values[i*latent.D+b.First:][:b.Width]
			x := row[0]
			switch {
			case b.Width > 1:
				x = float64(floats.MaxIdx(append([]float64{0}, row...)))
			case b.Levels != nil:
				x = float64(sort.SearchFloat64s(t.Cuts[b.First], x))
			}
			o.Values[i*d+j] = x
		}
	}
	return o
}

// Edges returns the number of true edges.
func (t *Truth) Edges() (edges int) {
	for _, w := range t.Weights {
		if w != 0 {
			edges++
		}
	}
	return edges
}

// Gaps is the distribution of missing cells.
type Gaps struct {
	// Table whose rows' missingness patterns are drawn with replacement; nil: MCAR with probability
	// Share.
	Like  *data.Table
	Share float64
}

// Problem is a simulation study.
type Problem struct {
	Truth *Truth
	Gaps  Gaps
	Spec  trainers.Spec
}

// Config configures Run. Zero values select the defaults.
type Config struct {
	Rows        []int   `json:"rows"`        // sample sizes, increasing; default six sizes, doubling, from 50 or two rows per column
	Tables      int     `json:"tables"`      // per sample size; 100
	Sensitivity float64 `json:"sensitivity"` // target; 0.8
	Level       float64 `json:"level"`       // of intervals; 0.95
	Seed        uint64  `json:"seed"`
}

const (
	DefaultTables      = 100
	DefaultSensitivity = 0.8
)

// Resolve fills zero values for d columns and validates the others.
func (c Config) Resolve(d int) (Config, error) {
	if c.Rows == nil {
		for n := max(50, 2*d); len(c.Rows) < 6; n *= 2 {
			c.Rows = append(c.Rows, n)
		}
	}
	setting.Default(&c.Tables, DefaultTables)
	setting.Default(&c.Sensitivity, DefaultSensitivity)
	setting.Default(&c.Level, inference.DefaultLevel)
	if len(c.Rows) < 2 || !slices.IsSorted(c.Rows) || len(slices.Compact(slices.Clone(c.Rows))) < len(c.Rows) || c.Rows[0] < 4 {
		return c, setting.Errorf("rows", c.Rows, "give two or more numbers of rows, increasing, each 4 or more")
	}
	if c.Tables < 2 {
		return c, setting.Errorf("tables", c.Tables, "it must be 2 or more")
	}
	if !(c.Sensitivity > 0 && c.Sensitivity < 1) {
		return c, setting.Errorf("sensitivity", c.Sensitivity, "the share of true edges to be found must be between 0 and 1")
	}
	if !(c.Level > 0 && c.Level < 1) {
		return c, setting.Errorf("level", c.Level, "the level of intervals must be between 0 and 1")
	}
	return c, nil
}

// Identity names a run by all settings except the target sensitivity and the level.
func (p Problem) Identity(c Config) (string, error) {
	c, err := c.Resolve(len(p.Truth.Names))
	if err != nil {
		return "", err
	}
	c.Sensitivity, c.Level = 0, 0
	g := p.Truth.Gaussian
	settings := []any{c, p.Spec, p.Truth.Names, g.Mean, g.Precision.RawSymmetric().Data, p.Truth.Domain, p.Truth.Weights, p.Truth.Blocks, p.Truth.Cuts, p.Gaps.Share}
	var tables []*data.Table
	if p.Gaps.Like != nil {
		tables = append(tables, p.Gaps.Like)
	}
	return replicate.Identity(settings, tables...)
}

// Run simulates and estimates the unfinished tables and summarises; done holds earlier tables of
// the same run. Sample sizes alternate, so that the remaining time can be estimated.
func Run(ctx context.Context, p Problem, c Config, run replicate.Config, done *replicate.Done[Found]) (*Result, error) {
	c, err := c.Resolve(len(p.Truth.Names))
	if err != nil {
		return nil, err
	}
	sizes := len(c.Rows)
	made, err := replicate.Run(ctx, sizes*c.Tables, run, done, func(ctx context.Context, k int) (Found, error) {
		return p.try(ctx, c.Rows[k%sizes], uint64(k/sizes), c.Seed)
	})
	if err != nil {
		return nil, err
	}
	bySize := make([][]Found, sizes)
	for k, found := range made {
		bySize[k%sizes] = append(bySize[k%sizes], found)
	}
	return summarise(bySize, c)
}

// Draws depend on seed, n and k only.
func (p Problem) try(ctx context.Context, n int, k, seed uint64) (Found, error) {
	t, err := p.Draw(n, k, seed)
	var estimated replicate.Network
	if err == nil {
		estimated, err = replicate.Estimate(ctx, t, p.Spec)
	}
	if ctx.Err() != nil {
		return Found{}, ctx.Err()
	}
	if err != nil {
		return Found{Failure: err.Error()}, nil
	}
	found := measure(p.Truth.Weights, estimated.Weights)
	found.Converged = estimated.Converged
	return found, nil
}

// Draw simulates table k of n rows, with missing cells.
func (p Problem) Draw(n int, k, seed uint64) (*data.Table, error) {
	complete, err := p.Truth.Gaussian.SampleInside(p.Truth.Domain, n, stream.New(seed, stream.Simulate, uint64(n), k))
	if err != nil {
		return nil, err
	}
	complete.Names = p.Truth.Names
	if p.Truth.Blocks != nil {
		complete = p.Truth.observed(complete)
	}
	rng := stream.New(seed, stream.Hide, uint64(n), k)
	like := p.Gaps.Like
	if like == nil {
		if complete, err = data.HideMCAR(complete, p.Gaps.Share, rng); err != nil {
			err = fmt.Errorf("a table of %d rows: %w", n, err)
		}
		return complete, err
	}
	var observed []bool
	for range n {
		i := rng.IntN(like.N)
		observed = append(observed, like.Observed[i*like.D:(i+1)*like.D]...)
	}
	t, err := data.NewTable(p.Truth.Names, complete.Values, observed)
	if err == nil {
		t.Kinds, t.Levels = complete.Kinds, complete.Levels
	}
	return t, err
}

// Found compares an estimated network with the true one.
type Found struct {
	Measures  [measures]float64 // in the order of Names; NaN if undefined
	Edges     int
	Converged bool
	Failure   string // reason if there is no network; else empty
}

const (
	Sensitivity = iota
	specificity
	precision
	FDR
	f1
	correlation
	measures
)

// Names are the measures' names.
var Names = [measures]string{"sensitivity", "specificity", "precision", "fdr", "f1", "correlation"}

// measure compares the weights of an estimated network with the true ones. With TP edges found, FN
// edges missed, TN absent edges left out and FP absent edges included,
//
//	sensitivity = TP/(TP + FN)    specificity = TN/(TN + FP)
//	precision   = TP/(TP + FP)    FDR = FP/max(1, TP + FP)
//	F1          = 2 TP/(2 TP + FP + FN)
//
// and Pearson's correlation of all weights, 0 if the estimate has no edges. NaN if undefined.
func measure(truth, found []float64) (out Found) {
	var tp, fp, fn, tn float64
	for i, w := range truth {
		switch edge, seen := w != 0, found[i] != 0; {
		case edge && seen:
			tp++
		case edge:
			fn++
		case seen:
			fp++
		default:
			tn++
		}
	}
	out.Edges = int(tp + fp)
	m := &out.Measures
	m[Sensitivity], m[specificity], m[precision] = tp/(tp+fn), tn/(tn+fp), tp/(tp+fp)
	m[FDR], m[f1] = fp/max(1, tp+fp), 2*tp/(2*tp+fp+fn)
	if m[correlation] = stat.Correlation(truth, found, nil); math.IsNaN(m[correlation]) {
		m[correlation] = 0
	}
	return out
}
