package trainers

import (
	"context"
	"fmt"
	"slices"

	"missingscore/data/diagnose"
	"missingscore/data/mcar"
	"missingscore/internal/setting"
	"missingscore/trainers/inference"
	"missingscore/trainers/regpath"
)

// again makes the estimate of a network n again, from the transforms of columns on, on other
// rows of the table, with the penalty and its pilot's shrinkage that n came to. A column without
// values or variation, two columns that no row shows together though rows of the whole table do, a fit
// that diverges or does not converge are failures of that estimate.
func (p *Prepared) again(n *regpath.Run) inference.Again {
	penalty, apart := n.Penalty(), p.Table.NeverTogether()
	return func(ctx context.Context, rows []int, seed uint64) (inference.Fit, error) {
		n, failed, err := p.fitRows(ctx, rows, seed, penalty, apart)
		if ctx.Err() != nil {
			return inference.Fit{}, ctx.Err()
		}
		switch {
		case err != nil:
			return inference.Fit{Done: true, Failed: err.Error()}, nil
		case failed != "":
			return inference.Fit{Done: true, Failed: failed}, nil
		}
		return inference.FitOf(n), nil
	}
}

// fitRows makes one such estimate, and says what keeps it from being one.
func (p *Prepared) fitRows(ctx context.Context, rows []int, seed uint64, penalty regpath.Penalty, apart [][2]int) (n *regpath.Run, failed string, err error) {
	t, err := p.original.Rows(rows)
	if err != nil {
		return nil, "", err
	}
	s, c := p.Spec, *p.Spec.Network
	c.Penalty = penalty
	s.Network, s.Inference, s.Objective = &c, inference.Config{}, ObjectiveSpec{}
	if p.byTests() {
		s.Inference.Kind = p.testKind()
	}
	s.Steps.Seed, s.Steps.Workers, s.Steps.Observe = seed, 1, nil
	if p.Estimator.Deterministic() { // on one worker the rows are best kept together
		setting.Default(&s.Steps.Batch, regpath.AgainBatch)
	}
	if s.Missingness != nil && s.Missingness.Estimated {
		s.Missingness = mcar.Law(t)
	}
	q, err := Prepare(t, s)
	if err != nil {
		return nil, "", err
	}
	for _, pair := range q.Table.NeverTogether() {
		if !slices.Contains(apart, pair) {
			return nil, diagnose.PairsText(q.Table, [][2]int{pair}) + " are never observed in the same row", nil
		}
	}
	problem, err := q.Problem()
	if err != nil {
		return nil, "", err
	}
	if n, err = regpath.New(problem, q.Spec.Steps, c, &regpath.State{}); err != nil {
		return nil, "", err
	}
	n.Test = q.tests(n)
	n.Again()
	if _, err = n.Estimate(ctx, func() error { return nil }); err != nil {
		return nil, "", err
	}
	f := n.State.Refine
	switch {
	case n.State.Points[f.Index].Unfinished:
		return n, fmt.Sprintf("at the chosen λ = %.3g the minimum was out of reach", n.State.Points[f.Index].Lambda), nil
	case !f.Converged && !n.Config.PathOnly:
		return n, n.Verdict(), nil
	}
	return n, "", nil
}
