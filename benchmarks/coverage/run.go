package coverage

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"missingscore/benchmarks/graphs"
	"missingscore/data"
	"missingscore/data/domain"
	"missingscore/data/mcar"
	"missingscore/data/network"
	"missingscore/data/simulate"
	"missingscore/internal/stream"
	"missingscore/trainers"
	"missingscore/trainers/engine"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// freedom is the degrees of freedom of Student's rows.
const freedom = 5

// simulate draws a network, its support (nil: all of R^d) and a table.
func (c setting) simulate(seed uint64) (truth simulate.Gaussian, support *domain.Domain, t *data.Table, err error) {
	rng := stream.New(seed, stream.Simulate)
	if truth, err = graphs.Random(c.columns, rng); err != nil {
		return truth, nil, nil, err
	}
	if c.design.Rows == "truncated" {
		if support, err = truth.TruncateBelow((c.columns+2)/3, 0.2); err != nil {
			return truth, nil, nil, err
		}
	}
	if t, err = truth.SampleInside(support, c.rows, rng); err != nil {
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

// heavy divides each row by √(χ²/freedom), which gives Student's rows with the same partial correlations.
func heavy(t *data.Table, rng *rand.Rand) {
	chi := distuv.ChiSquared{K: freedom, Src: rng}
	for i := range t.N {
		by := math.Sqrt(freedom / chi.Rand())
		for j := range t.D {
			t.Values[i*t.D+j] *= by
		}
	}
}

// run returns the values of a table for each kind of inference.
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
	gaps := mcar.Test(n.Table)
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

// side holds sums over the edges, or over the other pairs.
type side struct{ pairs, covered, squares, variances, bias float64 }

func (s side) share(x float64) string { return number(x / s.pairs) }
func (s side) root(x float64) string  { return number(math.Sqrt(x / s.pairs)) }

// judge compares pairs with the truth. A pair without an interval counts as not covered and has no error.
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
