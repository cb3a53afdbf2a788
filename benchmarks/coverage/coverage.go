// Package coverage measures the coverage of intervals of partial correlations, p values of pairs
// without an edge, and false discoveries.
package coverage

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/gaps"
	"missingscore/benchmarks/graphs"
	"missingscore/benchmarks/harness"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/internal/data/mcar"
	"missingscore/internal/data/network"
	"missingscore/internal/data/simulate"
	"missingscore/internal/stream"
	"missingscore/internal/trainers/engine"
	"missingscore/internal/trainers/inference"
	"missingscore/internal/trainers/regpath"
	"missingscore/trainers"
)

//go:embed config.json
var config []byte

var Experiment = harness.Experiment{
	Name: "coverage", Title: "Coverage of intervals", Source: "benchmarks/README.md",
	Settings: config, Grid: harness.Of(grid),
}

type settings struct {
	Replicates int        `json:"replicates"`
	Laws       []gaps.Law `json:"laws"`
	Designs    []design   `json:"designs"`
	Discovery  float64    `json:"discovery"` // false discovery rate
	Ours       []string   `json:"ours"`
}

type design struct {
	Name    string   `json:"name"`
	Rows    string   `json:"rows"` // normal, t5 (Student, 5 degrees of freedom) or truncated (a third of the columns below their 20 % quantiles)
	Columns []int    `json:"columns"`
	Numbers []int    `json:"numbers"` // numbers of rows
	Laws    []string `json:"laws"`
	Method  string   `json:"method"`
	Kinds   []string `json:"kinds"` // kinds of inference
}

type setting struct {
	design
	columns, rows int
	law           gaps.Law
}

// grid's value columns:
//
//	edges                         true edges
//	edges_covered, others_covered share of edges, and of other pairs, that the interval covers
//	edge_error, other_error       root mean square of estimate − truth
//	edge_se, other_se             root mean square of the standard errors
//	edge_bias                     mean over edges of sign(ρ)(ρ̂ − ρ)
//	null_p                        p value of the first pair without an edge
//	found, false                  pairs with a small q, and the share of them without an edge
//	warned                        1 if the inference gave a warning
//	seconds, path_seconds         of the inference, and of the path before
func grid(s settings, replicates int) (harness.Grid, error) {
	g := harness.Grid{
		Key: []string{"design", "law", "columns", "rows", "replicate", "method"},
		Value: []string{"edges", "edges_covered", "others_covered", "edge_error", "other_error", "edge_se", "other_se", "edge_bias",
			"null_p", "found", "false", "warned", "seconds", "path_seconds"},
	}
	recent := harness.NewRecentCache[string, map[string][]string](8)
	add := func(c setting, replicate int) {
		for _, kind := range c.Kinds {
			g.Add(func(ctx context.Context) ([]string, error) {
				table := fmt.Sprint(c.Name, c.law.Name, c.columns, c.rows, replicate)
				all, err := recent.Get(table, func() (map[string][]string, error) {
					return c.run(ctx, s.Discovery, uint64(replicate))
				})
				return all[kind], err
			}, c.Name, c.law.Name, c.columns, c.rows, replicate, kind)
		}
	}
	for replicate := 1; replicate <= replicates; replicate++ {
		for _, d := range s.Designs {
			for _, law := range s.Laws {
				for _, columns := range d.Columns {
					for _, rows := range d.Numbers {
						if slices.Contains(d.Laws, law.Name) {
							add(setting{d, columns, rows, law}, replicate)
						}
					}
				}
			}
		}
	}
	return g, nil
}

