// Package selfcheck tries on this machine what the tests try on others: gradients against
// differences, certified optima, what must not change an estimate, and ranks of draws. It
// takes about a minute.
package selfcheck

import (
	"context"
	"fmt"
	"math"
	"strings"

	"missingscore/data"
	"missingscore/data/simulate"
	"missingscore/graph/model"
	"missingscore/internal/stream"
	"missingscore/trainers/calibration"
	"missingscore/trainers/certified"
	"missingscore/trainers/evaluate"
	"missingscore/trainers/invariance"
)

// Part is what one part found.
type Part struct {
	Name   string   `json:"part"`
	Tried  int      `json:"tried"` // comparisons
	Failed []string `json:"failed"`
	Found  string   `json:"found"` // in words

	Optima []Optimum `json:"optima,omitempty"` // of certified values
}

// Optimum is what was found of a certified case: digits (log relative error), 15 at most.
type Optimum struct {
	Case     string  `json:"case"` // table, model and method
	Digits   float64 `json:"digits"`
	Promised int     `json:"promised"` // by docs/reference/digits.md
}

// OK says that nothing failed.
func (p Part) OK() bool { return len(p.Failed) == 0 }

func (p *Part) fail(format string, args ...any) {
	p.Failed = append(p.Failed, fmt.Sprintf(format, args...))
}

// Run tries all parts in turn; done is called after each. Draws go by the seed: another one
// makes the ranks, which have a chance of 1 in 1000 to fail where nothing is wrong, again.
func Run(ctx context.Context, seed uint64, done func(Part)) error {
	for _, part := range []func(context.Context, uint64) (Part, error){gradients, optima, invariances, ranks} {
		p, err := part(ctx, seed)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		done(p)
	}
	return nil
}

// gradients compares those of the models with differences.
func gradients(_ context.Context, seed uint64) (p Part, err error) {
	p.Name = "gradients"
	rng := stream.New(seed, stream.Simulate)
	g, err := simulate.Normal(3, rng)
	if err != nil {
		return p, err
	}
	t, err := g.Sample(20, rng)
	if err != nil {
		return p, err
	}
	if t, err = data.HideMCAR(t, 0.3, rng); err != nil {
		return p, err
	}
	worst := 0.0
	for _, kind := range []string{"gaussian", "gaussian-natural", "quartic", "mixture", "energy"} {
		m, err := model.New(kind, t.D, nil, rng)
		if err != nil {
			return p, err
		}
		checks, err := evaluate.Gradients(t, m, nil, 10, seed)
		if err != nil {
			return p, err
		}
		for _, c := range checks {
			p.Tried += c.Compared
			worst = math.Max(worst, c.Error/c.Tolerance)
			if !c.OK {
				p.fail("%s, %s: off by %.2g at %s", kind, c.Name, c.Error, c.Where)
			}
		}
	}
	p.Found = fmt.Sprintf("derivatives agree with differences; the worst by %.2g of its tolerance", worst)
	return p, nil
}

// optima fits the certified tables.
func optima(ctx context.Context, _ uint64) (p Part, err error) {
	p.Name = "certified values"
	cases, err := certified.Cases()
	if err != nil {
		return p, err
	}
	least := 15.0
	for _, c := range cases {
		digits, _, err := c.Find(ctx, 0)
		if err != nil {
			return p, err
		}
		p.Tried++
		p.Optima = append(p.Optima, Optimum{c.Name(), math.Round(10*digits) / 10, c.Promised.Usual})
		least = math.Min(least, digits)
		if digits < c.Least() {
			p.fail("%s: %.1f digits, and %d are promised", c.Name(), digits, c.Promised.Usual)
		}
	}
	p.Found = fmt.Sprintf("optima have the digits that docs/reference/digits.md promises; the fewest are %.1f", least)
	return p, nil
}

// some is how many cases there are of invariances to one that is tried.
const some = 6

// invariances tries a part of the cases.
func invariances(ctx context.Context, seed uint64) (p Part, err error) {
	p.Name = "invariances"
	cases, err := invariance.Cases()
	if err != nil {
		return p, err
	}
	tried := 0
	for i := int(seed % some); i < len(cases); i += some {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		r := invariance.Examine(ctx, cases[i])
		tried++
		p.Tried += len(r.Held) + len(r.Failed)
		for _, err := range r.Failed {
			p.fail("%v", err)
		}
	}
	p.Found = fmt.Sprintf("%d of %d combinations of model, objective and method give the same estimate however the table is written down", tried, len(cases))
	return p, nil
}

// ranks tries draws.
func ranks(ctx context.Context, seed uint64) (p Part, err error) {
	p.Name = "calibration"
	const rows, level = 500, 1e-3
	least := 1.0
	for _, c := range calibration.Cases {
		ranks, err := c.Ranks(ctx, rows, seed)
		if err != nil {
			return p, err
		}
		p.Tried++
		chance := calibration.Uniform(calibration.Counts(ranks))
		least = math.Min(least, chance)
		if chance < level/float64(len(calibration.Cases)) {
			p.fail("%s: ranks of true values among draws are not uniform, p = %.2g", c.Name(), chance)
		}
	}
	p.Found = fmt.Sprintf("ranks of true values among draws are uniform; the least p of %d is %.2g", p.Tried, least)
	return p, nil
}

// Line is a part in one line.
func (p Part) Line() string {
	verdict := "ok"
	if !p.OK() {
		verdict = "FAILED"
	}
	line := fmt.Sprintf("%-17s %-7s %6d  %s", p.Name, verdict, p.Tried, p.Found)
	if !p.OK() {
		line = fmt.Sprintf("%-17s %-7s %6d  %s", p.Name, verdict, p.Tried, strings.Join(p.Failed, "\n"+strings.Repeat(" ", 34)))
	}
	return line
}
