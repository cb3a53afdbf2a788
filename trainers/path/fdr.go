package path

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"missingscore/data/network"
	"missingscore/internal/setting"
)

// fdr chooses edges, not a λ: the pairs whose q value is at most a rate, so that about that
// share of the edges, or less, is false (docs/theory/inference.md#eq-fdr). Pairs are tested
// by estimates without a penalty; with few rows, by one step from the network that EBIC chooses,
// which has to come near the truth only.
type fdr struct{ plain }

// DefaultRate is the false discovery rate of "fdr".
const DefaultRate = 0.1

const rateMust = "it is fdr=RATE: the share of falsely chosen edges that may be expected, above 0 and below 1"

// Tests are what is known of every pair when edges are chosen by their q values.
type Tests struct {
	Done     bool
	Pairs    []network.Uncertainty // pairs j < k in column order
	Rests    string                // what the numbers rest on
	Warnings []string
}

func (fdr) name() string { return "fdr" }

func (fdr) form() string {
	return "fdr[=RATE] (pairs with q ≤ RATE by --inference model or robust: about that share of the edges is false)"
}

func (fdr) parse(value string) (s Selection, err error) {
	s.Kind = "fdr"
	if value == "" {
		return s, nil
	}
	if s.Rate, err = strconv.ParseFloat(value, 64); err != nil || s.Rate == 0 {
		return s, errors.New(rateMust)
	}
	return s, nil
}

func (fdr) resolve(s Selection, rows int) (Selection, error) {
	setting.Default(&s.Rate, DefaultRate)
	if !(s.Rate > 0 && s.Rate < 1) {
		return s, setting.Errorf("select", fmt.Sprintf("fdr=%g", s.Rate), rateMust)
	}
	return ebic{}.resolve(s, rows)
}

// usesGamma is so of the EBIC whose network the tests start from.
func (fdr) usesGamma() bool { return true }

func (fdr) byTests() bool { return true }

func (fdr) searches() bool { return true }

func (fdr) refit(c Config, _ bool) (bool, error) { return ofNoPoint("fdr", c) }

func (fdr) describe(s Selection, _, _ bool) string {
	return fmt.Sprintf("false discovery rate: pairs with a q value of at most %g, with few rows tested by one step from the network of extended BIC with γ = %g", s.Rate, *s.Gamma)
}

func (fdr) choose(ctx context.Context, r *Run) (choice, error) {
	start, err := ebic{}.choose(ctx, r)
	if err != nil {
		return choice{}, err
	}
	tests, rate := &r.State.Tests, r.Config.Select.Rate
	if !tests.Done {
		if r.Test == nil {
			return choice{}, setting.Errorf("select", "fdr", "nothing is there to test pairs by")
		}
		r.choice = start
		r.setPoint(start.point)
		if *tests, err = r.Test(ctx); err != nil {
			return choice{}, err
		}
		tests.Done = true
		if err := r.save(); err != nil {
			return choice{}, err
		}
	}
	c, chosen := choice{edges: make([]bool, r.pairs())}, 0
	for i, u := range tests.Pairs {
		at := r.covariates.pairAt(i)
		if c.edges[at] = !math.IsNaN(u.Q) && u.Q <= rate; c.edges[at] {
			chosen++
		}
	}
	c.point = r.nearest(c.edges)
	c.words = fmt.Sprintf("%d of %d pairs have a q value of at most %g: about %.3g of these edges, or fewer, are expected to be false", chosen, len(tests.Pairs), rate, rate*float64(chosen))
	return c, nil
}