// NaN is "-".
func number(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// freedom is the degrees of freedom of Student's rows.
const freedom = 5

// A nil support is R^d.
func (c setting) simulate(seed uint64) (truth simulate.Gaussian, support *domain.Domain, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = graphs.Random(c.columns, rng); err != nil {
		return truth, nil, nil, err
	}
	below := 0
	if c.design.Rows == "truncated" {
		below = (c.columns + 2) / 3
	}
	if support, t, err = graphs.Sample(truth, c.rows, below, 0.2, rng); err != nil {
		return truth, nil, nil, err
	}
	if c.design.Rows == "t5" {
		heavy(t, rng)
	}
	if c.law.Missing > 0 {
		t, err = c.law.Hide(t, seed)
	}
	return truth, support, t, err
}

// heavy divides each row by √(χ²/freedom): Student's rows with the same partial correlations.
func heavy(t *data.Table, rng *rand.Rand) {
	chi := distuv.ChiSquared{K: freedom, Src: rng}
	for i := range t.N {
		by := math.Sqrt(freedom / chi.Rand())
		for j := range t.D {
			t.Values[i*t.D+j] *= by
		}
	}
}

func (c setting) run(ctx context.Context, discovery float64, seed uint64) (map[string][]string, error) {
	truth, support, t, err := c.simulate(seed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := trainers.Prepare(t, trainers.Spec{Domain: support, Steps: engine.Config{Method: c.Method, Seed: seed, Workers: 1}, Network: &regpath.Config{Penalty: regpath.Penalty{Kind: "l1"}}})
	if err != nil {
		return nil, err
	}
	n, err := p.Path()
	if err != nil {
		return nil, err
	}
	if _, err := n.Estimate(ctx, func() error { return nil }); err != nil {
		return nil, err
	}
	pathSeconds := time.Since(start).Seconds()
	start = time.Now()
	gaps := mcar.TestBy(1, n.Table)
	testSeconds := time.Since(start).Seconds() // part of each kind's time
	out := map[string][]string{}
	for _, kind := range c.Kinds {
		start := time.Now()
		found, err := inference.Infer(ctx, inference.Problem{Config: inference.Config{Kind: kind, Level: inference.DefaultLevel}, Path: n, GapTests: func() []mcar.Column { return gaps }})
		if err != nil {
			return nil, err
		}
		warned := "0"
		if len(found.Warnings) > 0 {
			warned = "1"
		}
		out[kind] = append(judge(truth, found.Pairs, discovery), warned, fmt.Sprintf("%.3f", testSeconds+time.Since(start).Seconds()), fmt.Sprintf("%.2f", pathSeconds))
	}
	return out, nil
}

type side struct{ pairs, covered, squares, variances, bias float64 }

func (s side) share(x float64) string { return number(x / s.pairs) }
func (s side) root(x float64) string  { return number(math.Sqrt(x / s.pairs)) }

// A pair without an interval counts as not covered.
func judge(truth simulate.Gaussian, pairs []network.Uncertainty, discovery float64) []string {
	d := len(truth.Mean)
	var sides [2]side // others, edges
	found, wrong, null := 0, 0, math.NaN()
	i := 0
	for j := range d {
		for k := j + 1; k < d; k++ {
			u, v, at := pairs[i], truth.Precision.At(j, k), 0
			i++
			rho := network.PartialCorrelation(truth.Precision, j, k)
			if v != 0 {
				at = 1
			} else if math.IsNaN(null) {
				null = u.P
			}
			s := &sides[at]
			s.pairs++
			if u.Low <= rho && rho <= u.High {
				s.covered++
			}
			if by := u.Estimate - rho; !math.IsNaN(by + u.SE) {
				s.squares += by * by
				s.variances += u.SE * u.SE
				s.bias += math.Copysign(1, rho) * by
			}
			if u.Q <= discovery {
				found++
				wrong += 1 - at
			}
		}
	}
	edges, others := sides[1], sides[0]
	return []string{
		number(edges.pairs), edges.share(edges.covered), others.share(others.covered), edges.root(edges.squares), others.root(others.squares),
		edges.root(edges.variances), others.root(others.variances), edges.share(edges.bias), number(null),
		strconv.Itoa(found), number(float64(wrong) / float64(max(1, found))),
	}
}
