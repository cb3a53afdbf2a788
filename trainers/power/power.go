// Package power tells how many rows a network needs: it draws tables of increasing size
// from a known network, makes gaps in them, estimates the network of each, and compares it
// with the true one, as netSimulator of R's bootnet does for complete tables (Epskamp and
// Fried 2018, Psychological Methods 23). docs/theory/power.md has the formulas.
package power

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/graph"
	"missingscore/internal/setting"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/gaussian/sparse"
	"missingscore/trainers/inference"
	"missingscore/trainers/replicate"
)

// Truth is the distribution that tables are drawn from, and its network.
type Truth struct {
	Names    []string
	Gaussian simulate.Gaussian
	Domain   *domain.Domain // nil for all of R^d
	Weights  []float64      // partial correlations of pairs j < k in column order, with a nominal column strengths; 0 where there is no edge

	// Blocks are, of latent numbers, the columns of Gaussian that each of Names stands for, and its
	// levels: K − 1 utilities of a nominal column, or one number that is cut at thresholds. nil: the
	// Gaussian is of Names.
	Blocks []data.Block
	Cuts   [][]float64 // by column of Gaussian: thresholds, nil of others
}

// NewTruth takes as edges the pairs whose partial correlation is larger in size than a
// threshold. It fails without any.
func NewTruth(names []string, g simulate.Gaussian, s *domain.Domain, threshold float64) (*Truth, error) {
	whole := network.Threshold(g.Precision, -1)
	n, err := network.New(names, g.Precision, whole)
	if err != nil {
		return nil, err
	}
	weights, err := replicate.Weights(n)
	if err != nil {
		return nil, err
	}
	t := &Truth{Names: names, Gaussian: g, Domain: s, Weights: weights}
	return t, t.take(threshold)
}

// NewLatentTruth is NewTruth of columns with levels: see Truth.Blocks and Truth.Cuts.
func NewLatentTruth(g simulate.Gaussian, blocks []data.Block, cuts [][]float64, threshold float64) (*Truth, error) {
	t := &Truth{Gaussian: g, Blocks: blocks, Cuts: cuts}
	d := g.Precision.SymmetricDim()
	packed := make([]float64, d*(d+1)/2)
	for j := range d {
		for k := j; k < d; k++ {
			packed[graph.PackedIndex(d, j, k)] = g.Precision.At(j, k)
		}
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

// take drops the weights that are no edges. It fails without any edge.
func (t *Truth) take(threshold float64) error {
	for i, w := range t.Weights {
		if !(w > threshold || w < -threshold) {
			t.Weights[i] = 0
		}
	}
	if t.Edges() == 0 {
		return errors.New("the true network has no edge to find")
	}
	return nil
}

// observed is a table of Names, of rows of latent numbers: the level whose utility is the largest, that
// of the first being 0, or the number of thresholds below. Of columns without levels it is the number.
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
				x = 0
				for k, most := 0, 0.; k < b.Width; k++ {
					if row[k] > most {
						x, most = float64(k+1), row[k]
					}
				}
			case b.Levels != nil:
				at, _ := slices.BinarySearch(t.Cuts[b.First], x)
				x = float64(at)
			}
			o.Values[i*d+j] = x
		}
	}
	return o
}

// Edges is how many the true network has.
func (t *Truth) Edges() (edges int) {
	for _, w := range t.Weights {
		if w != 0 {
			edges++
		}
	}
	return edges
}

// Gaps say which cells of a drawn row are missing.
type Gaps struct {
	// Like is a table whose rows' gaps are drawn, with replacement; nil: cells are missing
	// completely at random, each with probability Share.
	Like  *data.Table
	Share float64
}

// Problem is what is drawn, and how it is estimated.
type Problem struct {
	Truth *Truth
	Gaps  Gaps
	Spec  trainers.Spec
}

// Config says what is tried. Zero values are the defaults named here.
type Config struct {
	Rows        []int   `json:"rows"`        // of tables, increasing; six sizes, each twice the one before, from 50 or two rows a column on
	Tables      int     `json:"tables"`      // of each size; 100
	Sensitivity float64 `json:"sensitivity"` // that is wanted; 0.8
	Level       float64 `json:"level"`       // of intervals; 0.95
	Seed        uint64  `json:"seed"`
}

const (
	DefaultTables      = 100
	DefaultSensitivity = 0.8
)

// Resolve fills zero values for d columns and checks the rest.
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

// Identity names a run: all but the wanted sensitivity and the level, which are of what is
// made of it.
func (p Problem) Identity(c Config) (string, error) {
	c, err := c.Resolve(len(p.Truth.Names))
	if err != nil {
		return "", err
	}
	c.Sensitivity, c.Level = 0, 0
	g := p.Truth.Gaussian
	settings := []any{c, p.Spec, p.Truth.Names, g.Mean, g.Precision.RawSymmetric().Data, p.Truth.Domain, p.Truth.Weights, p.Truth.Blocks, p.Truth.Cuts, p.Gaps.Share}
	if p.Gaps.Like == nil {
		return replicate.Identity(settings)
	}
	return replicate.Identity(settings, p.Gaps.Like)
}

// Run draws and estimates what is left of the tables, and sums up; done holds those that
// were made before, of the run that Identity names. Sizes take turns, so that the time
// left can be told.
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

// try draws table number k of n rows and estimates its network. Its draws depend on seed, n
// and k only.
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

// Draw draws table number k of n rows, with gaps.
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
		hidden, err := data.HideMCAR(complete, p.Gaps.Share, rng)
		if err != nil {
			return nil, fmt.Errorf("a table of %d rows: %w", n, err)
		}
		return hidden, nil
	}
	observed := make([]bool, 0, n*like.D)
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

// Found is how near an estimated network is to the true one.
type Found struct {
	Measures  [measures]float64 // in the order of Names; NaN for what is not defined
	Edges     int
	Converged bool
	Failure   string // why there is no network; empty
}

// The measures of a network.
const (
	Sensitivity = iota
	Specificity
	Precision
	FDR
	F1
	Correlation
	measures
)

// Names are those of the measures.
var Names = [measures]string{"sensitivity", "specificity", "precision", "fdr", "f1", "correlation"}

// measure compares the weights of an estimated network with the true ones: of true edges
// found (TP) and missed (FN), and pairs without an edge left out (TN) and taken for one (FP),
//
//	sensitivity = TP/(TP + FN)    specificity = TN/(TN + FP)
//	precision   = TP/(TP + FP)    FDR = FP/max(1, TP + FP)
//	F1          = 2 TP/(2 TP + FP + FN)
//
// and Pearson's correlation of all weights, 0 where an estimate has no edge. Precision is
// NaN without an edge found, specificity where the truth has all edges.
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
	m[Sensitivity], m[Specificity], m[Precision] = tp/(tp+fn), tn/(tn+fp), tp/(tp+fp)
	m[FDR], m[F1] = fp/max(1, tp+fp), 2*tp/(2*tp+fp+fn)
	if m[Correlation] = stat.Correlation(truth, found, nil); math.IsNaN(m[Correlation]) {
		m[Correlation] = 0
	}
	return out
}
